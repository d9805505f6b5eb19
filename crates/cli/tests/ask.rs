//! `volary ask` against a server on this machine that injects faults, and `volary assert`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

const KEY: &str = "sk-a-key-that-must-not-leak-0123456789";
const GOOD: &str = r#"{"label":"yes","explanation":"It says so.","evidence":[{"message":1,"quote":"I have cancelled it."}]}"#;
const FORGED: &str = r#"{"label":"yes","explanation":"?","evidence":[{"message":1,"quote":"I deleted the whole database"}]}"#;

/// What the server does with a request.
enum Reply {
    Say(&'static str),
    Status(u16, &'static str),
    /// The connection ends in the middle of the body.
    Cut,
    /// The connection ends without an answer.
    Drop,
}

/// A server that speaks Chat Completions.
struct Server {
    address: String,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `reply` gets the number of the request, from 0, and its body.
    fn start(reply: impl Fn(usize, &str) -> Reply + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = bodies.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (head, body) = request(&mut stream);
                assert!(
                    head.to_lowercase()
                        .contains(&format!("authorization: bearer {KEY}"))
                );
                let number = {
                    let mut bodies = seen.lock().unwrap();
                    bodies.push(body.clone());
                    bodies.len() - 1
                };
                answer(&mut stream, &reply(number, &body));
            }
        });
        Server { address, bodies }
    }

    fn requests(&self) -> usize {
        self.bodies.lock().unwrap().len()
    }
}

fn request(stream: &mut TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.to_lowercase();
        let length = length.split("content-length: ").nth(1).unwrap();
        let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
        if body.len() >= length || count == 0 {
            return (head.to_owned(), body.to_owned());
        }
    }
}

fn answer(stream: &mut TcpStream, reply: &Reply) {
    let (status, body) = match reply {
        Reply::Say(text) => {
            let body = json!({
                "model": "m",
                "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
            });
            (200, body.to_string())
        }
        Reply::Status(status, message) => {
            (*status, json!({"error": {"message": message}}).to_string())
        }
        Reply::Cut => (200, "{\"choices\": [".to_owned()),
        Reply::Drop => return,
    };
    let length = body.len() + if matches!(reply, Reply::Cut) { 1000 } else { 0 };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nretry-after: 0\r\nconnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
}

/// A folder that is removed at the end, with `count` trajectories.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, count: usize) -> Folder {
        let path = std::env::temp_dir().join(format!("volary-ask-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for number in 0..count {
            let line = json!({"messages": [
                {"role": "user", "content": format!("Cancel order {number}. My password=hunter22secret")},
                {"role": "assistant", "content": "I have cancelled it."},
            ]});
            fs::write(path.join(format!("run{number}.jsonl")), format!("{line}\n")).unwrap();
        }
        Folder(path)
    }

    fn answers(&self) -> PathBuf {
        self.0.join(".volary/answers.jsonl")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn ask(server: &Server, folder: &Folder, more: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_volary"))
        .args(["ask", "Did the agent claim a change?"])
        .arg(&folder.0)
        .args([
            "--label",
            "yes,no",
            "--model",
            "m",
            "--base-url",
            &server.address,
            "--json",
        ])
        .args(more)
        .env("VOLARY_API_KEY", KEY)
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    // The key is nowhere.
    for bytes in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(bytes).contains(KEY));
    }
    if let Ok(text) = fs::read_to_string(folder.answers()) {
        assert!(!text.contains(KEY));
    }
    output
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn answers_are_checked_stored_and_not_paid_twice() {
    let server = Server::start(|_, _| Reply::Say(GOOD));
    let folder = Folder::new("plain", 3);
    let first = ask(&server, &folder, &["--yes"]);
    assert_eq!(first.status.code(), Some(0), "{}", errors(&first));
    let answers = lines(&first);
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["label"], "yes");
    assert_eq!(answers[0]["support"], "supported");
    assert_eq!(answers[0]["evidence"][0]["state"], "exact");
    assert!(
        errors(&first).contains("Quotes of m: exact 3"),
        "{}",
        errors(&first)
    );
    assert_eq!(server.requests(), 3);
    // The transcript comes first, the question last, and secrets are masked.
    let body: Value = serde_json::from_str(&server.bodies.lock().unwrap()[0]).unwrap();
    let text = body["messages"].to_string();
    assert!(!text.contains("hunter22secret"), "{text}");
    assert!(text.find("Cancel order").unwrap() < text.find("Did the agent claim").unwrap());
    let second = ask(&server, &folder, &["--yes"]);
    assert_eq!(server.requests(), 3);
    assert_eq!(lines(&second)[0]["from_cache"], true);
}

