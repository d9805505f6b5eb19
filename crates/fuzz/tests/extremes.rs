//! Inputs of extreme sizes and shapes: each is read as far as possible, or rejected with the reason.
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use volary_formats::import::{ImportError, ImportOutcome, InputFile, NoteLevel, import};
use volary_fuzz::judge::{Depth, judge};

/// Far more than any of these takes, even unoptimised: quadratic work would take hours.
const LONGEST: Duration = Duration::from_secs(60);

fn file(name: &str, text: impl Into<Vec<u8>>) -> InputFile {
    InputFile {
        name: Some(name.to_owned()),
        bytes: text.into(),
    }
}

fn imported(name: &str, text: impl Into<Vec<u8>>) -> ImportOutcome {
    let began = Instant::now();
    let outcome = import(&[file(name, text)]).unwrap();
    assert!(
        began.elapsed() < LONGEST,
        "{name} took {:?}",
        began.elapsed()
    );
    outcome
}

fn said(outcome: &ImportOutcome, text: &str) -> bool {
    outcome.notes.iter().any(|note| note.text.contains(text))
}

/// An ATIF trajectory with these steps after the first one.
fn atif(steps: &str) -> String {
    format!(
        r#"{{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {{"name": "a", "version": "1"}},
        "steps": [{{"step_id": 1, "source": "user", "message": "Go."}}{steps}]}}"#
    )
}

#[test]
fn a_hundred_megabytes_in_one_text() {
    let length = 100 << 20;
    let long = "x".repeat(length);
    let chat = format!(
        r#"{{"messages": [{{"role": "user", "content": "{long}"}}, {{"role": "assistant", "content": "y"}}]}}"#
    );
    let outcome = imported("chat.json", chat);
    let content = &outcome.episodes[0].start[0].body().content;
    assert_eq!(content.as_deref().map(str::len), Some(length));
    // Truncated within that text: the available part of it is kept.
    let cut = format!(r#"{{"messages": [{{"role": "user", "content": "{long}"#);
    let outcome = imported("cut.json", cut);
    assert!(said(&outcome, "cut off"), "{:?}", outcome.notes);
}

#[test]
fn a_hundred_thousand_steps() {
    let steps: String = (2..100_002)
        .map(|id| {
            format!(
                r#",{{"step_id": {id}, "source": "agent", "message": "m{id}", "tool_calls": [{{"tool_call_id": "c{id}", "function_name": "look", "arguments": {{}}}}], "observation": {{"results": [{{"source_call_id": "c{id}", "content": "seen"}}]}}}}"#
            )
        })
        .collect();
    let outcome = imported("long.json", atif(&steps));
    assert_eq!(outcome.episodes[0].steps.len(), 100_000);
    assert_eq!(outcome.episodes[0].calls(), 100_000);
}

#[test]
fn ten_thousand_levels() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    let deep = atif(&format!(
        r#",{{"step_id": 2, "source": "agent", "message": "m", "tool_calls": [{{"tool_call_id": "c", "function_name": "f", "arguments": {{"a": {open}{close}}}}}]}}"#
    ));
    let outcome = imported("deep.json", deep.clone());
    assert_eq!(outcome.episodes[0].calls(), 1);
    assert!(said(&outcome, "nested too deeply"), "{:?}", outcome.notes);
    judge(&[file("deep.json", deep)], Depth::All);
    for text in [
        format!("{open}{close}"),
        open,
        "{\"messages\":".repeat(50_000),
        "\"".repeat(100_000),
    ] {
        judge(&[file("x.json", text)], Depth::All);
    }
}

#[test]
fn ids_that_all_are_the_same() {
    let line = r#"{"id": "one", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}"#;
    let outcome = imported("same.jsonl", format!("{line}\n").repeat(5_000));
    let mut ids: Vec<_> = outcome.episodes.iter().map(|one| one.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5_000);
}

