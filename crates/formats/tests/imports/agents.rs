//! Files of agents and of chats, and files that are odd or could be several things.

use volary_analysis::lanes::Lanes;
use volary_core::json::Json;
use volary_episode::Ending;
use volary_formats::import::{InputFile, import};

use crate::tools::{assert_linked, format, read, shapes, told, unreadable};
use crate::{Shape, fixture};

#[test]
fn conversations() {
    let outcome = read("chat.jsonl");
    assert_eq!(
        shapes(&outcome),
        [
            Shape(2, 2, 0, None),
            Shape(1, 0, 0, None),
            Shape(2, 1, 0, None)
        ]
    );
    assert_eq!(unreadable(&outcome), 1);
    let [first, _, shared] = outcome.episodes.as_slice() else {
        panic!()
    };
    assert_linked(first);
    assert_eq!(
        told(first),
        "Let me look.>look{}+zoom{\"(arguments)\":\"not json\"} | zoom<blurred | look<a cat | assistant:A cat."
    );
    assert_eq!(first.metadata.get("split"), Some(&Json::from("train")));
    assert!(first.raw.contains_key("weights") && first.tools.len() == 1);
    assert_linked(shared);
    assert_eq!(told(shared), ">f{\"a\":1} | f<1 | assistant:One.");
    assert_eq!((shared.start.len(), shared.tools.len()), (2, 1));
    // Conversations without ids are named after what was asked.
    let names: Vec<&str> = outcome
        .episodes
        .iter()
        .map(|episode| &*episode.name)
        .collect();
    assert_eq!(names, ["What is it?", "Conversation 2", "Hi"]);
    let bare = br#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]"#;
    let bare = InputFile {
        name: Some("x.json".into()),
        bytes: bare.to_vec(),
    };
    assert_eq!(shapes(&import(&[bare]).unwrap()), [Shape(1, 0, 0, None)]);
}

