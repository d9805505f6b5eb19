//! `volary convert`, `check`, `search` and `stats`, on the files of other tools and on our examples.

#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Made by us in the formats of other tools.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");
/// Episodes of the built-in environments.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/examples");

struct Output {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Output {
    /// The JSON objects of standard output, one a line.
    fn json(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn volary(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_volary"));
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Output {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn fixture(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

/// A new folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("volary-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, inside: &str) -> String {
        self.0.join(inside).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn rows(path: &str) -> Vec<Value> {
    let stats = volary(&["stats", path, "--json"]);
    assert_ne!(stats.status, Some(2), "{path}: {}", stats.stderr);
    stats.json().remove(0)["rows"].as_array().unwrap().clone()
}

#[test]
fn every_format_that_is_read_can_be_written_without_loss() {
    for entry in Path::new(FIXTURES).read_dir().unwrap() {
        let path = entry.unwrap().path();
        // A continued ATIF file refers to the one before it, annotations to traces, and questions have no answers.
        let needs_another = [
            "atif-continued.json",
            "prime-rl-annotations.jsonl",
            "mt-bench-questions.jsonl",
        ];
        if needs_another.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let path = path.to_str().unwrap();
        let out = Folder::new("formats");
        let converted = volary(&[
            "convert",
            path,
            "--to",
            "volary",
            "--json",
            "--out",
            &out.path(""),
        ]);
        assert_ne!(converted.status, Some(2), "{path}: {}", converted.stderr);
        let report = &converted.json()[0];
        assert_eq!(report["lost"], serde_json::json!({}), "{path}");
        let facts = |row: &Value| {
            [
                "name", "model", "task", "reward", "steps", "calls", "tokens", "outcome",
            ]
            .map(|key| row[key].to_string())
        };
        let (mut before, mut after) = (
            rows(path).iter().map(facts).collect::<Vec<_>>(),
            rows(&out.path("")).iter().map(facts).collect::<Vec<_>>(),
        );
        before.sort();
        after.sort();
        assert_eq!(before, after, "{path}");
    }
}

#[test]
fn losses_are_reported_and_nothing_else_is_on_standard_output() {
    let messages = volary(&["convert", &fixture("swe-agent.traj"), "--to", "messages"]);
    assert_eq!(messages.status, Some(0), "{}", messages.stderr);
    assert!(messages.json()[0]["messages"].is_array());
    assert!(
        messages.stderr.contains("does not hold"),
        "{}",
        messages.stderr
    );
    let html = volary(&["convert", &fixture("mini-swe-agent.json"), "--to", "html"]);
    assert!(html.stdout.starts_with("<!"), "{}", html.stdout);
    assert!(html.stderr.contains("for reading"), "{}", html.stderr);
}

#[test]
fn what_chat_apis_may_refuse_is_reported() {
    let folder = Folder::new("refused");
    let call = |name: &str| {
        format!(
            r#"{{"role": "assistant", "content": "Hm.", "reasoning_content": "I think.", "tool_calls": [{{"id": "c", "type": "function", "function": {{"name": "{name}", "arguments": "{{oops"}}}}]}}"#
        )
    };
    let user = r#"{"role": "user", "content": "Look."}"#;
    let result = r#"{"role": "tool", "tool_call_id": "c", "content": "two"}"#;
    let good = format!(
        r#"{{"messages": [{user}, {}, {result}, {}, {result}]}}"#,
        call("look"),
        call("look")
    );
    let bad = format!(r#"{{"messages": [{user}, {}, {user}]}}"#, call("look.at"));
    let file = folder.write("a.jsonl", &format!("{good}\n{bad}\n"));
    let converted = volary(&["convert", &file, "--to", "messages"]);
    assert_eq!(converted.status, Some(0), "{}", converted.stderr);
    for expected in [
        "Chat APIs may refuse calls without a result (1 episodes).",
        "Chat APIs may refuse names of functions that are not 1 to 64 letters, digits, _ and - (1 episodes).",
        "The output does not hold reasoning (2 episodes).",
    ] {
        assert!(
            converted.stderr.contains(expected),
            "{expected}: {}",
            converted.stderr
        );
    }
    let refused = converted.stderr.matches("Chat APIs may refuse").count();
    assert_eq!(refused, 2, "{}", converted.stderr);
    let lines = converted.json();
    let messages = lines[0]["messages"].as_array().unwrap();
    assert_eq!(messages[1]["tool_calls"][0]["id"], "c");
    assert_eq!(messages[3]["tool_calls"][0]["id"], "c-2");
    assert_eq!(messages[4]["tool_call_id"], "c-2");
    // Arguments that were no JSON are a text in an object.
    let arguments = &messages[1]["tool_calls"][0]["function"]["arguments"];
    let arguments: Value = serde_json::from_str(arguments.as_str().unwrap()).unwrap();
    assert_eq!(arguments, serde_json::json!({"(arguments)": "{oops"}));
    let out = folder.path("out.jsonl");
    let json = volary(&[
        "convert", &file, "--to", "messages", "--json", "--out", &out,
    ]);
    let refused = &json.json()[0]["refused"];
    assert_eq!(refused["calls without a result"], 1, "{refused}");
}

#[test]
fn reviews_of_evalscope_are_read_with_their_predictions() {
    let folder = Folder::new("evalscope");
    let messages =
        r#"[{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "Two."}]"#;
    let prediction = format!(
        r#"{{"index": 0, "model": "model-a", "model_output": {{"model": "model-a", "choices": [{{"stop_reason": "stop"}}]}}, "messages": {messages}}}"#
    );
    let review = format!(
        r#"{{"index": 0, "target": "2", "messages": {messages}, "sample_score": {{"score": {{"value": {{"acc": 1.0}}}}, "sample_id": 0}}}}"#
    );
    let a = folder.write(
        "run/predictions/model-a/boxes.jsonl",
        &format!("{prediction}\n"),
    );
    let b = folder.write("run/reviews/model-a/boxes.jsonl", &format!("{review}\n"));
    let run = folder.path("run");
    for paths in [vec![run.as_str()], vec![a.as_str(), b.as_str()]] {
        let mut arguments = vec!["stats", "--json"];
        arguments.extend(&paths);
        let stats = volary(&arguments);
        let rows = stats.json().remove(0)["rows"].as_array().unwrap().clone();
        assert_eq!(rows.len(), 1, "{paths:?}: {rows:?}");
        assert_eq!(rows[0]["reward"], 1.0);
        assert_eq!(rows[0]["model"], "model-a");
    }
    assert_eq!(rows(&a)[0]["reward"], Value::Null);
}

#[test]
fn a_trial_of_terminal_bench_is_read_with_its_recording() {
    let folder = Folder::new("terminal-bench");
    let result = r#"{"trial_name": "shed.1-of-1", "task_id": "shed", "instruction": "Open the shed.", "is_resolved": true, "failure_mode": "unset"}"#;
    let cast = "{\"version\": 2, \"width\": 80, \"height\": 24}\n\
                [1.0, \"i\", \"ls\\r\"]\n[1.5, \"o\", \"box\\r\\n\"]\n";
    folder.write("run/shed/1-of-1/results.json", result);
    folder.write("run/shed/1-of-1/sessions/agent.cast", cast);
    folder.write("run/shed/1-of-1/panes/post-agent.txt", "root#\n");
    let run = folder.path("run");
    let output = volary(&["stats", "--json", &run]);
    assert!(
        !output.stderr.contains("not supported"),
        "{}",
        output.stderr
    );
    let rows = output.json().remove(0)["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["steps"], &rows[0]["reward"]),
        (&1.into(), &1.0.into())
    );
}

#[test]
fn sensitive_texts_are_listed_and_can_be_masked() {
    let folder = Folder::new("sensitive");
    let key = "sk-ant-0123456789abcdef0123";
    let write = |name: &str, content: &str| {
        let line = format!(r#"{{"messages": [{{"role": "user", "content": "{content}"}}]}}"#);
        fs::write(folder.0.join(name), line).unwrap();
        folder.0.join(name).to_string_lossy().into_owned()
    };
    let (secret, mail) = (write("a.jsonl", key), write("b.jsonl", "ada@example.org"));
    let found = volary(&["convert", &secret, "--to", "messages"]);
    assert_eq!(found.status, Some(3), "{}", found.stderr);
    let line = format!("{secret}: start[0].content: API key sk-a… (27 characters)");
    assert!(found.stderr.contains(&line), "{}", found.stderr);
    assert!(!found.stderr.contains(key) && found.stdout.contains(key));
    let masked = volary(&["convert", &secret, "--to", "messages", "--mask"]);
    assert_eq!(masked.status, Some(0), "{}", masked.stderr);
    assert!(!masked.stdout.contains(key) && masked.stdout.contains("[API key]"));
    let listed = volary(&["convert", &mail, "--to", "messages"]);
    assert_eq!(listed.status, Some(0), "{}", listed.stderr);
    assert!(
        listed.stderr.contains("1 e-mail address"),
        "{}",
        listed.stderr
    );
}

#[test]
fn publish_reports_to_programs() {
    let folder = Folder::new("publish-json");
    let key = "sk-ant-0123456789abcdef0123";
    folder.write("page/index.html", "<html><head></head></html>");
    folder.write(
        "runs/a.json",
        &format!(r#"{{"messages": [{{"role": "user", "content": "{key}"}}]}}"#),
    );
    folder.write("runs/notes.txt", "no trajectory");
    let (page, runs, out) = (
        folder.path("page"),
        folder.path("runs"),
        folder.path("site"),
    );
    let published = volary(&["publish", &runs, "--out", &out, "--page", &page, "--json"]);
    assert_eq!(published.status, Some(3), "{}", published.stderr);
    let said = &published.json()[0];
    assert_eq!(
        (&said["files"], &said["title"]),
        (&1.into(), &"runs".into())
    );
    assert_eq!(said["left_out"], serde_json::json!(["notes.txt"]));
    assert_eq!(said["sensitive"][0]["kind"], "API key");
    assert!(!published.stdout.contains(key) && published.stderr.is_empty());
}

/// `volary view --notes` keeps the tags of a folder there.
#[test]
fn tags_next_to_the_files_are_converted_too() {
    let folder = Folder::new("tags");
    let message = |text: &str| serde_json::json!([{ "role": "user", "content": text }]);
    for (name, id) in [("a", "one"), ("b", "two"), ("c", "twin"), ("d", "twin")] {
        let episode = serde_json::json!({
            "format": "volary-episode", "version": 1, "id": id, "name": name, "start": message(name),
        });
        folder.write(&format!("runs/{name}.json"), &episode.to_string());
    }
    let note = |episode: &str, tag: &str, revision: u32, deleted: bool| {
        serde_json::json!({
            "id": format!("tag {episode} {tag}"), "episode": episode, "at": null, "text": "", "label": tag,
            "author": "ann", "changed": 1, "revision": revision, "deleted": deleted,
        })
        .to_string()
            + "\n"
    };
    let notes = [
        note("one", "to do", 1, false),
        note("one", "old", 1, false),
        note("one", "old", 2, true),
        note("twin", "which", 1, false),
    ];
    folder.write("runs/.volary/notes.jsonl", &notes.concat());
    let table = volary(&["convert", &folder.path("runs"), "--to", "csv"]);
    assert_eq!(table.status, Some(0), "{}", table.stderr);
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert!(lines[0].ends_with(",tags"), "{}", lines[0]);
    let with_tags = lines.iter().filter(|line| line.ends_with(",to do"));
    assert_eq!(with_tags.count(), 1, "{}", table.stdout);
    assert!(!table.stdout.contains("old") && !table.stdout.contains("which"));
    let (runs, out) = (folder.path("runs"), folder.path("out"));
    volary(&["convert", &runs, "--to", "volary", "--out", &out]);
    let written = fs::read_to_string(folder.0.join("out/a.volary.json")).unwrap();
    assert!(
        written.contains(r#""library_tags": ["to do"]"#),
        "{written}"
    );
    // The tags of what was exported are in a table of it.
    let again = volary(&["convert", &out, "--to", "csv"]);
    assert!(again.stdout.contains(",to do"), "{}", again.stdout);
}

#[test]
fn what_cannot_be_written_or_read_is_an_error() {
    let many = volary(&["convert", &fixture("tau-bench.json"), "--to", "html"]);
    assert_eq!(many.status, Some(2));
    assert!(many.stderr.contains("--out"), "{}", many.stderr);
    let folder = Folder::new("errors");
    let text = folder.write("notes.txt", "Nothing here.");
    for arguments in [
        &["convert", &text, "--to", "volary"][..],
        &["convert", "/nowhere", "--to", "volary"],
        &["stats", &text],
        &["search", "x", &text],
        &["search", " ", EXAMPLES],
        &["check", &text],
    ] {
        let failed = volary(arguments);
        assert_eq!(failed.status, Some(2), "{arguments:?}");
        assert!(failed.stderr.contains("error: "), "{}", failed.stderr);
        assert_eq!(failed.stdout, "");
    }
    // A folder may contain other files; a file that is named should hold trajectories.
    let good = folder.path("good.json");
    fs::copy(fixture("atif.json"), &good).unwrap();
    let all = folder.path("");
    for (paths, status) in [(&[&all][..], 0), (&[&good, &text], 1)] {
        let paths = paths.iter().map(|path| path.as_str());
        let arguments: Vec<&str> = ["convert", "--to", "csv"]
            .into_iter()
            .chain(paths)
            .collect();
        let partly = volary(&arguments);
        assert_eq!(
            partly.status,
            Some(status),
            "{arguments:?}: {}",
            partly.stderr
        );
        assert!(partly.stderr.contains("notes.txt"), "{}", partly.stderr);
    }
    folder.write("cut.json", r#"{"schema_version": "ATIF-v1.2", "steps": ["#);
    let damaged = volary(&["stats", &all]);
    assert_eq!(damaged.status, Some(1), "{}", damaged.stderr);
    // An episode without frames has nothing that Renderer files could hold.
    let renderer = volary(&[
        "convert",
        &fixture("chat.jsonl"),
        "--to",
        "renderer",
        "--out",
        &folder.path("z"),
    ]);
    assert_eq!(renderer.status, Some(2), "{}", renderer.stderr);
    assert!(renderer.stderr.contains("frames"), "{}", renderer.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let convert = volary(&[
        "convert",
        &fixture("chat.jsonl"),
        "--to",
        "messages",
        "-o",
        "/dev/full",
    ]);
    assert_eq!(convert.status, Some(2), "{}", convert.stderr);
    let said = "cannot write /dev/full: No space left on device";
    assert!(convert.stderr.contains(said), "{}", convert.stderr);
}

#[test]
fn recordings_of_built_in_environments_are_checked() {
    let same = volary(&["check", EXAMPLES, "--json"]);
    assert_eq!(same.status, Some(0), "{}", same.stderr);
    let lines = same.json();
    assert!(
        lines
            .iter()
            .any(|line| line["result"] == "same" && line["steps"].as_u64() > Some(1))
    );
    assert!(lines.iter().all(|line| line["result"] != "differs"));

    let folder = Folder::new("check");
    let out = folder.path("native");
    let examples = format!("{EXAMPLES}/word-problems.jsonl");
    let converted = volary(&["convert", &examples, "--to", "volary", "--out", &out]);
    assert_eq!(converted.status, Some(0), "{}", converted.stderr);
    let file = Path::new(&out)
        .read_dir()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = fs::read_to_string(&file).unwrap();
    let episode: Value = serde_json::from_str(&text).unwrap();
    let last = episode["steps"].as_array().unwrap().len();
    // Only this number changes: the order of members counts too.
    let (before, after) = text.rsplit_once("\"reward\": ").unwrap();
    let rest =
        after.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".-".contains(letter));
    let changed = folder.write("changed.json", &format!("{before}\"reward\": 0.25{rest}"));
    let differs = volary(&["check", &changed]);
    assert_eq!(differs.status, Some(1), "{}", differs.stdout);
    let expected = format!("differs at step {last}: reward was 0.25 and is now ");
    assert!(differs.stdout.contains(&expected), "{}", differs.stdout);

    assert!(
        differs
            .stderr
            .contains("Replayed: 1 episode of built-in environments, 1 different.")
    );
}

#[test]
fn recordings_of_other_tools_are_checked_for_gaps() {
    let folder = Folder::new("check-gaps");
    let whole = r#"{"messages": [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "name": "look", "content": "Here."},
        {"role": "assistant", "content": "It is here."}]}"#;
    let good = folder.write("whole.json", whole);
    let found = volary(&["check", &good, "--json"]);
    assert_eq!(found.status, Some(0), "{}", found.stderr);
    assert_eq!(found.json()[0]["result"], "consistent");
    assert_eq!(found.json()[0]["calls"], 1);
    assert!(
        found
            .stderr
            .contains("Not replayed, checked for calls and results"),
        "{}",
        found.stderr
    );

    let gap = folder.write(
        "gap.json",
        &whole.replace("\"tool_call_id\": \"a\"", "\"tool_call_id\": \"b\""),
    );
    let found = volary(&["check", &gap]);
    assert_eq!(found.status, Some(1), "{}", found.stdout);
    for expected in [
        "step 1: the call of look has no result",
        "the result of look answers no call",
    ] {
        assert!(found.stdout.contains(expected), "{}", found.stdout);
    }
    let none = folder.write("none.txt", "Nothing.");
    assert_eq!(volary(&["check", &none]).status, Some(2));
}

#[test]
fn words_are_found_with_their_place() {
    let found = volary(&["search", "ROSES", EXAMPLES, "--json", "--most", "1"]);
    assert_eq!(found.status, Some(0), "{}", found.stderr);
    let hits = found.json();
    let is_roses = |hit: &Value| hit["hit"].as_str().unwrap().to_lowercase() == "roses";
    assert!(hits.iter().all(is_roses));
    let is_in = |hit: &Value| {
        hit["file"]
            .as_str()
            .unwrap()
            .ends_with("word-problems.jsonl")
    };
    assert!(hits.iter().any(is_in), "{}", found.stdout);
    let none = volary(&["search", "zebrafish", EXAMPLES]);
    assert_eq!((none.status, none.stdout.as_str()), (Some(1), ""));
}

#[test]
fn texts_of_files_do_not_control_the_terminal() {
    let folder = Folder::new("control");
    let line = r#"{"messages": [{"role": "user", "content": "say \u001b[2Jhello\u0007"}]}"#;
    let file = folder.write("chat.jsonl", line);
    for arguments in [
        &["search", "hello", &file][..],
        &["stats", &file],
        &["convert", &file, "--to", "csv"],
    ] {
        let output = volary(arguments);
        assert_eq!(output.status, Some(0), "{}", output.stderr);
        let is_clean = |text: &str| !text.contains(['\x1b', '\x07']);
        assert!(
            is_clean(&output.stdout) && is_clean(&output.stderr),
            "{arguments:?}"
        );
    }
}

#[test]
fn statistics_have_groups_and_pass_rates() {
    let folder = Folder::new("stats");
    let trial = |task: u32, trial: u32, reward: f64| {
        serde_json::json!({
            "task_id": task, "trial": trial, "reward": reward, "info": {},
            "traj": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Done"}],
        })
    };
    // One task of two succeeds in both trials, the other in one of two.
    let trials = [
        trial(0, 0, 1.0),
        trial(0, 1, 1.0),
        trial(1, 0, 1.0),
        trial(1, 1, 0.0),
    ];
    let file = folder.write("results.json", &serde_json::json!(trials).to_string());
    let stats = volary(&["stats", &file, "--json", "--by", "task"]);
    assert_eq!(stats.status, Some(0), "{}", stats.stderr);
    let summary = stats.json().remove(0);
    assert_eq!(summary["successes"], 3);
    assert_eq!(summary["mean_reward"]["mean"], 0.75);
    assert_eq!(summary["pass"][0]["all"], serde_json::json!([0.75, 0.5]));
    assert_eq!(summary["groups"].as_array().unwrap().len(), 2);
    let strict = volary(&["stats", &file, "--json", "--success", "2"]);
    assert_eq!(strict.json()[0]["successes"], 0);
    let table = volary(&["stats", &file]);
    assert!(
        table.stdout.contains("pass^1 0.75, pass^2 0.5"),
        "{}",
        table.stdout
    );
    let csv = volary(&["stats", &file, "--csv"]);
    assert!(
        csv.stdout.starts_with("id,name,environment,model,"),
        "{}",
        csv.stdout
    );
    assert_eq!(csv.stdout.lines().count(), 5);
}

#[test]
fn parquet_files_are_read() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../parquet/tests/fixtures");
    let trl = format!("{fixtures}/trl.parquet");
    let convert = volary(&["convert", &trl, "--to", "messages"]);
    assert_eq!(convert.status, Some(0), "{}", convert.stderr);
    let episodes = convert.json();
    let first = episodes[0]["messages"].as_array().unwrap();
    let roles: Vec<_> = first.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(episodes[1]["messages"][1]["content"], "Three.");
    let chat = volary(&["stats", &format!("{fixtures}/chat-zstd.parquet"), "--json"]);
    assert_eq!(chat.json()[0]["episodes"], 2, "{}", chat.stderr);
    let folder = Folder::new("parquet");
    let bytes = fs::read(&trl).unwrap();
    let cut = folder.path("cut.parquet");
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let cut = volary(&["stats", &cut]);
    assert_eq!(cut.status, Some(2), "{}", cut.stdout);
    let reason = "This Parquet file cannot be read";
    assert!(cut.stderr.contains(reason), "{}", cut.stderr);
    let empty = volary(&["stats", &format!("{fixtures}/empty.parquet")]);
    let reason = "This Parquet file has no rows.";
    assert!(empty.stderr.contains(reason), "{}", empty.stderr);
    assert!(!empty.stderr.contains("empty file"), "{}", empty.stderr);
}

#[test]
fn rows_of_a_data_set_hold_tokens_and_are_read_again() {
    let folder = Folder::new("rows");
    let source = fixture("slime-rollout.pt");
    let before = rows(&source);
    let figures = |rows: &[Value]| -> Vec<Value> {
        let figures = rows.iter().map(|row| {
            let members = ["name", "reward", "steps", "token_figures"];
            members.iter().map(|key| row[key].clone()).collect()
        });
        figures.collect()
    };
    assert!(
        before
            .iter()
            .any(|row| row["token_figures"]["trained_share"].is_number())
    );
    for format in ["parquet", "rows"] {
        let out = folder.path(format);
        let converted = volary(&["convert", &source, "--to", format, "--out", &out, "--json"]);
        assert_eq!(converted.status, Some(0), "{}", converted.stderr);
        let lost = converted.json()[0]["lost"].clone();
        assert!(
            lost.get("recorded tokens").is_none() && lost.get("messages").is_none(),
            "{lost}"
        );
        assert_eq!(figures(&rows(&out)), figures(&before), "{format}");
    }
    let table = volary(&["stats", &folder.path("parquet"), "--csv"]).stdout;
    let head = table.lines().next().unwrap();
    assert!(
        head.contains(",trained_share,") && head.contains(",mean rollout_log_probs"),
        "{head}"
    );
    let groups = volary(&["stats", &source, "--by", "mean/rollout_log_probs", "--json"]);
    let groups = groups.json()[0]["groups"].as_array().unwrap().len();
    assert!(groups > 1);
}

#[cfg(unix)]
#[test]
fn a_training_run_is_grouped_by_step_and_group() {
    let folder = Folder::new("training");
    let sample = |step: u64, group: u64, reward: f64| {
        serde_json::json!({
            "messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}],
            "metadata": {"step": step, "group": group},
            "reward": reward,
        })
    };
    let samples = [
        sample(10, 3, 1.0),
        sample(10, 3, 1.0),
        sample(2, 1, 0.0),
        sample(2, 1, 1.0),
    ];
    let lines = samples.map(|sample| format!("{sample}\n")).concat();
    let file = folder.write("samples.jsonl", &lines);
    let stats = volary(&["stats", &file, "--json", "--by", "step"]);
    let summary = stats.json().remove(0);
    let groups = summary["groups"].as_array().unwrap();
    let names: Vec<_> = groups.iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["2", "10"], "{}", stats.stderr);
    assert_eq!(groups[0]["standard_error"], 0.5);
    let table = volary(&["stats", &file, "--by", "metadata/group"]);
    let note = "1 of 2 groups have the same reward throughout";
    assert!(table.stdout.contains(note), "{}", table.stdout);
}

#[test]
fn links_and_hidden_files_are_not_read() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    let chat = r#"{"messages": [{"role": "user", "content": "secret"}]}"#;
    folder.write("outside/secret.jsonl", chat);
    folder.write("runs/.hidden.jsonl", chat);
    folder.write("runs/deep/open.jsonl", &chat.replace("secret", "public"));
    symlink(folder.path("outside"), folder.path("runs/link")).unwrap();
    symlink(
        folder.path("outside/secret.jsonl"),
        folder.path("runs/link.jsonl"),
    )
    .unwrap();
    assert_eq!(rows(&folder.path("runs")).len(), 1);
    let found = volary(&["search", "secret", &folder.path("runs")]);
    assert_eq!(found.status, Some(1), "{}", found.stdout);
}

#[test]
fn there_are_completions_and_a_man_page() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let completions = volary(&["completions", shell]);
        assert!(completions.stdout.contains("convert"), "{shell}");
    }
    let man = volary(&["man"]);
    assert!(man.stdout.contains(".TH volary"), "{}", man.stdout);
    let help = volary(&["--help"]);
    assert_eq!(help.status, Some(0));
    assert!(help.stdout.contains("Exit status:"), "{}", help.stdout);
    assert_eq!(volary(&["stats"]).status, Some(2));
}

#[test]
fn records_of_unknown_shapes_are_read_by_a_mapping() {
    let folder = Folder::new("fields");
    let (records, fields) = (folder.0.join("made.jsonl"), folder.0.join("fields.json"));
    let line = r#"{"q": {"text": "2 + 2?"}, "out": "4", "verdict": 0.5, "key": "sum"}"#;
    fs::write(&records, format!("{line}\n{line}\n")).unwrap();
    let (records, path) = (records.to_string_lossy(), fields.to_string_lossy());
    assert_eq!(volary(&["stats", &records, "--json"]).status, Some(2));
    let mapping = r#"{"prompt": "q.text", "answer": "out", "reward": "verdict", "task": "key"}"#;
    fs::write(&fields, mapping).unwrap();
    let found = volary(&["stats", &records, "--fields", &path, "--json"]);
    assert_eq!(found.status, Some(0), "{}", found.stderr);
    let summary = &found.json()[0];
    assert_eq!(summary["mean_reward"]["mean"], 0.5);
    assert_eq!(summary["rows"][0]["task"], "sum");
    for wrong in [r#"{"promt": "q"}"#, r#"{"reward": "verdict"}"#] {
        fs::write(&fields, wrong).unwrap();
        let found = volary(&["convert", &records, "--to", "messages", "--fields", &path]);
        assert_eq!(found.status, Some(2), "{wrong}");
    }
}

#[test]
fn lessons_are_checked_with_line_numbers() {
    let lessons = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/lessons");
    let good = format!("{lessons}/template.md");
    let output = volary(&["lesson", "check", &good]);
    assert_eq!(output.status, Some(0), "{}", output.stdout);
    assert!(output.stdout.ends_with("template.md: good\n"));

    let folder = Folder::new("lesson");
    let bad = folder.write("bad.md", "---\ntitle: A\nminutes: 5\n---\n```taks\n```\n");
    let output = volary(&["lesson", "check", &bad]);
    assert_eq!(output.status, Some(1));
    assert!(
        output.stdout.contains("bad.md:5: unknown block \"taks\""),
        "{}",
        output.stdout
    );
    let output = volary(&["lesson", "check", &good, &bad, "--json"]);
    assert_eq!(output.status, Some(1));
    let said = output.json();
    assert_eq!(said[0]["problems"], serde_json::json!([]));
    assert_eq!(
        (&said[1]["file"], &said[1]["problems"][0]["line"]),
        (&bad.into(), &5.into())
    );
    assert_eq!(volary(&["lesson", "check", "nowhere.md"]).status, Some(2));
}

#[test]
fn very_many_files_are_written_only_if_the_user_agrees() {
    let folder = Folder::new("many-files");
    let line = r#"{"messages": [{"role": "user", "content": "a"}]}"#;
    let path = folder.write("chats.jsonl", &format!("{line}\n").repeat(10_001));
    let out = folder.path("out");
    let arguments = ["convert", &path, "--to", "markdown", "--out", &out];
    let refused = volary(&arguments);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("writes 10001 files into") && refused.stderr.contains("--yes"));
    assert!(!Path::new(&out).exists(), "nothing is written");
    let agreed = volary(&[arguments.as_slice(), &["--yes"]].concat());
    assert_eq!(agreed.status, Some(0), "{}", agreed.stderr);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 10_001);
}

/// In recorded files of SWE-agent, where there are some (`TRAJECTORIES_DIR` says where): a failed edit is sent again, and
/// nothing else is wrong.
#[test]
fn diagnostics_of_swe_agent_are_those_that_a_reader_finds() {
    let Some(folder) = std::env::var_os("TRAJECTORIES_DIR").map(PathBuf::from) else {
        return println!("TRAJECTORIES_DIR is not set: no recorded files are tried.");
    };
    let sent_again = serde_json::json!({"ignored_errors": 1.0, "redundant_calls": 1.0});
    for (name, steps, expected) in [
        ("swe-agent-katy.traj", 18, Value::Null),
        ("swe-agent-pydicom.traj", 12, sent_again),
        ("wild/swea-ctf-web.traj", 21, Value::Null),
    ] {
        let path = folder.join(name);
        if !path.exists() {
            println!("{name} is not there.");
            continue;
        }
        let rows = rows(path.to_str().unwrap());
        assert_eq!((rows.len(), &rows[0]["steps"]), (1, &Value::from(steps)));
        assert_eq!(rows[0]["diagnostics"], expected, "{name}");
    }
}
