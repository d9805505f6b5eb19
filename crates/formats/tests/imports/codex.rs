//! Sessions of Codex, in all the ways in which its versions write them.

use volary_core::json::Json;
use volary_episode::{Ending, Episode, Relation};
use volary_formats::import::NoteLevel;

use crate::Shape;
use crate::tools::{assert_linked, read, shapes, told, unreadable};
use crate::variants::{imported, only};

/// What the steps took: what was read and written.
fn tokens(episode: &Episode) -> Vec<Option<(u64, u64)>> {
    let usages = episode.steps.iter().map(|step| step.details.usage);
    let told = |usage: volary_episode::Usage| Some((usage.input?, usage.output?));
    usages.map(|usage| usage.and_then(told)).collect()
}

#[test]
fn a_session() {
    let outcome = read("codex.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 3, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I look.>exec_command{\"cmd\":\"ls\"}+apply_patch{\"input\":\"*** Begin Patch\"} | exec_command<red\nblue\n | \
         apply_patch<It is read only. | Two boxes.>web_search{\"type\":\"search\",\"query\":\"boxes\"}"
    );
    let [system, developer, user] = episode.start.as_slice() else {
        panic!("{:?}", episode.start);
    };
    let texts = [system, developer, user].map(|message| message.body().content.as_deref());
    assert_eq!(
        texts,
        [
            Some("You are a careful agent."),
            Some("Read only."),
            Some("Count the boxes.")
        ]
    );
    let [first, second] = episode.steps.as_slice() else {
        panic!()
    };
    assert_eq!(first.details.reasoning.as_deref(), Some("I list them."));
    assert_eq!(second.details.reasoning, None);
    assert_eq!((first.seconds, second.seconds), (Some(2.5), None));
    let error = &first.details.errors[0];
    assert_eq!(
        (&*error.message, error.call.as_deref()),
        ("It is read only.", Some("call_2"))
    );
    assert_eq!(first.details.model.as_deref(), Some("model-x"));
    assert_eq!(tokens(episode), [Some((100, 20)), Some((150, 6))]);
    let usage = episode.usage();
    assert_eq!(
        (usage.input, usage.cached, usage.output, usage.reasoning),
        (Some(250), Some(140), Some(26), Some(7))
    );
    assert_eq!(
        (
            &*episode.id,
            episode.model.as_deref(),
            &episode.ending,
            episode.seconds
        ),
        ("c0de", Some("model-x"), &Ending::Done, Some(8.0))
    );
    assert_eq!(
        episode.metadata.get("cwd"),
        Some(&Json::from("/home/me/boxes"))
    );
    let source = episode.source.as_ref().unwrap();
    assert_eq!(source.version.as_deref(), Some("0.99.0"));
    // What came of the patch, and how the turn was set up.
    let kept = episode.raw.get("lines").and_then(Json::as_list).unwrap();
    assert_eq!(kept.len(), 2);
    let notes = outcome
        .notes
        .iter()
        .filter(|note| note.level == NoteLevel::Read);
    let notes: Vec<&str> = notes.map(|note| &*note.text).collect();
    assert!(
        notes
            .concat()
            .contains("encrypted and not shown: 1 thought"),
        "{notes:?}"
    );
}

