//! Sessions of coding agents: what is in them is found, item by item.

use volary_core::json::Json;
use volary_episode::{Ending, Relation};
use volary_formats::import::{InputFile, NoteLevel, import};

use crate::tools::{assert_linked, errors, format, notes, read, shapes, told};
use crate::{Shape, fixture};

fn file(name: &str, text: &str) -> InputFile {
    InputFile {
        name: Some(name.into()),
        bytes: text.as_bytes().to_vec(),
    }
}

#[test]
fn gemini_cli() {
    let outcome = read("gemini-cli.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 4, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "gemini-cli");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">read_file{\"file_path\":\"shed.txt\"}+read_file{\"file_path\":\"attic.txt\"} | read_file<box\nbox | \
         read_file<File not found. | user:Count again, and write it down. | \
         Two boxes.>write_file{\"file_path\":\"count.txt\",\"content\":\"2\"}+delegate{} | write_file<Created."
    );
    assert_eq!((&*episode.id, &*episode.name), ("9a1c", "Count the boxes"));
    assert_eq!(episode.model.as_deref(), Some("gemini-b"));
    let [first, last] = episode.steps.as_slice() else {
        panic!()
    };
    assert_eq!(
        first.details.reasoning.as_deref(),
        Some("Look: The list is in a file.")
    );
    let usage = first.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached, usage.reasoning),
        (Some(100), Some(15), Some(40), Some(5))
    );
    assert_eq!((first.seconds, last.seconds), (Some(2.0), Some(1.0)));
    assert_eq!(
        errors(episode),
        [
            (Some("read_file-2"), "File not found."),
            (None, "Quota exceeded.")
        ]
    );
    let link = &episode.links[0];
    assert_eq!(
        (link.relation, &*link.episode, link.step),
        (Relation::Subagent, "helper-7", Some(1))
    );
    let written = last.messages()[0].body().info.as_ref().unwrap();
    assert!(written.contains_key("resultDisplay"));
    assert_eq!(
        notes(&outcome, NoteLevel::Unreadable),
        ["1 message was taken back in the session and omitted."]
    );
    assert!(episode.raw.contains_key("notices"));
}

#[test]
fn gemini_cli_as_one_object_and_as_a_checkpoint() {
    let old = r#"{"sessionId": "s", "projectHash": "p", "startTime": "2025-09-01T00:00:00Z", "messages": [{"id": "1", "timestamp": "2025-09-01T00:00:00Z", "type": "user", "content": "Hi"}, {"id": "2", "timestamp": "2025-09-01T00:00:01Z", "type": "gemini", "content": "Hello."}]}"#;
    let outcome = import(&[file("session-1.json", old)]).unwrap();
    assert_eq!(told(&outcome.episodes[0]), "assistant:Hello.");
    let saved = r#"{"history": [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"text": "Hello."}, {"functionCall": {"name": "look", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "a box"}}}]}], "authType": "oauth-personal"}"#;
    let outcome = import(&[file("checkpoint-a.json", saved)]).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "gemini-cli");
    assert_eq!(
        told(episode),
        "Hello.>look{} | look<{\"output\": \"a box\"}"
    );
    let restored = r#"{"history": [{"type": "user", "text": "Hi"}], "clientHistory": [{"role": "user", "parts": [{"text": "Hi"}]}], "toolCall": {"name": "write_file", "args": {"file_path": "a"}}, "commitHash": "c0ffee"}"#;
    let outcome = import(&[file("a.json", restored)]).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(
        (episode.start.len(), episode.metadata.get("commitHash")),
        (1, Some(&Json::from("c0ffee")))
    );
}

#[test]
fn opencode() {
    let outcome = read("opencode.json");
    assert_eq!(shapes(&outcome), [Shape(3, 2, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "opencode");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">read{\"filePath\":\"shed.txt\"}+task{\"prompt\":\"Count the attic.\"} | read<box\nbox | \
         task<Tool execution aborted | assistant:Two. | user:And now? | assistant:"
    );
    assert_eq!(
        (&*episode.id, &*episode.name, episode.start.len()),
        ("ses_1", "Count the boxes", 2)
    );
    assert_eq!(
        (episode.model.as_deref(), episode.usage().cost),
        (Some("model-b"), Some(0.03))
    );
    let [first, second, _] = episode.steps.as_slice() else {
        panic!()
    };
    assert_eq!(
        first.details.reasoning.as_deref(),
        Some("The list is in a file.")
    );
    let usage = first.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached, usage.reasoning),
        (Some(200), Some(15), Some(80), Some(5))
    );
    let usage = second.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cost),
        (Some(70), Some(20), Some(0.01))
    );
    assert_eq!(
        (first.details.started, first.seconds),
        (Some(1_770_000_003.0), Some(5.0))
    );
    assert_eq!(
        errors(episode),
        [
            (Some("call_2"), "Tool execution aborted"),
            (None, "APIError: Overloaded")
        ]
    );
    let link = &episode.links[0];
    assert_eq!(
        (link.relation, &*link.episode, link.step),
        (Relation::Subagent, "ses_2", Some(0))
    );
    assert!(!format!("{episode:?}").contains("not-to-be-kept"));
}

