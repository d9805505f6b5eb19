//! What the writers of coding agents do besides what the fixtures of each format show: lines that stand between
//! messages, several attempts, pages of a server, and what the first versions did.

use volary_core::AnyMessage;
use volary_episode::{Ending, Relation};
use volary_formats::import::import;

use crate::tools::{assert_linked, format, shapes, told};
use crate::variants::{imported, only};
use crate::{Shape, fixture};

#[test]
fn claude_code_as_it_is_printed() {
    let outcome = import(&[fixture("claude-code-printed.jsonl")]).unwrap();
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 1, 0, None), Shape(1, 1, 0, None)]
    );
    let [main, helper] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_linked(main);
    assert_eq!(
        told(main),
        "I send a helper.>Task{\"prompt\":\"Count the boxes.\"} | Task<Two. | assistant:There are two boxes."
    );
    assert_eq!(
        told(helper),
        ">Read{\"file_path\":\"boxes.txt\"} | Read<red, blue"
    );
    assert_eq!((&*main.id, &*helper.id), ("90a1", "90a1/k1"));
    assert_eq!(helper.links[0].relation, Relation::Parent);
    assert_eq!(&*helper.links[0].episode, "90a1");
    assert_eq!(
        (&main.ending, main.outcome.as_deref(), main.seconds),
        (&Ending::Done, Some("success"), Some(2.5))
    );
    let usage = main.usage();
    assert_eq!(
        (usage.input, usage.output, usage.cost),
        (Some(60), Some(30), Some(0.25))
    );
    assert_eq!(
        (main.model.as_deref(), main.tools.len()),
        (Some("claude-x"), 2)
    );
}

#[test]
fn claude_code_that_ran_out_of_turns() {
    let text = r#"[{"type": "assistant", "message": {"content": [{"type": "text", "text": "Hm."}]}}, {"type": "result", "subtype": "error_max_turns", "is_error": true}]"#;
    let episode = only(text);
    assert_eq!(told(&episode), "assistant:Hm.");
    assert!(matches!(episode.ending, Ending::Truncated { .. }));
}

#[test]
fn claude_code_on_the_web() {
    let episode = only(
        r#"{"loglines": [{"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "Count."}}, {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s", "message": {"role": "assistant", "content": [{"type": "text", "text": "One."}]}}]}"#,
    );
    assert_eq!(
        (told(&episode).as_str(), &*episode.id),
        ("assistant:One.", "s")
    );
}

/// Hooks report between messages, and what is said while the model works is attached: both are parents.
#[test]
fn claude_code_skips_lines_that_are_not_messages() {
    let line = |parent: &str, uuid: &str, rest: &str| {
        format!(
            "{{\"parentUuid\": {parent}, \"uuid\": \"{uuid}\", \"sessionId\": \"s\", {rest}}}\n"
        )
    };
    let says = |id: &str, text: &str| {
        format!(
            r#""type": "assistant", "message": {{"id": "{id}", "role": "assistant", "content": "{text}"}}"#
        )
    };
    let hook = r#""type": "progress", "data": {"type": "hook_progress"}"#;
    let text = [
        line("null", "p0", hook),
        line(
            "\"p0\"",
            "u1",
            r#""type": "user", "message": {"role": "user", "content": "Count."}"#,
        ),
        line("\"u1\"", "a1", &says("m1", "One.")),
        line("\"a1\"", "a2", &says("m2", "Given up.")),
        line("\"a1\"", "p1", hook),
        line("\"p1\"", "p2", hook),
        line(
            "\"p2\"",
            "q1",
            r#""type": "attachment", "attachment": {"type": "queued_command", "prompt": "Go on."}"#,
        ),
        line("\"q1\"", "a3", &says("m3", "Two.")),
    ];
    let outcome = imported(&text.concat());
    let [main, branch] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(told(main), "assistant:One. | user:Go on. | assistant:Two.");
    assert_eq!(told(branch), "assistant:One. | assistant:Given up.");
    assert_eq!(branch.links[0].relation, Relation::Branch);
    assert_eq!(main.start.len(), 1);
}