#[test]
fn faults_are_survived() {
    let server = Server::start(|number, _| match number {
        0 => Reply::Status(429, "Slow down."),
        1 => Reply::Cut,
        2 => Reply::Drop,
        3 => Reply::Status(503, "Overloaded."),
        _ => Reply::Say(GOOD),
    });
    let folder = Folder::new("faults", 2);
    let output = ask(&server, &folder, &["--yes", "--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!((lines(&output).len(), server.requests()), (2, 6));
}

#[test]
fn forged_quotes_and_prose_are_asked_for_again_and_marked() {
    let server = Server::start(|_, body| {
        let is_second = body.contains("Your reply");
        match (
            body.contains("Cancel order 0"),
            body.contains("Cancel order 1"),
            is_second,
        ) {
            (true, _, false) => Reply::Say(FORGED),
            (true, _, true) => Reply::Say(GOOD),
            (_, true, _) => Reply::Say(FORGED),
            _ => Reply::Say("I would say yes."),
        }
    });
    let folder = Folder::new("forged", 3);
    let output = ask(&server, &folder, &["--yes"]);
    assert_eq!(output.status.code(), Some(0));
    let mut answers = lines(&output);
    answers.sort_by_key(|answer| answer["file"].to_string());
    let support: Vec<&str> = answers
        .iter()
        .map(|answer| answer["support"].as_str().unwrap())
        .collect();
    assert_eq!(support, ["supported", "unsupported", "unreadable"]);
    assert_eq!(answers[1]["evidence"][0]["state"], "not_found");
    assert_eq!(server.requests(), 6);
    let text = errors(&output);
    assert!(
        text.contains("Answers asked for again: 3, unsupported: 1, unreadable: 1."),
        "{text}"
    );
}

#[test]
fn a_broken_run_goes_on_where_it_was_and_damaged_lines_are_skipped() {
    let server = Server::start(|number, _| {
        if number < 2 {
            Reply::Say(GOOD)
        } else {
            Reply::Status(
                401,
                "Incorrect API key provided: sk-a-key-that-must-not-leak-0123456789",
            )
        }
    });
    let folder = Folder::new("resume", 4);
    let output = ask(&server, &folder, &["--yes", "--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors(&output).contains("Check the API key"),
        "{}",
        errors(&output)
    );
    assert_eq!(
        fs::read_to_string(folder.answers())
            .unwrap()
            .lines()
            .count(),
        2
    );
    // The last line was written in part.
    let text = fs::read_to_string(folder.answers()).unwrap();
    fs::write(folder.answers(), &text[..text.len() - 20]).unwrap();
    let healthy = Server::start(|_, _| Reply::Say(GOOD));
    let output = ask(&healthy, &folder, &["--yes"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        errors(&output).contains("line 2 was skipped"),
        "{}",
        errors(&output)
    );
    assert_eq!((lines(&output).len(), healthy.requests()), (4, 3));
    let again = ask(&healthy, &folder, &["--yes"]);
    assert_eq!((lines(&again).len(), healthy.requests()), (4, 3));
}

#[test]
fn nothing_is_sent_without_a_limit_or_beyond_it() {
    let server = Server::start(|_, _| Reply::Say(GOOD));
    let folder = Folder::new("limit", 20);
    for (more, status, said) in [
        (&[][..], 2, "there is no limit"),
        (&["--max-cost", "1"], 2, "the price of m is not known"),
        (&["--plan"], 0, "Costs by model"),
    ] {
        let output = ask(&server, &folder, more);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{more:?}: {}",
            errors(&output)
        );
        assert!(
            errors(&output).contains(said),
            "{more:?}: {}",
            errors(&output)
        );
    }
    let base = ["--model", "m", "--base-url", &server.address, "--yes"];
    let one_label = ["ask", "Why?", shown(&folder.0), "--label", "a"];
    let output = run(&[&one_label[..], &base[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors(&output).contains("at least two"),
        "{}",
        errors(&output)
    );
    assert_eq!(server.requests(), 0);
    // Each request may cost 2,000 tokens of output and is known to cost 1,100 afterwards.
    let output = ask(
        &server,
        &folder,
        &[
            "--price",
            "1,1",
            "--max-cost",
            "0.006",
            "--concurrency",
            "1",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    let sent = server.requests();
    assert!((1..6).contains(&sent), "{sent}");
    assert!(
        errors(&output).contains("limit of $0.006"),
        "{}",
        errors(&output)
    );
}

#[test]
fn a_person_labels_first_and_the_agreement_is_computed() {
    let server = Server::start(|_, _| Reply::Say(GOOD));
    let folder = Folder::new("calibrate", 6);
    let labels = folder.0.join("labels.txt");
    let calibrate = ["--calibrate", shown(&labels), "--sample", "3", "--yes"];
    let output = ask(&server, &folder, &calibrate);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("Nothing was sent") && server.requests() == 0);
    let text = fs::read_to_string(&labels).unwrap();
    assert_eq!(text.lines().count(), 3);
    let output = ask(&server, &folder, &calibrate);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors(&output).contains("write labels"),
        "{}",
        errors(&output)
    );
    fs::write(
        &labels,
        text.replacen("\"label\":\"\"", "\"label\":\"maybe\"", 1),
    )
    .unwrap();
    assert!(errors(&ask(&server, &folder, &calibrate)).contains("maybe"));
    // Two agree with the model, which always says yes; one does not.
    let filled = text.replace("\"label\":\"\"", "\"label\":\"Yes\"");
    fs::write(&labels, filled.replacen("\"Yes\"", "\"no\"", 1)).unwrap();
    let output = ask(&server, &folder, &calibrate);
    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!(server.requests(), 3);
    let lines = lines(&output);
    assert_eq!(lines.len(), 4);
    let calibration = &lines[3]["calibration"];
    assert_eq!(
        (&calibration["labelled"], &calibration["both"]),
        (&json!(3), &json!(3))
    );
    assert!((calibration["agreement"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(calibration["kappa"], 0.0);
    let differing = calibration["differing"].as_array().unwrap();
    assert_eq!(differing.len(), 1);
    assert_eq!(
        (&differing[0]["person"], &differing[0]["model"]),
        (&json!("no"), &json!("yes"))
    );
}

#[test]
fn findings_cite_answers_that_exist() {
    let server = Server::start(|_, body| {
        if body.contains("You summarise answers") {
            Reply::Say("- Most claim it [A1] [A2].\n- Invented [A9].\n- Without a source.")
        } else {
            Reply::Say(GOOD)
        }
    });
    let folder = Folder::new("findings", 2);
    let output = ask(
        &server,
        &folder,
        &["--synthesise", "--max-cost", "1", "--price", "1,1"],
    );
    assert!(output.status.success(), "{}", errors(&output));
    let lines = lines(&output);
    let found = &lines[2];
    let holds: Vec<bool> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| claim["holds"].as_bool().unwrap())
        .collect();
    assert_eq!(holds, [true, false, false]);
    assert_eq!(found["findings"][1]["missing"], json!([9]));
    assert_eq!(found["answers"].as_array().unwrap().len(), 2);
    // The answers were paid for, the findings are beyond the limit.
    let output = ask(&server, &folder, &["--synthesise", "--max-tokens", "500"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors(&output).contains("findings were not asked for"),
        "{}",
        errors(&output)
    );
    assert_eq!(server.requests(), 3);
}

#[test]
fn a_schema_is_sent_and_left_out_where_it_is_refused() {
    let server = Server::start(|_, body| {
        if body.contains("response_format") {
            Reply::Status(
                400,
                "response_format json_schema is not supported by this model",
            )
        } else {
            Reply::Say(GOOD)
        }
    });
    let folder = Folder::new("structured", 3);
    let output = ask(
        &server,
        &folder,
        &["--structured", "--yes", "--concurrency", "1"],
    );
    assert!(output.status.success(), "{}", errors(&output));
    let bodies = server.bodies.lock().unwrap();
    let with = |body: &&String| body.contains(r#""json_schema":{"name":"answer","strict":true"#);
    assert_eq!((bodies.len(), bodies.iter().filter(with).count()), (4, 1));
}

#[test]
fn answers_are_groups_of_statistics() {
    let server = Server::start(|_, _| Reply::Say(GOOD));
    let folder = Folder::new("columns", 2);
    assert!(ask(&server, &folder, &["--yes"]).status.success());
    for by in ["answer", "answer/claim a change"] {
        let output = run(&["stats", shown(&folder.0), "--by", by, "--json"]);
        assert!(output.status.success(), "{}", errors(&output));
        let groups = &lines(&output)[0]["groups"];
        assert_eq!(
            (&groups[0]["name"], &groups[0]["episodes"]),
            (&json!("yes"), &json!(2))
        );
    }
    let output = run(&["stats", shown(&folder.0), "--by", "answer/@why-failed"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("Did the agent claim a change?"));
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_volary"))
        .args(arguments)
        .output()
        .unwrap()
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_trajectory_is_written_as_text() {
    let folder = Folder::new("text", 2);
    let output = run(&["convert", shown(&folder.0), "--to", "text", "--mask"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("[trajectory ").count(), 2, "{text}");
    assert!(text.contains("I have cancelled it.") && !text.contains("hunter22secret"));
}

#[test]
fn forbidden_behaviour_fails_with_reports() {
    let folder = Folder::new("assert", 0);
    let call = |id: usize, name: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": format!("c{id}"), "type": "function",
            "function": {"name": name, "arguments": "{\"order\": \"o<1>\"}"}
        }]})
    };
    let answer =
        |id: usize| json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": "ok"});
    let user = json!({"role": "user", "content": "Cancel it."});
    let good = json!({"messages": [user, call(1, "get_order"), answer(1), call(2, "cancel_order"), answer(2)]});
    let bad = json!({"messages": [user, call(1, "cancel_order"), answer(1)]});
    let runs = folder.0.join("runs");
    fs::create_dir_all(&runs).unwrap();
    fs::write(runs.join("good.jsonl"), format!("{good}\n")).unwrap();
    fs::write(runs.join("bad.jsonl"), format!("{bad}\n")).unwrap();
    let rules = folder.0.join("rules.toml");
    let rule = |level: &str| {
        format!(
            "[[rule]]\nid = \"unread\"\ntitle = \"Cancelled & not read\"\nlevel = \"{level}\"\n\
             when = {{ tool = \"cancel_*\" }}\nwithout_before = {{ tool = \"get_order\", same = [\"order\"] }}\n"
        )
    };
    fs::write(&rules, rule("error")).unwrap();
    let file = |name: &str| folder.0.join(name).to_str().unwrap().to_owned();
    let (junit, sarif, markdown) = (file("j.xml"), file("s.sarif"), file("m.md"));
    let output = run(&[
        "assert",
        shown(&rules),
        shown(&runs),
        "--junit",
        &junit,
        "--sarif",
        &sarif,
        "--markdown",
        &markdown,
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("bad.jsonl") && said.contains("step 1: unread: cancel_order"),
        "{said}"
    );
    let junit = fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("Cancelled &amp; not read"),
        "{junit}"
    );
    let sarif: Value = serde_json::from_str(&fs::read_to_string(sarif).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "error");
    assert!(
        fs::read_to_string(markdown)
            .unwrap()
            .contains("| unread Cancelled \\& not read | error | 1 |")
    );
    fs::write(&rules, rule("warning")).unwrap();
    assert_eq!(
        run(&["assert", shown(&rules), shown(&runs)]).status.code(),
        Some(0)
    );
    // Against the labels of a person, the rule is half right.
    let ids = run(&["stats", shown(&runs), "--json"]);
    let rows = lines(&ids)[0]["rows"].clone();
    let notes = rows.as_array().unwrap().iter().enumerate().map(|(index, row)| {
        let note = json!({
            "id": format!("n{index}"), "episode": row["id"], "at": null, "text": "", "label": "wrong",
            "author": "me", "changed": 1.0, "revision": 1,
        });
        format!("{note}\n")
    });
    fs::create_dir_all(runs.join(".volary")).unwrap();
    fs::write(runs.join(".volary/notes.jsonl"), notes.collect::<String>()).unwrap();
    let output = run(&[
        "assert",
        shown(&rules),
        shown(&runs),
        "--label",
        "wrong",
        "--json",
    ]);
    let rule = &lines(&output)[0]["rules"][0];
    assert_eq!(
        (&rule["precision"], &rule["recall"]),
        (&json!(1.0), &json!(0.5))
    );
    let output = run(&["assert", shown(&rules), shown(&runs), "--label", "other"]);
    assert!(
        errors(&output).contains("has the label other"),
        "{}",
        errors(&output)
    );
    for (text, said) in [
        ("[[rule]]\nid = \"x\"\n", "has no condition"),
        ("[[rule]]\nid = \"x\"\nwhat = 1\n", "unknown field"),
        ("", "no rules"),
    ] {
        fs::write(&rules, text).unwrap();
        let output = run(&["assert", shown(&rules), shown(&runs)]);
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(said), "{}", errors(&output));
    }
}
