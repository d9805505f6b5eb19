//! Files that are broken, or made to break something: what can be read is there, the rest is named, and nothing
//! takes forever.

use volary_core::json::Json;
use volary_episode::{Episode, Relation};
use volary_formats::import::index::index;
use volary_formats::import::{ImportOutcome, InputFile, NoteLevel, import};

use crate::tools::shapes;
use crate::{Shape, fixture};

const FIXTURES: &[&str] = &[
    "aider.md",
    "atif-continued.json",
    "atif.json",
    "autogen-recorded.json",
    "autogen-team.json",
    "autogen.json",
    "browser-use.json",
    "chat.jsonl",
    "claude-code.jsonl",
    "cline-session.json",
    "cline.json",
    "codex-old.jsonl",
    "codex.jsonl",
    "copilot-cli.jsonl",
    "docent.jsonl",
    "evalscope.jsonl",
    "gemini-cli.jsonl",
    "google-adk-evalset.json",
    "google-adk.json",
    "gptme.jsonl",
    "iflow.jsonl",
    "inspect-chunked.eval",
    "inspect-stored.eval",
    "inspect-zstd.eval",
    "inspect.json",
    "kimi-old.jsonl",
    "kimi.jsonl",
    "langfuse.json",
    "langsmith.jsonl",
    "ldp.jsonl",
    "mini-swe-agent-text.json",
    "mini-swe-agent.json",
    "mt-bench.jsonl",
    "open-inference.json",
    "open-telemetry.json",
    "openai-agents-state.json",
    "openai-agents.jsonl",
    "openai-batch-input.jsonl",
    "openai-batch-output.jsonl",
    "opencode.json",
    "openhands-output.jsonl",
    "openhands-resolver.jsonl",
    "openhands-sdk.jsonl",
    "openhands.json",
    "pi.jsonl",
    "prime-cli.json",
    "pydantic-ai.json",
    "session-trace.jsonl",
    "skyrl.jsonl",
    "slime.jsonl",
    "specstory.md",
    "swe-agent-old.traj",
    "swe-agent.traj",
    "tau-bench-display.jsonl",
    "tau-bench.json",
    "tau2.json",
    "terminal-bench.json",
    "tinker-capture.jsonl",
    "tinker-evaluation.jsonl",
    "tinker.jsonl",
    "toolbench.json",
    "traceloop.jsonl",
    "trl.jsonl",
    "vercel-spans.json",
    "verifiers-columns.json",
    "verifiers-results.jsonl",
    "verifiers-traces.jsonl",
];

fn named(name: &str, content: impl Into<Vec<u8>>) -> InputFile {
    InputFile {
        name: Some(name.into()),
        bytes: content.into(),
    }
}

fn imported(text: impl Into<Vec<u8>>) -> ImportOutcome {
    import(&[named("x.json", text)]).unwrap()
}

fn unreadable(outcome: &ImportOutcome) -> String {
    let notes = outcome.notes.iter();
    let lost = notes.filter(|note| note.level == NoteLevel::Unreadable);
    lost.map(|note| &*note.text).collect::<Vec<_>>().join("\n")
}

/// Every fixture, cut at many offsets: it is read as far as it goes, and said to be cut, or refused in words.
#[test]
fn truncated_input_is_read_as_far_as_possible() {
    for &name in FIXTURES {
        let whole = fixture(name);
        let all = import(std::slice::from_ref(&whole)).unwrap().episodes.len();
        for part in 1..12 {
            let bytes = whole.bytes[..whole.bytes.len() * part / 12].to_vec();
            match import(&[named(name, bytes)]) {
                Ok(outcome) => {
                    assert!(outcome.episodes.len() <= all, "{name} {part}");
                }
                Err(error) => assert!(error.to_string().len() > 20, "{name} {part}: {error}"),
            }
        }
        let most = whole.bytes.len() * 9 / 10;
        if name.ends_with("json") && !name.contains("open-telemetry") {
            let outcome = import(&[named(name, whole.bytes[..most].to_vec())]).unwrap();
            assert!(unreadable(&outcome).contains("cut off"), "{name}");
        }
    }
}