/// The messages that a compaction keeps come after it, and are nevertheless its parents.
#[test]
fn claude_code_continues_after_a_compaction() {
    let line = |kind: &str, uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type": "{kind}", "uuid": "{uuid}", "sessionId": "s", {parent}, "message": {{"role": "{kind}", "content": "{text}"}}}}"#
        )
    };
    let after = |parent: &str| format!(r#""parentUuid": "{parent}""#);
    let compacted = r#""parentUuid": null, "logicalParentUuid": "a3""#;
    let text = [
        line("user", "u1", r#""parentUuid": null"#, "Start."),
        line("assistant", "a1", &after("u1"), "Given up."),
        line("user", "u2", r#""parentUuid": "u1""#, "Again."),
        line("assistant", "a2", &after("u2"), "Better."),
        line("system", "c1", compacted, "Compacted."),
        line("user", "u3", &after("c1"), "The summary."),
        line("assistant", "a3", &after("u3"), "Kept."),
        line("assistant", "a4", &after("a3"), "Done."),
    ];
    let outcome = imported(&text.join("\n"));
    let said: Vec<String> = outcome.episodes.iter().map(told).collect();
    assert_eq!(
        said,
        [
            "assistant:Better. | system:Compacted. | user:The summary. | assistant:Kept. | assistant:Done.",
            "assistant:Given up."
        ]
    );
}

/// The chosen attempt contains all of them again.
#[test]
fn swe_agent_with_several_attempts() {
    let run = |actions: &str, cost: &str, more: &str| {
        format!(
            r#""environment": "main", "trajectory": [{actions}], "history": [], "info": {{"exit_status": "submitted", "model_stats": {{"instance_cost": {cost}, "api_calls": 1}}{more}}}, "replay_config": "{{\"problem_statement\": {{\"id\": \"box-1\"}}}}""#
        )
    };
    let step =
        |action: &str| format!(r#"{{"action": "{action}", "observation": "a", "thought": "t"}}"#);
    let first = run(&step("ls"), "0.5", "");
    let actions = format!("{}, {}", step("pwd"), step("submit"));
    let second = run(&actions, "0.25", "");
    let chosen = run(&actions, "0.75", r#", "best_attempt_idx": 1"#);
    let text = format!(r#"{{"attempts": [{{{first}}}, {{{second}}}], {chosen}}}"#);
    let outcome = imported(&text);
    assert_eq!(
        shapes(&outcome),
        [Shape(1, 1, 0, None), Shape(2, 2, 0, None)]
    );
    let named: Vec<_> = outcome
        .episodes
        .iter()
        .map(|one| (&*one.name, one.usage().cost))
        .collect();
    assert_eq!(
        named,
        [
            ("box-1, attempt 1", Some(0.5)),
            ("box-1, attempt 2", Some(0.75))
        ]
    );
    // None was chosen yet.
    let outcome = imported(&format!(r#"{{"attempts": [{{{first}}}, {{{second}}}]}}"#));
    assert_eq!(outcome.episodes.len(), 2);
    assert_eq!(format(&outcome.episodes[0]), "swe-agent");
}

/// A page of a server's answer, whose events say what was spent, and need not say where they are from.
#[test]
fn openhands_pages_of_events() {
    let spent = |cost: &str| {
        format!(
            r#"{{"accumulated_cost": {cost}, "accumulated_token_usage": {{"prompt_tokens": 10, "completion_tokens": 2}}}}"#
        )
    };
    let text = format!(
        r#"{{"items": [{{"kind": "MessageEvent", "llm_message": {{"role": "user", "content": [{{"type": "text", "text": "Go"}}]}}}}, {{"kind": "ActionEvent", "tool_name": "terminal", "tool_call_id": "k1", "action": {{"command": "ls", "kind": "TerminalAction"}}}}, {{"kind": "ObservationEvent", "tool_name": "terminal", "tool_call_id": "k1", "observation": {{"content": [{{"type": "text", "text": "a"}}]}}}}, {{"kind": "ConversationStateUpdateEvent", "key": "stats", "value": {{"usage_to_metrics": {{"agent": {}, "condenser": {}}}}}}}, {{"kind": "MessageEvent", "source": "agent", "llm_message": {{"content": [{{"type": "text", "text": "Done."}}]}}}}], "next_page_id": null}}"#,
        spent("0.5"),
        spent("0.25")
    );
    let episode = only(&text);
    assert_eq!(
        told(&episode),
        ">terminal{\"command\":\"ls\"} | terminal<a | assistant:Done."
    );
    let usage = episode.usage();
    assert_eq!((usage.input, usage.cost), (Some(20), Some(0.75)));
}

/// Answers that come in another order than the calls, each with a list that names one.
#[test]
fn swe_agent_histories_name_calls_in_lists() {
    let call = |id: &str| {
        format!(
            r#"{{"id": "{id}", "type": "function", "function": {{"name": "bash", "arguments": "{{}}"}}}}"#
        )
    };
    let answer = |id: &str| {
        format!(r#"{{"role": "tool", "content": "of {id}", "tool_call_ids": ["{id}"]}}"#)
    };
    let text = format!(
        r#"{{"history": [{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": "b", "tool_calls": [{}, {}]}}, {}, {}]}}"#,
        call("k1"),
        call("k2"),
        answer("k2"),
        answer("k1")
    );
    let episode = only(&text);
    assert_linked(&episode);
    assert_eq!(told(&episode), "b>bash{}+bash{} | bash<of k2 | bash<of k1");
    let answers: Vec<_> = episode.steps[0]
        .messages()
        .iter()
        .filter_map(|message| match message {
            AnyMessage::Response(response) => Some(&*response.tool_call_id),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["k2", "k1"]);
}

/// Evaluations of the first versions: pairs, an answer of nothing, and verdicts in their own words.
#[test]
fn openhands_evaluations_of_old() {
    let pair = |action: &str, observation: &str| format!("[{action}, {observation}]");
    let nothing =
        r#"{"message": "No observation", "observation": "null", "content": "", "extras": {}}"#;
    let line = |verdict: &str| {
        let history = [
            pair(
                r#"{"source": "user", "action": "message", "args": {"content": "Go."}}"#,
                nothing,
            ),
            pair(
                r#"{"action": "run", "args": {"command": "ls", "thought": "Let me see."}}"#,
                r#"{"observation": "run", "content": "a", "extras": {"exit_code": 0}}"#,
            ),
            pair(r#"{"action": "finish", "args": {"outputs": {}}}"#, nothing),
        ];
        only(&format!(
            r#"{{"task_id": "7", "metadata": {{"agent_class": "CodeActAgent", "model_name": "m"}}, "history": [{}], "error": null, "test_result": {verdict}}}"#,
            history.join(", ")
        ))
    };
    let episode = line("null");
    assert_linked(&episode);
    assert_eq!(
        told(&episode),
        "Let me see.>run{\"command\":\"ls\"} | run<a | >finish{\"outputs\":{}}"
    );
    assert_eq!((episode.model.as_deref(), &*episode.id), (Some("m"), "7"));
    assert_eq!(episode.ending, Ending::Done);
    for (verdict, expected) in [
        (
            r#"{"result": {"passed": 1, "status": "success"}, "metadata": {"timeout": 10}}"#,
            "passed=1",
        ),
        (r#"{"result": false}"#, "result=false"),
        (
            r#"{"id": "x", "is_correct": true, "seconds": 3}"#,
            "is_correct=true",
        ),
        ("0.5", "test_result=0.5"),
        (
            r#"{"git_patch": "", "report": {"resolved": true}}"#,
            "resolved=true",
        ),
    ] {
        let scores = line(verdict).scores.into_iter();
        let scores: Vec<_> = scores
            .map(|score| format!("{}={}", score.name, score.value.to_compact_text()))
            .collect();
        assert_eq!(scores.join(" "), expected);
    }
}

/// Harnesses write 0 where they do not know a price.
#[test]
fn a_cost_of_zero_is_unknown() {
    for (cost, expected) in [("0.0", None), ("0.25", Some(0.25))] {
        let text = format!(
            r#"{{"environment": "main", "trajectory": [{{"action": "ls", "observation": "a", "thought": "t"}}], "history": [], "info": {{"exit_status": "submitted", "model_stats": {{"instance_cost": {cost}, "tokens_sent": 10, "tokens_received": 2, "api_calls": 1}}}}}}"#
        );
        let usage = only(&text).usage();
        assert_eq!((usage.cost, usage.input), (expected, Some(10)));
    }
}