#[test]
fn swe_agent() {
    let outcome = read("swe-agent.traj");
    assert_eq!(shapes(&outcome), [Shape(3, 2, 4, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "Let me look.\n>bash{\"command\":\"ls\"} | bash<a.py | Opening.>bash{\"command\":\"open a.py\"} | bash<[File: a.py] | \
         assistant:I give up. | user:"
    );
    assert_eq!(
        (episode.start.len(), episode.steps[0].seconds),
        (3, Some(0.5))
    );
    let state = episode.frames.get(2).unwrap().state;
    assert_eq!(state.get("open_file"), Some(&Json::from("a.py")));
    assert_eq!(
        (
            episode.model.as_deref(),
            episode.task().map(|task| &*task.id)
        ),
        (Some("model-c"), Some("repo__1"))
    );
    assert_eq!(
        (episode.usage().input, &episode.ending),
        (Some(1000), &Ending::Done)
    );
    let old = read("swe-agent-old.traj");
    assert_eq!(shapes(&old), [Shape(2, 2, 3, None)]);
    assert!(matches!(old.episodes[0].ending, Ending::Truncated { .. }));
}

#[test]
fn mini_swe_agent() {
    let outcome = read("mini-swe-agent.json");
    assert_eq!(shapes(&outcome), [Shape(2, 3, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "Looking.>bash{\"command\":\"ls\"} | bash<a.py | Now by text.>bash{\"command\":\"cat a.py\"}+bash{\"command\":\"pwd\"} | \
         bash<x = 1 | bash</repo"
    );
    assert_eq!(
        (episode.usage().input, episode.usage().cost),
        (Some(10), Some(0.03))
    );
    assert_eq!(&*episode.steps[1].details.errors[0].message, "TimeoutError");
    assert_eq!(episode.steps[0].details.started, Some(1_760_000_000.5));
    assert_eq!(
        (&episode.ending, episode.model.as_deref()),
        (&Ending::Done, Some("model-d"))
    );
}

/// Where commands stand in texts alone: a text with exactly one block is a call, what follows it its answer.
#[test]
fn mini_swe_agent_by_text() {
    let outcome = read("mini-swe-agent-text.json");
    assert_eq!(shapes(&outcome), [Shape(5, 3, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "THOUGHT: I look.\n\n```bash\nls boxes &&\n  wc -l boxes/*\n```>bash{\"command\":\"ls boxes &&\\n  wc -l boxes/*\"} | \
         bash<<returncode>0</returncode>\n<output>\n3\n</output> | \
         assistant:There are three. | user:Give exactly one action, not 0. | \
         assistant:```bash\nls\n```\nor\n```bash\npwd\n``` | user:Give exactly one action, not 2. | \
         ```bash\nsleep 90\n```\nas in\n```python\nsleep(90)\n```>bash{\"command\":\"sleep 90\"} | \
         bash<The last command <command>sleep 90</command> timed out. | \
         ```bash\nls red\n```>bash{\"command\":\"ls red\"} | bash<a marble | user:"
    );
    assert!(matches!(episode.ending, Ending::Truncated { .. }));
    let usage = episode.usage();
    assert_eq!((usage.input, usage.cost), (Some(20), Some(0.25)));
}

#[test]
fn openhands() {
    let outcome = read("openhands.json");
    assert_eq!(shapes(&outcome), [Shape(4, 3, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I look.>execute_bash{\"command\":\"ls\"} | execute_bash<a.py | >execute_bash{\"command\":\"false\"} | \
         execute_bash< | assistant:What now? | user:Stop. | Done.>finish{\"final_thought\":\"Done.\",\"outputs\":{}}"
    );
    assert_eq!(
        (episode.tools.len(), episode.start.len(), episode.seconds),
        (1, 2, Some(10.0))
    );
    assert_eq!(
        (episode.usage().input, episode.usage().cost),
        (Some(50), Some(0.5))
    );
    assert_eq!(episode.steps[0].details.reasoning.as_deref(), Some("Hm."));
    assert_eq!(
        (
            &*episode.steps[1].details.errors[0].message,
            &episode.ending
        ),
        ("It failed", &Ending::Done)
    );
    assert_eq!(
        episode.steps[1].details.usage, None,
        "both actions came of one answer"
    );

    let outcome = read("openhands-output.jsonl");
    assert_eq!(
        shapes(&outcome),
        [Shape(1, 1, 0, None), Shape(0, 0, 0, None)]
    );
    let [first, second] = outcome.episodes.as_slice() else {
        panic!()
    };
    assert_eq!(
        (told(first), first.usage().cost),
        (">run{\"command\":\"ls\"} | run<a.py".into(), Some(0.75))
    );
    assert_eq!(first.scores[0].value, Json::Bool(true));
    assert!(matches!(second.ending, Ending::Crashed { .. }));
}

#[test]
fn delegates_of_openhands_are_lanes() {
    let event = |id: u32, rest: &str| format!(r#"{{"id": {id}, "source": "agent", {rest}}}"#);
    let act = |id, action: &str, args: &str| {
        event(id, &format!(r#""action": "{action}", "args": {args}"#))
    };
    let observe = |id, observation: &str| {
        event(
            id,
            &format!(
                r#""observation": "{observation}", "content": "", "cause": {}"#,
                id - 1
            ),
        )
    };
    let events = [
        act(1, "run", r#"{"command": "ls"}"#),
        observe(2, "run"),
        act(
            3,
            "delegate",
            r#"{"agent": "BrowsingAgent", "inputs": {"task": "Look."}}"#,
        ),
        act(4, "browse_interactive", r#"{"browser_actions": "goto()"}"#),
        observe(5, "browse"),
        act(6, "finish", r#"{"outputs": {"content": "Seen."}}"#),
        event(
            7,
            r#""observation": "delegate", "content": "Seen.", "cause": 3, "extras": {"outputs": {}}"#,
        ),
        act(8, "run", r#"{"command": "rm x"}"#),
        observe(9, "run"),
    ];
    let outcome = import(&[InputFile {
        name: Some("events.json".into()),
        bytes: format!("[{}]", events.join(", ")).into_bytes(),
    }])
    .unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(episode.steps.len(), 5);
    let lanes = Lanes::of(episode);
    let segment = &lanes.lanes[0][0];
    assert_eq!(
        (&*segment.name, segment.from, segment.to),
        ("BrowsingAgent", 3, 4)
    );
    // The end of a delegate is not that of the agent.
    assert_eq!(episode.outcome, None);
}

#[test]
fn openhands_sdk() {
    let outcome = read("openhands-sdk.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 2, 0, None)]);
    let told_whole = told(&outcome.episodes[0]);
    assert_eq!(
        told_whole,
        "I look.>terminal{\"command\":\"ls\"} | terminal<a.py | >finish{\"message\":\"Done.\"} | finish<No."
    );
    let lines = fixture("openhands-sdk.jsonl");
    let text = String::from_utf8(lines.bytes).unwrap();
    let mut files: Vec<InputFile> = text
        .lines()
        .enumerate()
        .map(|(index, line)| InputFile {
            name: Some(format!("run/events/event-{index:05}-x.json")),
            bytes: line.as_bytes().to_vec(),
        })
        .collect();
    files.reverse();
    files.push(InputFile {
        name: Some("run/base_state.json".into()),
        bytes: br#"{"id": "conv", "agent": {"llm": {"model": "model-g"}}}"#.to_vec(),
    });
    let outcome = import(&files).unwrap();
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(
        (told(episode), &*episode.id, episode.model.as_deref()),
        (told_whole, "conv", Some("model-g"))
    );
}

#[test]
fn slime() {
    let outcome = read("slime.jsonl");
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 1, 0, Some(1.0)), Shape(1, 0, 0, Some(0.5))]
    );
    let first = &outcome.episodes[0];
    assert_linked(first);
    assert_eq!(
        told(first),
        "Sure.>f{\"a\":1} | f<ok | assistant:<tool_call>\n{broken\n</tool_call> | user:###STOP###"
    );
    assert!(first.tokens.is_some());
    assert!(matches!(
        outcome.episodes[1].ending,
        Ending::Truncated { .. }
    ));
}

/// Every fixture is read by the reader that it was made for.
#[test]
fn formats_are_distinguished() {
    for (name, expected) in [
        ("tau-bench.json", "tau-bench"),
        ("tau-bench-display.jsonl", "tau-bench"),
        ("tau2.json", "tau2"),
        ("verifiers-results.jsonl", "verifiers-results"),
        ("verifiers-traces.jsonl", "verifiers-traces"),
        ("chat.jsonl", "openai-chat"),
        ("swe-agent.traj", "swe-agent"),
        ("swe-agent-old.traj", "swe-agent"),
        ("mini-swe-agent.json", "mini-swe-agent"),
        ("mini-swe-agent-text.json", "mini-swe-agent"),
        ("openhands.json", "openhands"),
        ("openhands-output.jsonl", "openhands"),
        ("openhands-sdk.jsonl", "openhands"),
        ("slime.jsonl", "slime"),
        ("open-telemetry.json", "open-telemetry"),
        ("atif.json", "atif"),
        ("claude-code.jsonl", "claude-code"),
        ("codex.jsonl", "codex"),
        ("codex-old.jsonl", "codex"),
        ("ldp.jsonl", "ldp"),
        ("inspect.json", "inspect"),
        ("prime-cli.json", "prime-cli"),
    ] {
        assert_eq!(format(&read(name).episodes[0]), expected, "{name}");
    }
}

/// Files that are made to take long do not.
#[test]
fn large_and_odd_files_take_linear_time() {
    let import_text = |text: String| {
        import(&[InputFile {
            name: Some("x.json".into()),
            bytes: text.into_bytes(),
        }])
        .unwrap()
    };
    // A comb: every other message of a trace ends a branch as long as all before it.
    let node = |index: usize| {
        let parent = index
            .checked_sub(1 + index % 2)
            .map_or("null".to_owned(), |parent| parent.to_string());
        format!("{{\"parent\": {parent}, \"message\": {{\"role\": \"user\", \"content\": \"x\"}}}}")
    };
    let nodes: Vec<String> = (0..20_000).map(node).collect();
    let outcome = import_text(format!(
        "{{\"task\": \"t\", \"nodes\": [{}]}}",
        nodes.join(",")
    ));
    assert!(outcome.episodes.len() <= 1_000 && unreadable(&outcome) == 1);
    // Calls that nobody answers, and answers that nobody asked for.
    let call =
        r#"{"role": "assistant", "tool_calls": [{"id": "a", "name": "f", "arguments": {}}]}"#;
    let answer = r#"{"role": "tool", "tool_call_id": "b", "content": ""}"#;
    let messages: Vec<&str> = std::iter::repeat_n([call, answer], 20_000)
        .flatten()
        .collect();
    let outcome = import_text(format!("{{\"messages\": [{}]}}", messages.join(",")));
    assert_eq!(outcome.episodes[0].steps.len(), 20_000);
    // Actions that the history does not know.
    let step = r#"{"action": "a", "observation": "b"}"#;
    let said = r#"{"role": "assistant", "content": "c", "action": "d"}"#;
    let steps = vec![step; 20_000].join(",");
    let history = vec![said; 20_000].join(",");
    let outcome = import_text(format!(
        "{{\"trajectory\": [{steps}], \"history\": [{history}]}}"
    ));
    assert_eq!(outcome.episodes[0].steps.len(), 20_000);
}

#[test]
fn open_telemetry() {
    let outcome = read("open-telemetry.json");
    assert_eq!(shapes(&outcome), [Shape(2, 1, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">open{\"box\":1} | open<a marble | assistant:A marble."
    );
    assert_eq!(
        (episode.start.len(), episode.tools.len(), episode.seconds),
        (2, 1, Some(9.0))
    );
    let step = &episode.steps[0];
    assert_eq!(
        (step.details.reasoning.as_deref(), step.seconds),
        (Some("It must be opened."), Some(1.5))
    );
    assert_eq!(
        (episode.usage().input, episode.usage().output),
        (Some(100), Some(9))
    );
    assert_eq!(
        (&*episode.name, episode.model.as_deref(), &episode.ending),
        ("opener", Some("model-o"), &Ending::Done)
    );
    assert_eq!(episode.scores[0].value, Json::Float(0.75));
}
