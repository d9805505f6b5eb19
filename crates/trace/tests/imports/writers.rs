//! What the writers of the formats do in cases that are rare: runs that broke down, were cut short, or wrote a line twice.

use volary_trace::import::{ImportOutcome, InputFile, import};
use volary_trace::{Ending, Usage};

use crate::shape;

fn read(text: &str) -> ImportOutcome {
    let file = InputFile {
        name: Some("made.jsonl".into()),
        bytes: text.as_bytes().to_vec(),
    };
    import(&[file]).unwrap()
}

/// A line of verifiers' traces: how the trace ended, and its last call.
fn traced(id: &str, ending: &str, call: &str) -> String {
    format!(
        r#"{{"id": "e-{id}", "env": {{"id": "maze"}}, "task": {{"type": "Maze", "data": {{}}, "key": "k"}}, "ok": false, "errors": [], "traces": [{{"id": "{id}", "task": {{"type": "Maze", "data": {{}}, "key": "k"}}, "agent": {{"name": "solver", "config": {{}}}}, "nodes": [{{"parent": null, "message": {{"role": "user", "content": "Go."}}, "sampled": false}}, {{"parent": 0, "message": {{"role": "assistant", "content": "Left."}}, "sampled": true}}], "calls": [{call}], "rewards": {{}}, {ending}}}]}}"#
    )
}

#[test]
fn verifiers_traces_that_went_wrong() {
    const ANSWERED: &str = r#"{"node": 1, "model": "m", "finish_reason": "stop", "usage": {"prompt_tokens": 10, "completion_tokens": 2, "cached_input_tokens": 30}}"#;
    const CUT: &str = r#"{"node": 1, "model": "m", "finish_reason": "length"}, {"node": null, "finish_reason": null, "error": {"type": "ProviderError", "message": "busy"}}"#;
    let lines = [
        traced(
            "broken",
            r#""ok": false, "stop_condition": "sandbox_error", "errors": [{"type": "SandboxError", "message": "gone"}]"#,
            ANSWERED,
        ),
        traced("late", r#""ok": false, "stop_condition": "agent_timeout", "errors": []"#, ANSWERED),
        traced("long", r#""ok": true, "stop_condition": "agent_completed", "errors": []"#, CUT),
        r#"{"id": "nothing", "env": {"id": "maze"}, "task": {"type": "Maze", "data": {}, "key": "k"}, "ok": false, "errors": [{"type": "EnvError", "message": "no maze"}], "traces": []}"#.to_owned(),
    ];
    let outcome = read(&(lines.join("\n") + "\n"));
    let [broken, late, long, nothing] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    let crashed = |message: &str| Ending::Crashed {
        message: message.into(),
    };
    assert_eq!(broken.ending, crashed("SandboxError: gone"));
    assert!(matches!(late.ending, Ending::Truncated { .. }));
    assert!(matches!(long.ending, Ending::Truncated { .. }));
    // The call that failed is kept.
    assert_eq!(long.raw.get("calls").unwrap().as_list().unwrap().len(), 1);
    let usage = Usage {
        input: Some(40),
        output: Some(2),
        cached: Some(30),
        ..Usage::default()
    };
    assert_eq!(broken.usage(), usage);
    assert_eq!(nothing.ending, crashed("EnvError: no maze"));
    assert_eq!(shape(nothing), crate::Shape(0, 0, 0, None));
    assert_eq!(nothing.environment.as_deref(), Some("maze"));

    // A run of which nothing came is told by itself, too.
    let outcome = read(&(lines[3].clone() + "\n"));
    assert_eq!(outcome.episodes.len(), 1);
}