#[test]
fn older_sessions() {
    let outcome = read("codex-old.jsonl");
    assert_eq!(shapes(&outcome), [Shape(3, 2, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    let expected = ">local_shell{\"command\":[\"ls\"],\"working_directory\":\"/boxes\"} | \
         local_shell<{\"output\":\"red\\n\",\"metadata\":{\"exit_code\":0}} | \
         >shell{\"command\":[\"ls\",\"-a\"]} | shell<red blue | assistant:Two.";
    assert_eq!(told(episode), expected);
    assert_eq!(
        (&*episode.id, &episode.ending, unreadable(&outcome)),
        ("01d", &Ending::Open, 0)
    );
    assert!(episode.raw.is_empty());
    // The first versions wrote one object.
    let lines = String::from_utf8(crate::fixture("codex-old.jsonl").bytes).unwrap();
    let items: Vec<&str> = lines.lines().skip(1).collect();
    let first = lines.lines().next().unwrap();
    let whole = only(&format!(
        "{{\"session\": {first}, \"items\": [{}]}}",
        items.join(",")
    ));
    assert_eq!((told(&whole).as_str(), &*whole.id), (expected, "01d"));
}

fn line(kind: &str, payload: &str) -> String {
    format!(
        "{{\"timestamp\": \"2026-03-01T10:00:00Z\", \"type\": \"{kind}\", \"payload\": {payload}}}\n"
    )
}

fn item(payload: &str) -> String {
    line("response_item", payload)
}

fn event(payload: &str) -> String {
    line("event_msg", payload)
}

fn message(role: &str, text: &str) -> String {
    item(&format!(
        r#"{{"type": "message", "role": "{role}", "content": [{{"type": "text", "text": "{text}"}}]}}"#
    ))
}

fn call(id: &str) -> String {
    item(&format!(
        r#"{{"type": "function_call", "name": "f", "arguments": "{{}}", "call_id": "{id}"}}"#
    ))
}

fn output(id: &str) -> String {
    item(&format!(
        r#"{{"type": "function_call_output", "call_id": "{id}", "output": "{id}"}}"#
    ))
}

fn counted(all: u64, last: u64) -> String {
    event(&format!(
        r#"{{"type": "token_count", "info": {{"total_token_usage": {{"input_tokens": {all}, "output_tokens": 1}}, "last_token_usage": {{"input_tokens": {last}, "output_tokens": 1}}}}}}"#
    ))
}

#[test]
fn items_between_two_token_counts_are_one_answer() {
    let after = [
        message("user", "Go."),
        call("a"),
        output("a"),
        call("b"),
        output("b"),
        counted(10, 10),
        counted(10, 10),
        call("c"),
        counted(30, 20),
        output("c"),
    ];
    let episode = only(&after.concat());
    assert_eq!(told(&episode), ">f{}+f{} | f<a | f<b | >f{} | f<c");
    assert_eq!(tokens(&episode), [Some((10, 1)), Some((20, 1))]);
    // Some versions count before they write the items.
    let before = [
        message("user", "Go."),
        counted(10, 10),
        call("a"),
        output("a"),
        call("b"),
        output("b"),
        counted(30, 20),
        call("c"),
        output("c"),
        message("user", "Go on."),
        counted(60, 30),
        message("assistant", "Done."),
    ];
    let episode = only(&before.concat());
    assert_eq!(
        told(&episode),
        ">f{}+f{} | f<a | f<b | >f{} | f<c | user:Go on. | assistant:Done."
    );
    assert_eq!(
        tokens(&episode),
        [Some((10, 1)), Some((20, 1)), Some((30, 1))]
    );
    // Without counts, the result of a call ends an answer.
    let uncounted = [call("a"), output("a"), call("b"), output("b")];
    let episode = only(&uncounted.concat());
    assert_eq!(told(&episode), ">f{} | f<a | >f{} | f<b");
}

#[test]
fn answers_may_have_records_of_their_own() {
    let record = line(
        "token_usage_record",
        r#"{"response_id": "r", "usage": {"input_tokens": 10, "output_tokens": 1}, "thread_token_usage": {"input_tokens": 10, "output_tokens": 1}}"#,
    );
    let text = [
        message("user", "Go."),
        call("a"),
        record,
        counted(10, 10),
        output("a"),
    ];
    let episode = only(&text.concat());
    assert_eq!(tokens(&episode), [Some((10, 1))]);
    assert_eq!(episode.usage().input, Some(10));
}

#[test]
fn token_counts_may_restart() {
    // A model that read more than it can: all is set to 0, and no answer was given.
    let full = event(
        r#"{"type": "token_count", "info": {"total_token_usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 90}, "last_token_usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 70}}}"#,
    );
    let text = [
        message("user", "Go."),
        call("a"),
        counted(20, 20),
        output("a"),
        call("b"),
        full,
        message("user", "Go on."),
        call("c"),
        counted(5, 5),
    ];
    let episode = only(&text.concat());
    assert_eq!(told(&episode), ">f{} | f<a | >f{} | user:Go on. | >f{}");
    assert_eq!(tokens(&episode), [Some((20, 1)), None, Some((5, 1))]);
    assert_eq!(episode.total_usage.unwrap().input, Some(25));
    // What is counted by two, who began at different times, is no beginning.
    let two = [
        message("user", "Go."),
        call("a"),
        counted(100, 20),
        counted(30, 20),
        call("b"),
        counted(110, 10),
        counted(40, 10),
    ];
    assert_eq!(only(&two.concat()).total_usage.unwrap().input, Some(40));
}

#[test]
fn an_aborted_answer_names_its_model() {
    let context = |model: &str| line("turn_context", &format!("{{\"model\": \"{model}\"}}"));
    let text = [
        context("one"),
        message("user", "Go."),
        call("a"),
        context("two"),
        message("user", "Go on."),
        call("b"),
        counted(1, 1),
    ];
    let episode = only(&text.concat());
    let models = episode
        .steps
        .iter()
        .map(|step| step.details.model.as_deref());
    assert_eq!(models.collect::<Vec<_>>(), [Some("one"), Some("two")]);
}

#[test]
fn a_turn_that_was_aborted() {
    let started = || event(r#"{"type": "task_started"}"#);
    let aborted = || event(r#"{"type": "turn_aborted", "reason": "interrupted"}"#);
    let complete = || event(r#"{"type": "task_complete"}"#);
    let episode = only(&[started(), message("user", "Go."), call("a"), aborted()].concat());
    assert_eq!(told(&episode), ">f{}");
    assert!(
        matches!(&episode.ending, Ending::Truncated { reason } if reason.contains("interrupted"))
    );
    assert_eq!(episode.outcome.as_deref(), Some("interrupted"));
    let again = [
        started(),
        message("user", "Go."),
        aborted(),
        started(),
        call("a"),
        complete(),
    ];
    let episode = only(&again.concat());
    assert_eq!((&episode.ending, episode.outcome), (&Ending::Done, None));
    let open = [
        started(),
        message("user", "Go."),
        complete(),
        started(),
        call("a"),
    ];
    assert_eq!(only(&open.concat()).ending, Ending::Open);
}

#[test]
fn events_alone_and_events_besides() {
    let events = [
        line("session_meta", r#"{"id": "e"}"#),
        event(r#"{"type": "user_message", "message": "Hi"}"#),
        event(r#"{"type": "agent_reasoning", "text": "Hm."}"#),
        event(r#"{"type": "agent_message", "message": "One."}"#),
        event(r#"{"type": "agent_message", "message": "Two."}"#),
    ];
    let episode = only(&events.concat());
    assert_eq!(told(&episode), "assistant:One.\nTwo.");
    assert_eq!(episode.steps[0].details.reasoning.as_deref(), Some("Hm."));
    let besides = [
        events.concat(),
        message("user", "Hi"),
        message("assistant", "One."),
    ];
    assert_eq!(told(&only(&besides.concat())), "assistant:One.");
}

#[test]
fn summaries_and_what_was_taken_back() {
    let text = [
        message("user", "Go."),
        message("assistant", "One."),
        event(r#"{"type": "thread_rolled_back", "num_turns": 1}"#),
        line("compacted", r#"{"message": "So far: one."}"#),
        message("assistant", "Two."),
    ];
    let episode = only(&text.concat());
    assert_eq!(
        told(&episode),
        "assistant:One. | user:So far: one. | assistant:Two."
    );
    let back = episode.steps[0].extras.get("num_turns_rolled_back");
    assert_eq!(back, Some(&Json::from(1)));
}

#[test]
fn sessions_know_each_other() {
    let text = [
        line(
            "session_meta",
            r#"{"id": "b", "forked_from_id": "a", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}}"#,
        ),
        line("session_meta", r#"{"id": "a"}"#),
        message("assistant", "x"),
    ];
    let outcome = imported(&text.concat());
    let episode = &outcome.episodes[0];
    let links: Vec<_> = episode
        .links
        .iter()
        .map(|link| (link.relation, &*link.episode))
        .collect();
    assert_eq!(links, [(Relation::Parent, "p"), (Relation::Branch, "a")]);
    assert_eq!(&*episode.id, "b");
    assert!(episode.raw.contains_key("lines"));
}

#[test]
fn tools_in_spaces_and_items_that_are_not_known() {
    let text = [
        item(
            r#"{"type": "function_call", "namespace": "mcp__boxes__", "name": "_open", "arguments": "{}", "call_id": "a"}"#,
        ),
        item(
            r#"{"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "red"}]}"#,
        ),
        item(
            r#"{"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {"query": "x"}}"#,
        ),
        item(r#"{"type": "tool_search_output", "call_id": "s", "tools": []}"#),
        item(r#"{"type": "ghost_snapshot", "ghost_commit": {"id": "1"}}"#),
        item("7"),
        line("world_state", r#"{"a": 1}"#),
    ];
    let episode = only(&text.concat());
    assert_linked(&episode);
    assert_eq!(
        told(&episode),
        ">mcp__boxes__open{} | mcp__boxes__open<red | >tool_search{\"query\":\"x\"} | tool_search<[]"
    );
    let kept = episode.raw.get("lines").unwrap().to_compact_text();
    assert!(kept.contains("ghost_snapshot") && kept.contains("world_state") && kept.contains(":7"));
}