/// A file for each session, message and part, as older versions store them.
#[test]
fn opencode_in_its_storage() {
    let part = |id: &str, rest: &str| {
        file(
            &format!("storage/part/msg_2/{id}.json"),
            &format!(r#"{{"id": "{id}", "sessionID": "ses_1", "messageID": "msg_2", {rest}}}"#),
        )
    };
    let message = |id: &str, role: &str| {
        file(
            &format!("storage/message/ses_1/{id}.json"),
            &format!(
                r#"{{"id": "{id}", "sessionID": "ses_1", "role": "{role}", "time": {{"created": 1770000001000}}}}"#
            ),
        )
    };
    let files = [
        part("prt_3", r#""type": "text", "text": "world.""#),
        part("prt_2", r#""type": "text", "text": "Hello ""#),
        message("msg_2", "assistant"),
        message("msg_1", "user"),
        file(
            "storage/part/msg_1/prt_1.json",
            r#"{"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "Greet."}"#,
        ),
        file(
            "storage/session/p/ses_1.json",
            r#"{"id": "ses_1", "projectID": "p", "directory": "/x", "parentID": "ses_0", "title": "Greeting", "version": "0.9", "time": {"created": 1770000000000}}"#,
        ),
    ];
    let outcome = import(&files).unwrap();
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!((&*episode.name, episode.start.len()), ("Greeting", 1));
    assert!(told(episode).contains("Hello ") && told(episode).contains("world."));
    assert_eq!(episode.links[0].relation, Relation::Parent);
}

#[test]
fn copilot_cli() {
    let outcome = read("copilot-cli.jsonl");
    assert_eq!(
        shapes(&outcome),
        [Shape(3, 3, 0, None), Shape(1, 0, 0, None)]
    );
    let [main, agent] = outcome.episodes.as_slice() else {
        panic!()
    };
    assert_eq!(format(main), "copilot-cli");
    assert_linked(main);
    assert_eq!(
        told(main),
        ">view{\"path\":\"shed.txt\"}+task{\"prompt\":\"Count the attic.\"} | view<box\nbox | task<The attic is locked. | \
         assistant:Two. | >bash{\"command\":\"ls\"} | bash<shed.txt"
    );
    assert_eq!((&*main.name, main.start.len()), ("Count the boxes", 2));
    assert_eq!(
        main.steps[0].details.reasoning.as_deref(),
        Some("A helper may count.")
    );
    let models = main.steps.iter().map(|step| step.details.model.as_deref());
    assert_eq!(
        models.collect::<Vec<_>>(),
        [Some("model-a"), Some("model-c"), None]
    );
    assert_eq!(main.steps[0].seconds, Some(3.0));
    let usage = main.usage();
    assert_eq!(
        (usage.input, usage.output, usage.cached, usage.cost),
        (Some(220), Some(17), Some(120), None)
    );
    assert_eq!(
        errors(main),
        [
            (Some("t2"), "The attic is locked."),
            (None, "No quota left.")
        ]
    );
    assert_eq!(
        (&*agent.name, agent.model.as_deref(), &*told(agent)),
        ("Counter", Some("model-b"), "assistant:None.")
    );
    let link = &main.links[0];
    assert_eq!(
        (link.relation, &link.episode, link.step),
        (Relation::Subagent, &agent.id, Some(0))
    );
    assert_eq!(agent.links[0].relation, Relation::Parent);
    assert!(!format!("{outcome:?}").contains("not-to-be-kept"));
    assert_eq!(
        notes(&outcome, NoteLevel::Unreadable),
        ["Events about signing in to servers are omitted: 1."]
    );
}

#[test]
fn session_traces_of_the_hub() {
    let outcome = read("session-trace.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 2, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "session-trace");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">look{\"at\":\"shed\"}+look{\"at\":\"attic\"} | look<none | look<two | assistant:Two."
    );
    assert_eq!(
        (&*episode.id, &*episode.name, episode.policy.as_deref()),
        ("b0x", "Count the boxes", Some("box-agent"))
    );
    let step = &episode.steps[0];
    assert_eq!(
        (step.details.reasoning.as_deref(), step.seconds),
        (Some("Two places to look."), Some(2.5))
    );
    assert_eq!(
        (episode.model.as_deref(), episode.start.len()),
        (Some("model-a"), 2)
    );
}

#[test]
fn pi() {
    let outcome = read("pi.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 1, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I look.>bash{\"command\":\"cat shed.txt\"} | bash<cat: shed.txt: No such file | user:Try the attic. | \
         user:$ ls attic\nbox | assistant:"
    );
    assert_eq!(
        errors(episode),
        [
            (Some("c1"), "cat: shed.txt: No such file"),
            (None, "Overloaded")
        ]
    );
    let usage = episode.usage();
    assert_eq!(
        (usage.input, usage.cached, usage.cost),
        (Some(100), Some(80), Some(0.02))
    );
    assert_eq!(
        (&*episode.name, episode.policy.as_deref()),
        ("Count the boxes", Some("pi"))
    );
    assert_eq!(
        notes(&outcome, NoteLevel::Unreadable),
        ["On other branches of the session, and omitted: 1 line."]
    );
    assert_eq!(episode.links[0].relation, Relation::Predecessor);
}

const SCREEN: &str = r#"[
    {"ts": 1770000000000, "type": "say", "say": "task", "text": "How many boxes?"},
    {"ts": 1770000000500, "type": "say", "say": "api_req_started", "text": "{\"request\": \"...\", \"tokensIn\": 30, \"tokensOut\": 10, \"cacheWrites\": 10, \"cacheReads\": 60, \"cost\": 0.02}"},
    {"ts": 1770000000700, "type": "say", "say": "reasoning", "text": "The list is in a file."},
    {"ts": 1770000000800, "type": "say", "say": "text", "text": "I look."},
    {"ts": 1770000000900, "type": "ask", "ask": "tool", "text": "{\"tool\": \"readFile\", \"path\": \"shed.txt\"}"},
    {"ts": 1770000003500, "type": "say", "say": "api_req_started", "text": "{\"tokensIn\": 5, \"tokensOut\": 5, \"cost\": 0.01}"},
    {"ts": 1770000004000, "type": "ask", "ask": "command", "text": "ls atticREQ_APP"},
    {"ts": 1770000004200, "type": "ask", "ask": "command_output", "text": ""},
    {"ts": 1770000004500, "type": "say", "say": "command_output", "text": "locked"},
    {"ts": 1770000004900, "type": "say", "say": "command_output", "text": "since May"},
    {"ts": 1770000004950, "type": "say", "say": "reasoning", "text": "Then the cellar."},
    {"ts": 1770000005000, "type": "say", "say": "tool", "text": "{\"tool\": \"readFile\", \"path\": \"cellar.txt\"}"},
    {"ts": 1770000005500, "type": "say", "say": "api_req_started", "text": "{\"tokensIn\": 1, \"tokensOut\": 1, \"cost\": 0.01, \"streamingFailedMessage\": \"Overloaded\"}"},
    {"ts": 1770000005600, "type": "say", "say": "checkpoint_created"},
    {"ts": 1770000006000, "type": "say", "say": "completion_result", "text": "Two."}
]"#;

#[test]
fn cline() {
    let outcome = read("cline.json");
    assert_eq!(shapes(&outcome), [Shape(3, 3, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "cline");
    assert_linked(episode);
    let surroundings = "user:<environment_details>\n# Visible Files\n</environment_details>";
    assert_eq!(
        told(episode),
        format!(
            "I look.>read_file{{\"path\":\"shed.txt\"}} | read_file<box\nbox | {surroundings} | \
             >execute_command{{\"command\":\"ls attic\",\"requires_approval\":\"false\"}} | \
             execute_command<The tool execution failed with the following error:\n<error>\nlocked\n</error> | \
             Done.>attempt_completion{{\"result\":\"Two.\"}}"
        )
    );
    let [first, second, _] = episode.steps.as_slice() else {
        panic!()
    };
    assert_eq!(
        first.details.reasoning.as_deref(),
        Some("The list is in a file.")
    );
    let usage = first.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached, usage.cost),
        (Some(100), Some(10), Some(60), Some(0.02))
    );
    assert_eq!((first.seconds, second.details.errors.len()), (Some(2.0), 1));
    assert_eq!(
        (episode.model.as_deref(), &episode.ending),
        (Some("model-b"), &Ending::Done)
    );
}

/// The folder of a task: what was said, and what each request cost.
#[test]
fn cline_in_its_folder() {
    let history = fixture("cline.json");
    let files = [
        InputFile {
            name: Some("tasks/1770/api_conversation_history.json".into()),
            bytes: history.bytes,
        },
        file("tasks/1770/ui_messages.json", SCREEN),
        file(
            "tasks/1770/task_metadata.json",
            r#"{"files_in_context": [], "model_usage": [{"ts": 1, "model_id": "model-c"}]}"#,
        ),
    ];
    let outcome = import(&files).unwrap();
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(&*episode.id, "1770");
    let costs = episode
        .steps
        .iter()
        .map(|step| step.details.usage.unwrap().cost);
    assert_eq!(
        costs.collect::<Vec<_>>(),
        [Some(0.02), Some(0.01), Some(0.01)]
    );
    assert_eq!(episode.usage().input, Some(106));
    assert_eq!(errors(episode).last(), Some(&(None, "Overloaded")));
    let outcome = import(&files[1..2]).unwrap();
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I look.>readFile{\"path\":\"shed.txt\"} | \
         >execute_command{\"command\":\"ls attic\"}+readFile{\"path\":\"cellar.txt\"} | \
         execute_command<locked\nsince May | assistant:Two."
    );
    let second = &episode.steps[1];
    assert_eq!(
        second.details.reasoning.as_deref(),
        Some("Then the cellar.")
    );
    assert!(
        second
            .seconds
            .is_some_and(|seconds| (seconds - 0.9).abs() < 0.001)
    );
    assert_eq!(
        episode.steps[0].details.reasoning.as_deref(),
        Some("The list is in a file.")
    );
    assert_eq!((episode.start.len(), episode.usage().output), (1, Some(16)));
}
