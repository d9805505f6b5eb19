//! What the writers of the formats do in cases that are rare: runs that broke down, were cut short, or wrote a line twice.

use volary_episode::{Ending, Usage};
use volary_formats::import::{ImportOutcome, InputFile, import};

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

    // A line of older ones is the trace itself.
    let outcome = read(
        r#"{"id": "t", "task": {"type": "Maze", "data": {}}, "nodes": [{"message": {"role": "user", "content": "Go."}}], "rewards": {"way": 0.5}, "stop_condition": "context_length", "errors": [], "timing": {"start": 1.0, "generation": {"start": 1.0, "end": 4.0}}}"#,
    );
    let [old] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert!(matches!(old.ending, Ending::Truncated { .. }));
    assert_eq!((old.reward(), old.seconds), (Some(0.5), Some(3.0)));

    // A run without a result is reported by itself, too.
    let outcome = read(&(lines[3].clone() + "\n"));
    assert_eq!(outcome.episodes.len(), 1);
}

/// A line of a session: its id, what it follows, and the rest.
fn event(id: &str, parent: &str, rest: &str) -> String {
    format!(
        r#"{{"uuid": "{id}", "parentUuid": {parent}, "sessionId": "s", "isSidechain": false, {rest}}}"#
    )
}

fn asked(id: &str, parent: &str, text: &str) -> String {
    let rest = format!(r#""type": "user", "message": {{"role": "user", "content": "{text}"}}"#);
    event(id, parent, &rest)
}

fn answered(id: &str, parent: &str, text: &str) -> String {
    let rest = format!(
        r#""type": "assistant", "message": {{"id": "m{id}", "role": "assistant", "content": [{{"type": "text", "text": "{text}"}}]}}"#
    );
    event(id, parent, &rest)
}

#[test]
fn claude_code_lines_that_occur_twice() {
    let lines = [
        asked("1", "null", "Hello"),
        asked("1", "null", "Hello"),
        answered("2", r#""1""#, "Hi."),
        answered("2", r#""1""#, "Hi."),
        // Another word under an id that was there is kept.
        asked("1", "null", "Hello?"),
    ];
    let outcome = read(&lines.join("\n"));
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!((episode.start.len(), episode.steps.len()), (1, 1));
    assert_eq!(episode.steps[0].messages().len(), 1);
}

#[test]
fn claude_code_calls_that_failed_are_no_branch() {
    let failed = r#""type": "system", "subtype": "api_error", "error": {"message": "busy"}"#;
    let lines = [
        asked("1", "null", "Hello"),
        event("2", r#""1""#, failed),
        event("3", r#""2""#, failed),
        answered("4", r#""1""#, "Hi."),
    ];
    let outcome = read(&lines.join("\n"));
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!((episode.start.len(), episode.steps.len()), (3, 1));
}

#[test]
fn claude_code_branches_know_where_they_leave() {
    let lines = [
        asked("1", "null", "One"),
        answered("2", r#""1""#, "First."),
        asked("3", r#""2""#, "given up"),
        answered("4", r#""3""#, "Never mind."),
        asked("5", r#""2""#, "Two"),
        answered("6", r#""5""#, "Second."),
        asked("7", r#""6""#, "given up again"),
        asked("8", r#""6""#, "Three"),
        answered("9", r#""8""#, "Third."),
    ];
    let outcome = read(&lines.join("\n"));
    let steps: Vec<_> = outcome.episodes.iter().map(|one| one.steps.len()).collect();
    assert_eq!(steps, [3, 2, 2]);
    let left: Vec<_> = outcome.episodes[1..]
        .iter()
        .map(|one| one.links[0].step)
        .collect();
    assert_eq!(left, [Some(0), Some(1)]);
}

#[test]
fn mini_swe_agent_messages_have_times() {
    let outcome = read(
        r#"{"trajectory_format": "mini-swe-agent-1.1", "info": {"exit_status": "Submitted"}, "messages": [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}}], "extra": {"timestamp": 1760000000.5}}, {"role": "tool", "tool_call_id": "c1", "content": "a.py", "extra": {"returncode": 0, "timestamp": 1760000002.0}}, {"role": "assistant", "content": "Done.", "extra": {"timestamp": 1760000004.0}}]}"#,
    );
    let episode = &outcome.episodes[0];
    assert_eq!(episode.steps[0].seconds, Some(1.5));
    assert_eq!(episode.started, Some(1_760_000_000.5));
    assert_eq!(episode.seconds, Some(3.5));
}

#[test]
fn openhands_calls_of_one_answer_are_one_action() {
    let act = |id: &str, answer: &str, thought: &str| {
        format!(
            r#"{{"kind": "ActionEvent", "source": "agent", "thought": [{{"type": "text", "text": "{thought}"}}], "tool_name": "look", "tool_call_id": "{id}", "tool_call": {{"id": "{id}", "name": "look", "arguments": "{{}}"}}, "llm_response_id": "{answer}", "summary": "{id}"}}"#
        )
    };
    let see = |id: &str| {
        format!(
            r#"{{"kind": "ObservationEvent", "source": "environment", "tool_name": "look", "tool_call_id": "{id}", "observation": {{"content": "saw {id}"}}}}"#
        )
    };
    let lines = [
        act("a", "r1", "Both."),
        act("b", "r1", ""),
        see("b"),
        see("a"),
        // Of the same answer, but after something was seen.
        act("c", "r1", ""),
        see("c"),
        act("d", "r2", ""),
    ];
    let outcome = read(&lines.join("\n"));
    let episode = &outcome.episodes[0];
    assert_eq!(shape(episode), crate::Shape(3, 4, 0, None));
    assert_eq!(episode.steps[0].messages().len(), 2);
    let others = episode.steps[0].extras.get("other_calls").unwrap();
    assert_eq!(others.as_list().unwrap().len(), 1);
}

/// A trajectory that goes on in another file and has a subagent in a third.
fn trajectory(session: &str, goes_on: &str, subagent: &str) -> String {
    let goes_on = match goes_on {
        "" => String::new(),
        file => format!(r#", "continued_trajectory_ref": "{file}""#),
    };
    let observation = match subagent {
        "" => String::new(),
        file => format!(
            r#", "observation": {{"results": [{{"subagent_trajectory_ref": [{{"session_id": "x", "trajectory_path": "{file}"}}]}}]}}"#
        ),
    };
    format!(
        r#"{{"schema_version": "ATIF-v1.6", "session_id": "{session}", "agent": {{"name": "a", "version": "1"}}, "steps": [{{"step_id": 1, "source": "agent", "message": "m"{observation}}}]{goes_on}}}"#
    )
}

fn trial(files: &[(&str, &str)]) -> ImportOutcome {
    let files: Vec<InputFile> = files
        .iter()
        .map(|(name, text)| InputFile {
            name: Some((*name).into()),
            bytes: text.as_bytes().to_vec(),
        })
        .collect();
    import(&files).unwrap()
}

#[test]
fn the_verdict_of_a_trial_counts_once() {
    let outcome = trial(&[
        (
            "t/result.json",
            r#"{"task_name": "k", "trial_name": "k__1", "verifier_result": {"rewards": {"reward": 1.0}}}"#,
        ),
        (
            "t/agent/trajectory.cont-1.json",
            &trajectory("s-cont-1", "", ""),
        ),
        (
            "t/agent/trajectory.json",
            &trajectory("s", "trajectory.cont-1.json", "trajectory.sum.json"),
        ),
        ("t/agent/trajectory.sum.json", &trajectory("s-sum", "", "")),
    ]);
    let told: Vec<_> = outcome
        .episodes
        .iter()
        .map(|episode| (&*episode.id, episode.reward(), episode.links.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("s-cont-1", None, 1),
            ("s", Some(1.0), 2),
            ("s-sum", None, 1)
        ]
    );
    assert!(outcome.episodes.iter().all(|one| one.task().is_some()));
}

#[test]
fn the_steps_of_a_trial_have_verdicts_of_their_own() {
    let outcome = trial(&[
        (
            "t/result.json",
            r#"{"task_name": "k", "trial_name": "k__1", "verifier_result": null, "step_results": [{"step_name": "one", "verifier_result": {"rewards": {"reward": 1.0}}}, {"step_name": "two", "verifier_result": {"rewards": {"reward": 0.0}}, "exception_info": {"exception_type": "Timeout"}}]}"#,
        ),
        (
            "t/steps/one/agent/trajectory.json",
            &trajectory("a", "", ""),
        ),
        (
            "t/steps/two/agent/trajectory.json",
            &trajectory("b", "", ""),
        ),
    ]);
    let told: Vec<_> = outcome
        .episodes
        .iter()
        .map(|episode| (&*episode.name, episode.reward(), episode.errors.len()))
        .collect();
    assert_eq!(
        told,
        [("k__1, one", Some(1.0), 0), ("k__1, two", Some(0.0), 1)]
    );
}

#[test]
fn verifiers_rollouts_have_start_times_and_stop_reasons() {
    let line = |stop: &str| {
        format!(
            r#"{{"example_id": 1, "prompt": [{{"role": "user", "content": "Go."}}], "completion": [{{"role": "assistant", "content": "Go"}}], "reward": 0.0, "is_completed": true, "is_truncated": true, "stop_condition": "{stop}", "timing": {{"start_time": 1760000000.5, "total": 2.0}}}}"#
        )
    };
    let outcome = read(&[line("no_tools_called"), line("max_turns_reached")].join("\n"));
    let reasons: Vec<_> = outcome
        .episodes
        .iter()
        .map(|episode| match &episode.ending {
            Ending::Truncated { reason } => &**reason,
            _ => "",
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "It was cut off by a limit.",
            "It was cut off by max_turns_reached."
        ]
    );
    assert_eq!(outcome.episodes[0].started, Some(1_760_000_000.5));
}

#[test]
fn claude_code_knows_at_which_step_a_subagent_worked_and_when_the_model_was_not_reached() {
    let called = r#""type": "assistant", "message": {"id": "m2", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {}}]}"#;
    let result = r#""type": "user", "toolUseResult": {"agentId": "a1"}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Found."}]}"#;
    let failed = r#""type": "assistant", "isApiErrorMessage": true, "message": {"id": "m4", "model": "<synthetic>", "role": "assistant", "content": [{"type": "text", "text": "API Error: 500"}]}"#;
    let said = r#""type": "assistant", "agentId": "a1", "message": {"id": "m9", "role": "assistant", "content": [{"type": "text", "text": "Found."}]}"#;
    let session = [
        asked("1", "null", "Look."),
        event("2", r#""1""#, called),
        event("3", r#""2""#, result),
        event("4", r#""3""#, failed),
    ];
    let agent =
        event("9", "null", said).replace(r#""isSidechain": false"#, r#""isSidechain": true"#);
    let outcome = trial(&[("s.jsonl", &session.join("\n")), ("agent-a1.jsonl", &agent)]);
    let [main, agent] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(main.links.len(), 1);
    assert_eq!(
        (&main.links[0].episode, main.links[0].step),
        (&agent.id, Some(0))
    );
    assert_eq!(agent.links.len(), 1);
    assert_eq!(&*main.steps[1].details.errors[0].message, "API Error: 500");
}

#[test]
fn openhands_states_are_read() {
    let told = |state: &str| {
        let lines = [
            r#"{"id": 1, "source": "user", "action": "message", "args": {"content": "Go."}}"#
                .to_owned(),
            r#"{"id": 2, "source": "agent", "action": "run", "args": {"command": "ls"}}"#
                .to_owned(),
            format!(
                r#"{{"id": 3, "source": "environment", "observation": "agent_state_changed", "content": "", "extras": {{"agent_state": "{state}", "reason": "so it is"}}}}"#
            ),
        ];
        read(&lines.join("\n")).episodes.remove(0).ending
    };
    let crashed = Ending::Crashed {
        message: "so it is".into(),
    };
    assert_eq!(told("error"), crashed);
    assert_eq!(told("finished"), Ending::Done);
    assert_eq!(told("awaiting_user_input"), Ending::Open);
    let update = |status: &str| {
        let lines = [
            r#"{"kind": "MessageEvent", "source": "agent", "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}}"#.to_owned(),
            format!(
                r#"{{"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "execution_status", "value": "{status}"}}"#
            ),
        ];
        read(&lines.join("\n")).episodes.remove(0).ending
    };
    assert_eq!(update("finished"), Ending::Done);
    assert!(matches!(update("stuck"), Ending::Truncated { .. }));
    assert_eq!(update("running"), Ending::Open);
}