/// Every fixture with every member of every object taken away once, or made null, or something else.
#[test]
fn whatever_is_missing_the_rest_is_read() {
    for &name in FIXTURES {
        let Ok(text) = String::from_utf8(fixture(name).bytes) else {
            continue;
        };
        let keys: std::collections::BTreeSet<&str> = text
            .split('"')
            .filter(|word| {
                !word.is_empty()
                    && word
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
            .collect();
        for key in keys {
            let quoted = format!("\"{key}\":");
            if !text.contains(&quoted) {
                continue;
            }
            for instead in [
                format!("\"gone_{key}\":"),
                format!("\"{key}\": null, \"was_{key}\":"),
                format!("\"{key}\": [], \"was_{key}\":"),
                format!("\"{key}\": {{}}, \"was_{key}\":"),
                format!("\"{key}\": \"7\", \"was_{key}\":"),
                format!("\"{key}\": -1, \"was_{key}\":"),
            ] {
                if let Err(error) = import(&[named(name, text.replace(&quoted, &instead))]) {
                    assert!(
                        error.to_string().contains("No episode"),
                        "{name} {key}: {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn empty_input_is_described() {
    for (bytes, message) in [
        (&b""[..], "an empty file"),
        (b" \r\n\n", "not JSON"),
        (b"\xef\xbb\xbf", "not JSON"),
        (b"null", "a single JSON value"),
        (b"[]", "a JSON list of 0"),
        (b"{}", "JSON without members"),
        (b"\"id\"", "a single JSON value"),
        (b"[[[[]]]]", "a JSON list of 1"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\xfd7zXZ\0\0", "an xz file"),
    ] {
        let error = import(&[named("x.json", bytes)]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn deeply_nested_values_are_reported() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    for deep in [deep, objects] {
        let call = format!(
            "{{\"messages\": [{{\"role\": \"assistant\", \"content\": \"x\", \"tool_calls\": [{{\"id\": \"c\", \"name\": \"f\", \"arguments\": {{\"a\": {deep}}}}}]}}]}}"
        );
        let outcome = imported(call.clone());
        assert_eq!(shapes(&outcome), [Shape(1, 1, 0, None)]);
        let notes = &outcome.notes;
        assert!(
            notes
                .iter()
                .any(|note| note.text.contains("nested too deeply")),
            "{notes:?}"
        );
        let outcome = imported(format!("{call}\n{call}\n"));
        assert_eq!(outcome.episodes.len(), 2);
        // Deep messages, states and files of nothing else.
        let state = format!(
            "\"t\"\n{{\"timestep\": 0, \"agent_state\": {deep}, \"next_agent_state\": {deep}, \"observation\": [{deep}], \"next_observation\": [], \"action\": {deep}, \"reward\": 1}}\n"
        );
        assert_eq!(shapes(&imported(state)), [Shape(1, 0, 2, Some(1.0))]);
        assert!(import(&[named("x", deep)]).is_err());
    }
}

#[test]
fn a_hundred_thousand_steps_are_read() {
    let said = r#"{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}"#;
    let messages = vec![said; 100_000].join(",");
    let outcome = imported(format!("{{\"messages\": [{messages}]}}"));
    assert_eq!(outcome.episodes[0].steps.len(), 100_000);
    let (_, episodes, _) = index("x.json", format!("[{messages}]").as_bytes());
    assert_eq!(episodes[0].steps.len(), 100_000);
}

#[test]
fn a_hundred_megabytes_in_one_text_are_read() {
    let long = "x".repeat(100 << 20);
    let line = format!("{{\"messages\": [{{\"role\": \"assistant\", \"content\": \"{long}\"}}]}}");
    let said = |episode: &Episode| {
        episode.steps[0]
            .action
            .body()
            .content
            .as_ref()
            .map(|text| text.len())
    };
    let outcome = imported(line.clone());
    assert_eq!(said(&outcome.episodes[0]), Some(long.len()));
    // Cut off within it.
    let outcome = imported(line[..line.len() - 10].to_owned());
    assert_eq!(said(&outcome.episodes[0]), Some(long.len() - 6));
    assert!(unreadable(&outcome).contains("cut off"));
}

#[test]
fn links_that_go_in_a_circle_end() {
    let one = |id: &str, other: &str| {
        named(
            &format!("{id}.json"),
            format!(
                r#"{{"schema_version": "ATIF-v1.7", "trajectory_id": "{id}", "continued_trajectory_ref": "{other}.json", "steps": [{{"step_id": 1, "source": "agent", "message": "x", "observation": {{"results": [{{"subagent_trajectory_ref": [{{"trajectory_id": "{other}"}}, {{"trajectory_id": "{id}"}}]}}]}}}}]}}"#
            ),
        )
    };
    let outcome = import(&[one("a", "b"), one("b", "a")]).unwrap();
    assert_eq!(outcome.episodes.len(), 2);
    let relations: Vec<Relation> = outcome.episodes[0]
        .links
        .iter()
        .map(|link| link.relation)
        .collect();
    assert!(relations.contains(&Relation::Parent) && relations.contains(&Relation::Predecessor));
    // Events that are each other's parents, and their own.
    let event = |uuid: &str, parent: &str| {
        format!(
            "{{\"type\": \"assistant\", \"sessionId\": \"s\", \"uuid\": \"{uuid}\", \"parentUuid\": \"{parent}\", \"message\": {{\"role\": \"assistant\", \"content\": \"{uuid}\"}}}}"
        )
    };
    let lines = [
        event("a", "b"),
        event("b", "a"),
        event("c", "c"),
        event("d", "a"),
    ];
    let outcome = imported(lines.join("\n"));
    let texts: Vec<String> = outcome
        .episodes
        .iter()
        .flat_map(Episode::messages)
        .filter_map(|message| Some(message.body().content.as_ref()?.to_string()))
        .collect();
    for text in ["a", "b", "c", "d"] {
        assert!(
            texts.iter().any(|known| known == text),
            "{text} of {texts:?}"
        );
    }
}

#[test]
fn duplicate_ids_are_made_unique() {
    let text = r#"{"schema_version": "ATIF-v1.4", "session_id": "s", "steps": [{"step_id": 1, "source": "agent", "message": "x", "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}}, {"tool_call_id": "c", "function_name": "g", "arguments": {}}], "observation": {"results": [{"source_call_id": "c", "content": "1"}, {"source_call_id": "c", "content": "2"}]}}]}"#;
    let files = [
        named("a.json", text),
        named("b.json", text),
        named("a.json", text),
        named("c.json", text.replace("\"s\"", "\"s (2)\"")),
    ];
    let outcome = import(&files).unwrap();
    let ids: std::collections::BTreeSet<&str> = outcome
        .episodes
        .iter()
        .map(|episode| &*episode.id)
        .collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert_eq!(outcome.episodes[0].steps[0].messages().len(), 2);
}

#[test]
fn invisible_characters_are_preserved() {
    let text = "\u{202e}gnp.exe\u{2066}\u{200b}\u{feff}\0<script>alert(1)</script>data:image/svg+xml,<svg onload=x>";
    let written = Json::from(text).to_python_text();
    let line = format!(
        "{{\"messages\": [{{\"role\": {written}, \"content\": {written}, {written}: {written}}}], \"id\": {written}}}"
    );
    let outcome = imported(line);
    let episode = &outcome.episodes[0];
    assert_eq!(&*episode.id, text);
    assert_eq!(episode.start[0].body().content.as_deref(), Some(text));
    let info = episode.start[0].body().info.as_ref().unwrap();
    assert_eq!(
        (info.get("role"), info.get(text)),
        (Some(&Json::from(text)), Some(&Json::from(text)))
    );
}
