//! What files of the known tools look like besides the fixtures: older and newer versions, members that are missing
//! or null, numbers as texts, what Python's JSON allows, other shapes of messages.

use volary_core::json::Json;
use volary_episode::{Ending, Episode, Relation};
use volary_formats::import::{ImportOutcome, InputFile, import};

use crate::tools::{assert_linked, format, shapes, told, unreadable};
use crate::{Shape, fixture, shape};

fn named(name: &str, content: impl Into<Vec<u8>>) -> InputFile {
    InputFile {
        name: Some(name.into()),
        bytes: content.into(),
    }
}

/// The result of importing a text.
pub fn imported(text: &str) -> ImportOutcome {
    imported_as("some.json", text)
}

/// The only episode of a text, of which all was read.
pub fn only(text: &str) -> Episode {
    let mut outcome = imported(text);
    assert_eq!(unreadable(&outcome), 0, "{:?}", outcome.notes);
    assert_eq!(outcome.episodes.len(), 1);
    outcome.episodes.remove(0)
}

fn imported_as(name: &str, content: impl Into<Vec<u8>>) -> ImportOutcome {
    match import(&[named(name, content)]) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Each text, the format as which it is read, its only episode in numbers, and what was done in it.
const VARIANTS: &[(&str, &str, Shape, &str)] = &[
    // Python's JSON, numbers as texts, nulls.
    (
        r#"[{"task_id": "7", "reward": "1.0", "info": null, "trial": "0", "traj": [null, {"role": "user", "content": "a"}, {"role": "assistant", "content": null, "tool_calls": null}]}]"#,
        "tau-bench",
        Shape(1, 0, 0, Some(1.0)),
        "assistant:",
    ),
    (
        r#"[{"task_id": 1, "reward": 0.5, "info": {"cost": -Infinity}, "traj": []}]"#,
        "tau-bench",
        Shape(0, 0, 0, Some(0.5)),
        "",
    ),
    (
        r#"[{"traj": [{"role": "assistant", "content": "x"}], "reward": true}]"#,
        "tau-bench",
        Shape(1, 0, 0, Some(1.0)),
        "assistant:x",
    ),
    (
        r#"{"simulations": [{"id": 3, "task_id": 4, "trial": null, "messages": [{"role": "assistant", "content": "Hi", "tool_calls": null, "cost": "0.5"}], "reward_info": {"reward": "0.25"}}], "info": null, "tasks": null}"#,
        "tau2",
        Shape(1, 0, 0, Some(0.25)),
        "assistant:Hi",
    ),
    // verifiers: older members, texts for messages, messages as texts.
    (
        r#"{"id": 5, "prompt": "What?", "completion": "That.", "reward": "0.5", "total_ms": 1500, "answer": "x", "metrics": null, "task": "t"}"#,
        "verifiers-results",
        Shape(1, 0, 0, Some(0.5)),
        "assistant:That.",
    ),
    (
        r#"[{"example_id": 1, "prompt": "[{\"role\": \"user\", \"content\": \"a\"}]", "completion": "[{\"role\": \"assistant\", \"content\": \"b\"}]", "reward": null}]"#,
        "verifiers-results",
        Shape(1, 0, 0, None),
        "assistant:b",
    ),
    (
        r#"{"id": 1, "task": "t", "nodes": [{"parent": null, "message": {"role": "assistant", "content": "x"}}], "rewards": {"a": {"score": "0.5", "weight": "2"}, "b": true}}"#,
        "verifiers-traces",
        Shape(1, 0, 0, Some(2.0)),
        "assistant:x",
    ),
    // ATIF: the least that it may be, and what it should not be.
    (
        r#"{"schema_version": "ATIF-v1.0", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": []}"#,
        "atif",
        Shape(0, 0, 0, None),
        "",
    ),
    (
        r#"{"schema_version": "ATIF-v1.7", "trajectory_id": "t", "steps": [{"step_id": "1", "source": "agent", "message": null, "timestamp": 1760000000, "tool_calls": {"tool_call_id": 9, "function_name": "f", "arguments": null}, "observation": "seen", "metrics": {"prompt_tokens": "12", "cost_usd": "0.5"}, "llm_call_count": 1, "is_copied_context": null}]}"#,
        "atif",
        Shape(1, 1, 0, None),
        ">f{} | f<seen",
    ),
    (
        r#"{"schema_version": "ATIF-v1.6", "steps": [{"step_id": 1, "source": "agent", "message": [{"type": "text", "text": "a"}, {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}], "observation": {"results": [{"content": null}]}}]}"#,
        "atif",
        Shape(1, 0, 0, None),
        "assistant:a",
    ),
    // ldp: a bare message for an action, nothing known.
    (
        "\"t\"\n{\"timestep\": 0, \"agent_state\": null, \"next_agent_state\": null, \"observation\": null, \"next_observation\": [], \"action\": {\"role\": \"assistant\", \"content\": \"x\"}, \"reward\": \"2\", \"truncated\": null, \"done\": true}\n",
        "ldp",
        Shape(1, 0, 0, Some(2.0)),
        "assistant:x",
    ),
    // SWE-agent: nothing around, nulls, what was sent at each step.
    (
        r#"{"trajectory": [{"action": "ls", "observation": null, "state": null, "thought": null, "response": "I list.", "messages": [{"role": "system", "content": "s"}], "execution_time": "0.5"}]}"#,
        "swe-agent",
        Shape(1, 1, 0, None),
        "I list.>bash{\"command\":\"ls\"}",
    ),
    // mini-swe-agent with OpenAI's Responses.
    (
        r#"{"info": {"exit_status": "Submitted", "mini_version": "2.0"}, "messages": [{"role": "user", "content": "Fix it."}, {"object": "response", "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}, {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": "{\"command\": \"ls\"}"}], "extra": {"cost": 0.5, "actions": [{"command": "ls", "tool_call_id": "c1"}]}}, {"type": "function_call_output", "call_id": "c1", "output": "a.py", "extra": {"returncode": 0}}], "trajectory_format": "mini-swe-agent-1.1"}"#,
        "mini-swe-agent",
        Shape(1, 1, 0, None),
        ">bash{\"command\":\"ls\"} | bash<a.py",
    ),
    // mini-swe-agent: bare messages whose prompts say how a command is marked; the end that was submitted; a person's words.
    (
        r#"[{"role": "system", "content": "```mswea_bash_command\nyour command\n``` and at last echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}, {"role": "assistant", "content": "```bash\nls\n```"}, {"role": "user", "content": "One action!"}, {"role": "assistant", "content": "```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"}, {"role": "user", "content": ""}]"#,
        "mini-swe-agent",
        Shape(2, 1, 0, None),
        "assistant:```bash\nls\n``` | user:One action! | ```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```>bash{\"command\":\"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\"} | bash<",
    ),
    (
        r#"{"info": {"exit_status": "Submitted", "config": {"agent": {"action_regex": "<run>(.*?)</run>"}}}, "trajectory_format": "mini-swe-agent-1", "messages": [{"role": "assistant", "content": "<run>ls</run>"}, {"role": "user", "content": "The user added a new task: Go on."}, {"role": "assistant", "content": "<run>pwd</run>"}, {"role": "assistant", "content": "Hm."}, {"role": "user", "content": "x"}]}"#,
        "mini-swe-agent",
        Shape(3, 2, 0, None),
        "<run>ls</run>>bash{\"command\":\"ls\"} | user:The user added a new task: Go on. | <run>pwd</run>>bash{\"command\":\"pwd\"} | assistant:Hm. | user:x",
    ),
    // OpenHands: a download, and pairs of action and observation.
    (
        r#"{"trajectory": [{"id": 0, "timestamp": "2026-01-01T00:00:00", "source": "user", "action": "message", "args": {"content": "Go."}}, {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}}, {"id": 2, "source": "agent", "observation": "run", "cause": 1, "content": "a", "extras": null}]}"#,
        "openhands",
        Shape(1, 1, 0, None),
        ">run{\"command\":\"ls\"} | run<a",
    ),
    (
        r#"[[{"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}}, {"id": 2, "source": "agent", "observation": "run", "cause": 1, "content": "a"}]]"#,
        "openhands",
        Shape(1, 1, 0, None),
        ">run{\"command\":\"ls\"} | run<a",
    ),
    // Claude Code as a list.
    (
        r#"[{"type": "summary", "summary": "Hello"}, {"type": "user", "uuid": "1", "parentUuid": null, "sessionId": "s", "message": {"role": "user", "content": "Hi"}}, {"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s", "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes?", "citations": null}]}}]"#,
        "claude-code",
        Shape(1, 0, 0, None),
        "assistant:Yes?",
    ),
    // slime: the status as the enumeration prints itself.
    (
        r#"{"prompt": "a", "response": "b", "response_length": 1, "reward": 1, "status": "Status.TRUNCATED"}"#,
        "slime",
        Shape(1, 0, 0, Some(1.0)),
        "assistant:b",
    ),
    // Inspect: the oldest samples with events, a score that could not be given.
    (
        r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "epoch": 1, "input": "q", "target": "a", "messages": [{"role": "user", "content": "attachment://x"}, {"role": "assistant", "content": "a", "source": "generate"}], "output": {"choices": []}, "scores": {"one": {"value": NaN}, "two": {"value": "P"}}, "transcript": {"events": [{"event": "info", "data": 1}], "content": {"x": "A long question"}}}]}"#,
        "inspect",
        Shape(1, 0, 0, Some(0.5)),
        "assistant:a",
    ),
    // Inspect: a tool that the server ran.
    (
        r#"{"id": "s", "epoch": 1, "input": "q", "target": "a", "output": {}, "messages": [{"role": "assistant", "content": [{"type": "tool_use", "tool_type": "web_search", "id": "w1", "name": "search", "arguments": "{\"q\": \"x\"}", "result": "found", "error": null}, {"type": "text", "text": "Here."}]}], "score": {"value": "C"}}"#,
        "inspect",
        Shape(1, 1, 0, Some(1.0)),
        "Here.>search{\"q\":\"x\"} | search<found",
    ),
    // Chat: LangChain, Gemini, OpenAI's Responses, Vercel's AI SDK, tables.
    (
        r#"[{"type": "human", "data": {"content": "Hi", "type": "human"}}, {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}]}}, {"type": "tool", "data": {"content": "1", "tool_call_id": "c"}}]"#,
        "openai-chat",
        Shape(1, 1, 0, None),
        ">f{\"a\":1} | f<1",
    ),
    (
        r#"{"messages": [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"text": "Hm.", "thought": true}, {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "x"}]}, {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {"b": 2}}}]}, {"role": "model", "parts": [{"text": "Done."}]}]}"#,
        "openai-chat",
        Shape(2, 1, 0, None),
        ">f{\"a\":1} | f<{\"b\": 2} | assistant:Done.",
    ),
    (
        r#"[{"role": "user", "content": "Hi"}, {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me.", "annotations": []}]}, {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "1"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]}]"#,
        "openai-chat",
        Shape(2, 1, 0, None),
        "Let me.>f{} | f<1 | assistant:One.",
    ),
    (
        r#"{"messages": [{"role": "assistant", "content": [{"type": "reasoning", "text": "Hm."}, {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {"a": 1}}]}, {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "f", "output": {"type": "text", "value": "1"}}]}]}"#,
        "openai-chat",
        Shape(1, 1, 0, None),
        ">f{\"a\":1} | f<1",
    ),
    (
        r#"{"instance_id": "x__1", "resolved": true, "messages": "[{\"role\": \"user\", \"content\": \"Fix it.\"}, {\"role\": \"assistant\", \"content\": \"Done.\"}]"}"#,
        "openai-chat",
        Shape(1, 0, 0, None),
        "assistant:Done.",
    ),
    (
        r#"{"instance_id": "x__1", "trajectory": [{"role": "system", "system_prompt": "Be brief.", "text": null}, {"role": "user", "text": "Fix it."}, {"role": "ai", "text": "Done.", "mask": false}]}"#,
        "openai-chat",
        Shape(1, 0, 0, None),
        "assistant:Done.",
    ),
    (
        r#"{"conversations": {"from": ["human", "gpt"], "value": ["Hi", "Hello."]}, "score": 0.5}"#,
        "openai-chat",
        Shape(1, 0, 0, Some(0.5)),
        "assistant:Hello.",
    ),
    (
        r#"{"messages": {"role": ["user", "assistant", "tool"], "content": ["Hi", null, "1"], "tool_call_id": [null, null, "c"], "tool_calls": [null, [{"id": "c", "function": {"name": "f", "arguments": "{}"}}], null]}}"#,
        "openai-chat",
        Shape(1, 1, 0, None),
        ">f{} | f<1",
    ),
    // Ids as numbers, arguments written out twice, parts with what says how they were sent.
    (
        r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}, {"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": "f", "arguments": "\"{\\\"a\\\": 1}\""}}, {"id": 2, "function": {"name": "g", "arguments": {}}}]}, {"role": "tool", "tool_call_id": 2, "content": "two"}, {"role": "tool", "tool_call_id": 1, "content": "one"}]}"#,
        "openai-chat",
        Shape(1, 2, 0, None),
        ">f{\"a\":1}+g{} | g<two | f<one",
    ),
    // Huge and odd numbers, half a character.
    (
        r#"{"messages": [{"role": "assistant", "content": "half \ud83d of it"}], "usage": {"prompt_tokens": 123456789012345678901234567890123456789012, "completion_tokens": -5}, "reward": 1e300}"#,
        "openai-chat",
        Shape(1, 0, 0, Some(1e300)),
        "assistant:half \u{fffd} of it",
    ),
    // OpenTelemetry as an SDK prints it: one span after the other, indented; numbered attributes.
    (
        "{\n \"name\": \"chat\",\n \"context\": {\"trace_id\": \"0x1\", \"span_id\": \"0xa\"},\n \"parent_id\": null,\n \"start_time\": \"2026-01-01T00:00:00Z\",\n \"end_time\": \"2026-01-01T00:00:01Z\",\n \"attributes\": {\n  \"gen_ai.request.model\": \"m\",\n  \"gen_ai.prompt.0.role\": \"user\",\n  \"gen_ai.prompt.0.content\": \"Hi\",\n  \"gen_ai.completion.0.role\": \"assistant\",\n  \"gen_ai.completion.0.tool_calls.0.name\": \"f\",\n  \"gen_ai.completion.0.tool_calls.0.id\": \"c\",\n  \"gen_ai.completion.0.tool_calls.0.arguments\": \"{}\"\n }\n}\n{\n \"name\": \"execute_tool f\",\n \"context\": {\"trace_id\": \"0x1\", \"span_id\": \"0xb\"},\n \"start_time\": \"2026-01-01T00:00:02Z\",\n \"attributes\": {\"gen_ai.operation.name\": \"execute_tool\", \"gen_ai.tool.name\": \"f\", \"gen_ai.tool.call.id\": \"c\", \"gen_ai.tool.call.result\": \"1\"},\n \"status\": {\"status_code\": \"ERROR\", \"description\": \"late\"}\n}\n",
        "open-telemetry",
        Shape(1, 1, 0, None),
        ">f{} | f<1",
    ),
];