#[test]
fn ways_that_go_in_circles() {
    let node = |parent: usize| {
        format!(r#"{{"parent": {parent}, "message": {{"role": "assistant", "content": "m"}}}}"#)
    };
    let nodes: Vec<String> = [1, 2, 0, 3, 0].into_iter().map(node).collect();
    let trace = format!(
        r#"{{"id": "t", "task": "x", "rewards": {{}}, "nodes": [{}]}}"#,
        nodes.join(",")
    );
    let outcome = imported("traces.jsonl", trace);
    let steps: usize = outcome.episodes.iter().map(|one| one.steps.len()).sum();
    assert!(steps >= 5, "every message is somewhere");

    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type": "assistant", "uuid": "{id}", "parentUuid": "{parent}", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "message": {{"role": "assistant", "content": [{{"type": "text", "text": "{id}"}}]}}}}"#
        )
    };
    let session = [
        line("a", "c"),
        line("b", "a"),
        line("c", "b"),
        line("d", "d"),
    ]
    .join("\n");
    judge(&[file("session.jsonl", session)], Depth::All);

    let frame = |next: &str| {
        format!(
            r#"{{"deepcopy": true, "state": 1, "info": null, "index": 1, "prev_frame": "{next}", "next_frame": "{next}"}}"#
        )
    };
    let frames = [
        file(
            "info.json",
            r#"{"name": "x", "first": "a.json", "last": "z.json"}"#,
        ),
        file("a.json", frame("b.json")),
        file("b.json", frame("a.json")),
    ];
    judge(&frames, Depth::All);

    // Trajectories that refer to each other as continuation, and one that is its own subagent.
    let whole = atif("");
    let linked = |id: &str, other: &str| {
        whole.replace(
            "\"session_id\": \"s\"",
            &format!("\"session_id\": \"{id}\", \"continued_trajectory_ref\": \"{other}\""),
        )
    };
    let files = [
        file("a.json", linked("a", "b.json")),
        file("b.json", linked("b", "a.json")),
        file("c.json", linked("c", "c.json")),
    ];
    assert_eq!(judge(&files, Depth::All), 3);
}

#[test]
fn empty_objects_are_rejected_or_empty() {
    for text in [
        "",
        " ",
        "{}",
        "[]",
        "null",
        "\"\"",
        "0",
        "[[]]",
        "[{}]",
        "{}\n{}",
        "\u{feff}",
        "PK\u{3}\u{4}",
        "\u{0}",
    ] {
        let error = import(&[file("nothing", text)]).unwrap_err();
        assert!(matches!(error, ImportError::NoEpisode { .. }), "{text:?}");
        assert!(error.to_string().contains("Supported formats"), "{error}");
    }
    for text in [
        r#"{"schema_version": "ATIF-v1.7"}"#,
        r#"{"version": 2, "eval": {}, "samples": [{}, null, 1]}"#,
        r#"{"messages": []}"#,
        r#"{"trajectory": [], "history": [], "info": {}}"#,
        r#"{"simulations": [{}], "tasks": []}"#,
        r#"[{"traj": [], "reward": null}]"#,
        r#"{"prompt": null, "completion": null, "reward": null}"#,
        r#"{"timestep": null, "observation": null, "next_observation": null}"#,
        r#"{"history": [{"action": null, "source": null}]}"#,
        r#"{"nodes": [], "task": null, "rewards": null}"#,
    ] {
        judge(&[file("bare.json", text)], Depth::All);
    }
}

#[test]
fn a_crowd_of_members() {
    let members: String = (0..100_000).map(|n| format!(r#""k{n}": {n}, "#)).collect();
    let whole = atif("").replacen('{', &format!("{{{members}"), 1);
    assert_eq!(imported("crowd.json", whole).episodes.len(), 1);
    let state = format!(
        r#"{{"messages": [{{"role": "assistant", {members} "content": "a"}}], {members} "x": {{{members} "y": 1}}}}"#
    );
    assert_eq!(imported("crowd.jsonl", state).episodes.len(), 1);
}

#[test]
fn losses_are_named_but_not_without_end() {
    let lines =
        "{\"messages\": [{\"role\": \"assistant\", \"content\": \"a\"}]}\n{oops}\n".repeat(20_000);
    let outcome = imported("lines.jsonl", lines);
    assert_eq!(outcome.episodes.len(), 20_000);
    assert!(outcome.notes.len() < 500);
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note.level == NoteLevel::Unreadable)
    );
}