#[test]
fn other_versions_are_read() {
    let mut wrong = Vec::new();
    for (text, expected, expected_shape, expected_told) in VARIANTS {
        let outcome = imported_as("some.json", *text);
        let [episode] = outcome.episodes.as_slice() else {
            wrong.push(format!("{text}: {} episodes", outcome.episodes.len()));
            continue;
        };
        assert_linked(episode);
        let found = (
            format(episode),
            shape(episode),
            told(episode),
            unreadable(&outcome),
        );
        let wanted = (*expected, *expected_shape, (*expected_told).to_owned(), 0);
        if found != wanted {
            wrong.push(format!(
                "{text}\n{found:?}\n{wanted:?}\n{:?}",
                outcome.notes
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The same with a mark at the start, Windows' line ends, empty lines, and in other encodings.
#[test]
fn marks_and_line_ends_change_nothing() {
    for (text, ..) in VARIANTS {
        let plain = imported_as("some.json", *text);
        let windows = text.replace('\n', "\r\n") + "\r\n\r\n";
        let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let marked = format!("\u{feff}{text}");
            marked.encode_utf16().flat_map(bytes).collect()
        };
        for bytes in [
            format!("\u{feff}{windows}").into_bytes(),
            format!(" \n\n{text}\n\n").into_bytes(),
            wide(u16::to_le_bytes),
            wide(u16::to_be_bytes),
        ] {
            let outcome = imported_as("some.json", bytes);
            assert_eq!(shapes(&outcome), shapes(&plain), "{text}");
            assert_eq!(
                told(&outcome.episodes[0]),
                told(&plain.episodes[0]),
                "{text}"
            );
        }
    }
}

#[test]
fn a_reward_that_is_none_is_not_zero() {
    let outcome = imported_as(
        "a.jsonl",
        "\"t\"\n{\"timestep\": 0, \"observation\": [], \"next_observation\": [], \"action\": null, \"reward\": NaN}\n",
    );
    assert!(outcome.episodes[0].reward().unwrap().is_nan());
}

#[test]
fn names_of_files_keep_their_versions() {
    let text = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}";
    for (name, expected) in [
        ("gpt-4.1-run.json", "gpt-4.1-run"),
        ("day/run.traj.json", "run"),
        ("runs\\a.b.jsonl", "a"),
        (".json", ".json"),
        ("v1.2", "v1.2"),
    ] {
        assert_eq!(&*imported_as(name, text).episodes[0].id, expected, "{name}");
    }
}

#[test]
fn a_subagent_in_a_file_of_its_own_knows_its_session() {
    let line = |agent: &str, uuid: &str| {
        format!(
            "{{\"type\": \"assistant\", \"uuid\": \"{uuid}\", \"sessionId\": \"s\"{agent}, \"message\": {{\"role\": \"assistant\", \"content\": \"x\"}}}}"
        )
    };
    let agent = line(", \"isSidechain\": true, \"agentId\": \"a1\"", "2");
    let files = [
        named("p/s/subagents/agent-a1.jsonl", agent),
        named("p/s.jsonl", line("", "1")),
    ];
    let outcome = import(&files).unwrap();
    let [agent, session] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!((&*agent.id, &*session.id), ("s/a1", "s"));
    assert_eq!(agent.links[0].relation, Relation::Parent);
    assert_eq!(
        (session.links[0].relation, &session.links[0].episode),
        (Relation::Subagent, &agent.id)
    );
}

#[test]
fn an_older_verdict_of_a_trial_counts() {
    let mut trajectory = fixture("atif.json");
    trajectory.name = Some("jobs/one/trial/agent/trajectory.json".into());
    let result = named(
        "jobs/one/trial/result.json",
        r#"{"task_name": "boxes", "verifier_result": {"reward": "0.5"}, "exception_info": {"exception_type": "Timeout"}}"#,
    );
    let outcome = import(&[trajectory, result]).unwrap();
    assert_eq!(outcome.episodes[0].reward(), Some(0.5));
    assert_eq!(outcome.episodes[0].errors, ["Timeout".into()]);
}

#[test]
fn an_agent_within_an_agent_is_an_episode_of_its_own() {
    let span = |id: &str, parent: &str, attributes: &str| {
        format!(
            "{{\"traceId\": \"t\", \"spanId\": \"{id}\", \"parentSpanId\": \"{parent}\", \"attributes\": {{{attributes}}}}}"
        )
    };
    let agent = "\"gen_ai.operation.name\": \"invoke_agent\"";
    let turn = "\"gen_ai.operation.name\": \"chat\", \"gen_ai.output.messages\": [{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"x\"}]}]";
    let lines = [
        span("1", "", agent),
        span("2", "1", turn),
        span("3", "1", agent),
        span("4", "3", turn),
        // Two that are each other's parents, and one whose parent is missing.
        span("5", "6", turn),
        span("6", "5", turn),
        span("7", "nowhere", turn),
    ];
    let outcome = imported_as("spans.jsonl", lines.join("\n"));
    let told: Vec<(&str, usize, usize)> = outcome
        .episodes
        .iter()
        .map(|episode| (&*episode.id, episode.steps.len(), episode.links.len()))
        .collect();
    assert_eq!(told, [("t/1", 4, 1), ("t/3", 1, 1)]);
    assert_eq!(outcome.episodes[0].ending, Ending::Done);
}

#[test]
fn small_numbers_of_older_files_are_found() {
    let text = VARIANTS[4].0;
    let outcome = imported_as("results.jsonl", text);
    let episode = &outcome.episodes[0];
    assert_eq!(episode.seconds, Some(1.5));
    assert_eq!(episode.task().map(|task| &*task.id), Some("5"));
    let odd = VARIANTS
        .iter()
        .find(|(text, ..)| text.contains("\"step_id\": \"1\""));
    let outcome = imported_as("a.json", odd.unwrap().0);
    let step = &outcome.episodes[0].steps[0];
    assert_eq!(step.details.started, Some(1_760_000_000.0));
    let usage = step.details.usage.unwrap();
    assert_eq!((usage.input, usage.cost), (Some(12), Some(0.5)));
    assert_eq!(step.extras.get("llm_call_count"), Some(&Json::from(1)));
}
