//! Traces in the words of OpenInference and Traceloop.

use volary_core::AnyMessage;
use volary_core::json::Json;
use volary_episode::{Ending, Episode};

use crate::Shape;
use crate::tools::{assert_linked, format, read, shapes, told, unreadable};
use crate::variants::{imported, only};

#[test]
fn open_inference() {
    let outcome = read("open-inference.json");
    assert_eq!(shapes(&outcome), [Shape(2, 3, 0, None)]);
    assert_eq!(unreadable(&outcome), 0);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">open{\"box\":1}+look{} | open<a marble | look<a table | A marble. I close it.>close{\"box\":1} | close<It is stuck."
    );
    assert_eq!(
        (episode.start.len(), format(episode)),
        (2, "open-telemetry")
    );
    let question = episode.start[1].body().content.as_deref().unwrap();
    assert!(question.contains("image_url") && question.contains("What is in this box?"));
    let [first, second] = episode.steps.as_slice() else {
        panic!("{:?}", episode.steps);
    };
    assert_eq!(
        first.details.reasoning.as_deref(),
        Some("It must be opened.")
    );
    assert_eq!(first.seconds, Some(1.5));
    assert_eq!(&*second.details.errors[0].message, "It is stuck.");
    let usage = first.details.usage.unwrap();
    assert_eq!(
        (
            usage.input,
            usage.output,
            usage.cached,
            usage.reasoning,
            usage.cost
        ),
        (Some(40), Some(9), Some(8), Some(4), Some(0.25))
    );
    // What is in the step is not kept once more.
    let kept: Vec<&str> = first.extras.keys().map(AsRef::as_ref).collect();
    assert!(kept.contains(&"llm.invocation_parameters"), "{kept:?}");
    assert!(
        !kept.iter().any(|key| key.contains("messages")
            || key.contains("tools")
            || key.starts_with("input"))
    );
    let tools: Vec<&str> = episode.tools.iter().map(|tool| &*tool.info.name).collect();
    assert_eq!(tools, ["open", "look"]);
    let parameters = episode.tools[0].info.parameters.as_ref().unwrap();
    assert!(parameters.properties.contains_key("box"));
    assert_eq!(
        (
            &*episode.name,
            episode.model.as_deref(),
            &episode.ending,
            episode.seconds
        ),
        ("opener", Some("model-i"), &Ending::Done, Some(9.0))
    );
    assert_eq!(&*episode.task().unwrap().id, "talk-8");
}

#[test]
fn traceloop() {
    let outcome = read("traceloop.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 1, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I list.>ls{\"path\":\".\"} | ls<a.py b.py | assistant:Two files."
    );
    let asked = episode.start[1].body().content.as_deref();
    assert_eq!(asked, Some("List files."));
    let usage = episode.usage();
    assert_eq!(
        (usage.input, usage.output, usage.cached),
        (Some(80), Some(9), Some(10))
    );
    assert_eq!(
        (
            &*episode.name,
            episode.model.as_deref(),
            episode.tools.len()
        ),
        ("list", Some("model-l-1"), 1)
    );
    let parameters = episode.tools[0].info.parameters.as_ref().unwrap();
    assert!(parameters.properties.contains_key("path"));
}

fn spans(all: &[(&str, &str, &str)]) -> String {
    let span = |(index, (name, parent, attributes)): (usize, &(&str, &str, &str))| {
        format!(
            r#"{{"name": "{name}", "context": {{"trace_id": "t", "span_id": "{index}"}}, "parent_id": "{parent}", "start_time": "2026-01-01T00:00:0{index}Z", "attributes": {{{attributes}}}}}"#
        )
    };
    let lines: Vec<String> = all.iter().enumerate().map(span).collect();
    lines.join("\n")
}

fn episode(all: &[(&str, &str, &str)]) -> Episode {
    let episode = only(&spans(all));
    assert_linked(&episode);
    episode
}

const TURN: &str = r#""openinference": {"span": {"kind": "LLM"}}, "llm": {"model_name": "m", "token_count": {"prompt": 7}, "input_messages": [{"message": {"role": "user", "content": "Go."}}], "output_messages": [{"message": {"role": "assistant", "tool_calls": [{"tool_call": {"function": {"name": "f", "arguments": "{\"a\": 1}"}}}, {"tool_call": {"function": {"name": "f", "arguments": "{\"a\": 2}"}}}]}}]}"#;

#[test]
fn names_that_are_taken_apart() {
    let tool = r#""openinference": {"span": {"kind": "TOOL"}}, "input": {"value": "{\"a\": 2}"}, "output": {"value": "two"}"#;
    let other = r#""openinference": {"span": {"kind": "TOOL"}}, "input": {"value": "{\"a\": 9}"}, "output": {"value": "nine"}"#;
    let episode = episode(&[("ask", "", TURN), ("f", "", tool), ("f", "", other)]);
    // The second call is the one that was run; the third was no model's.
    assert_eq!(
        told(&episode),
        ">f{\"a\":1}+f{\"a\":2} | f<two | >f{\"a\":9} | f<nine"
    );
    let AnyMessage::Response(answer) = &episode.steps[0].messages()[0] else {
        panic!()
    };
    let AnyMessage::Request(request) = &episode.steps[0].action else {
        panic!()
    };
    assert_eq!(answer.tool_call_id, request.tool_calls[1].id);
    assert_eq!(episode.usage().input, Some(7));
    assert_eq!(episode.model.as_deref(), Some("m"));
    let extras = Json::from(episode.steps[0].extras.clone()).to_compact_text();
    assert!(
        !extras.contains("messages") && extras.contains("token_count"),
        "{extras}"
    );
}

#[test]
fn messages_in_other_shapes() {
    for (attributes, expected) in [
        // A list whose members have long names; calls of functions, as they were.
        (
            r#""openinference.span.kind": "LLM", "llm.output_messages": [{"message.role": "assistant", "message.function_call_name": "f", "message.function_call_arguments_json": "{\"a\": 1}"}]"#,
            ">f{\"a\":1}",
        ),
        // Completions.
        (
            r#""openinference.span.kind": "LLM", "llm.prompts.0.prompt.text": "One,", "llm.choices.0.completion.text": "two.""#,
            "assistant:two.",
        ),
        (
            r#""llm.request.type": "completion", "llm.prompts.0.content": "One,", "llm.completions.0.content": "two.""#,
            "assistant:two.",
        ),
        // Only what went in and came out.
        (
            r#""openinference.span.kind": "LLM", "input.value": "One,", "output.value": "two.""#,
            "assistant:two.",
        ),
        (
            r#""openinference.span.kind": "llm", "input.value": "{\"messages\": [{\"role\": \"user\", \"content\": \"One,\"}]}", "output.value": "{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"two.\"}}]}""#,
            "assistant:two.",
        ),
        (
            r#""openinference.span.kind": "LLM", "input.value": "One,", "llm.output_messages.0.message.content": "two.""#,
            "assistant:two.",
        ),
        // Calls as a text and once more one by one; calls among the texts and once more apart.
        (
            r#""gen_ai.request.model": "m", "gen_ai.completion.0.tool_calls": "[{\"name\": \"f\", \"arguments\": \"{}\"}]", "gen_ai.completion.0.tool_calls.0.name": "f""#,
            ">f{}",
        ),
        (
            r#""openinference.span.kind": "LLM", "llm.output_messages.0.message.contents.0.message_content.type": "tool_use", "llm.output_messages.0.message.contents.0.message_content.tool_use.name": "f", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f""#,
            ">f{}",
        ),
        (
            r#""openinference.span.kind": "LLM", "llm.output_messages.0.message.contents.0.message_content.type": "tool_use", "llm.output_messages.0.message.contents.0.message_content.tool_use.name": "f""#,
            ">f{}",
        ),
        // A kind that does not occur.
        (
            r#""openinference.span.kind": "UNKNOWN", "gen_ai.request.model": "m", "gen_ai.completion.0.content": "two.""#,
            "assistant:two.",
        ),
        // Blocks as a text, and a text that is none.
        (
            r#""gen_ai.request.model": "m", "gen_ai.completion.0.content": "[{\"type\": \"tool_use\", \"name\": \"f\", \"input\": {}}]""#,
            ">f{}",
        ),
        (
            r#""gen_ai.request.model": "m", "gen_ai.completion.0.content": "[{\"type\":  \"box\"}]""#,
            "assistant:[{\"type\":  \"box\"}]",
        ),
        // Far away, and odd.
        (
            r#""openinference.span.kind": "LLM", "llm.output_messages.4000000000.message.content": "far", "llm.output_messages.x.message.content": "odd""#,
            "assistant:far",
        ),
    ] {
        let episode = episode(&[("ask", "", attributes)]);
        assert_eq!(told(&episode), expected, "{attributes}");
        let is_asked = attributes.contains("One,");
        assert_eq!(episode.start.len(), usize::from(is_asked), "{attributes}");
    }
}

/// As Phoenix answers: a page of spans, the last one first, with kind and status beside the attributes.
#[test]
fn a_page_of_spans() {
    let page = r#"{"data": [
      {"id": "2", "name": "f", "context": {"trace_id": "t", "span_id": "b"}, "span_kind": "TOOL", "parent_id": null, "start_time": "2026-01-01T00:00:02Z", "end_time": "2026-01-01T00:00:03Z", "status_code": "ERROR", "status_message": "It is stuck.", "attributes": {"input.value": "{\"a\": 1}", "output.value": "stuck"}, "events": []},
      {"id": "1", "name": "ask", "context": {"trace_id": "t", "span_id": "a"}, "span_kind": "LLM", "parent_id": null, "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z", "status_code": "OK", "status_message": "", "attributes": {"llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f", "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{\"a\": 1}"}, "events": []}],
      "next_cursor": null}"#;
    let episode = only(page);
    assert_eq!(told(&episode), ">f{\"a\":1} | f<stuck");
    let errors = &episode.steps[0].details.errors;
    assert!(matches!(&errors[..], [error] if &*error.message == "It is stuck."));
    // The kind of the protocol is none of these, and one that nobody said is none.
    for kind in ["SPAN_KIND_CLIENT", "UNKNOWN"] {
        let page = page.replace("\"LLM\"", &format!("\"{kind}\""));
        let page = page.replace(
            "\"attributes\": {\"llm",
            "\"attributes\": {\"llm.request.type\": \"chat\", \"llm",
        );
        assert_eq!(told(&only(&page)), ">f{\"a\":1} | f<stuck", "{kind}");
    }
}

/// The protocol's names as Phoenix writes them, with all kinds that a value may have.
#[test]
fn a_page_of_the_protocols_spans() {
    let of = |kind: &str, value: &str| {
        let kinds = ["array_value", "bool_value", "int_value", "string_value"];
        let kinds = kinds.map(|other| {
            if other == kind {
                format!("\"{other}\": {value}")
            } else {
                format!("\"{other}\": null")
            }
        });
        format!("{{{}}}", kinds.join(", "))
    };
    let attributes = [
        ("openinference.span.kind", of("string_value", "\"LLM\"")),
        (
            "llm.output_messages.0.message.content",
            of("string_value", "\"x\""),
        ),
        ("llm.token_count.prompt", of("int_value", "\"7\"")),
        ("odd", of("", "")),
    ];
    let attributes =
        attributes.map(|(key, value)| format!("{{\"key\": \"{key}\", \"value\": {value}}}"));
    let episode = only(&format!(
        "{{\"data\": [{{\"trace_id\": \"t\", \"span_id\": \"a\", \"parent_span_id\": null, \"name\": \"ask\", \"start_time_unix_nano\": 1760000001000000000, \"status\": {{\"code\": 2, \"message\": null}}, \"attributes\": [{}]}}]}}",
        attributes.join(", ")
    ));
    assert_eq!(told(&episode), "assistant:x");
    assert_eq!(episode.usage().input, Some(7));
    assert_eq!(&*episode.steps[0].details.errors[0].message, "It failed.");
    assert_eq!(episode.steps[0].extras.get("odd"), Some(&Json::Null));
}

/// Each answers its own call, though the model's calls of the same tool were never run.
#[test]
fn tools_that_no_model_asked_for() {
    let tool =
        r#""openinference.span.kind": "TOOL", "input.value": "{\"a\": 9}", "output.value": "nine""#;
    let episode = episode(&[("ask", "", TURN), ("f", "", tool)]);
    assert_eq!(
        told(&episode),
        ">f{\"a\":1}+f{\"a\":2} | >f{\"a\":9} | f<nine"
    );
    let AnyMessage::Response(answer) = &episode.steps[1].messages()[0] else {
        panic!()
    };
    let AnyMessage::Request(request) = &episode.steps[1].action else {
        panic!()
    };
    assert_eq!(answer.tool_call_id, request.tool_calls[0].id);
}

/// A tool may give what looks like blocks of a message.
#[test]
fn tool_results_are_unchanged() {
    let listed = r#"[{\"type\":  \"tool_use\", \"name\": \"g\"}]"#;
    let turn = format!(
        r#""gen_ai.request.model": "m", "gen_ai.prompt.0.role": "assistant", "gen_ai.prompt.0.tool_calls.0.name": "f", "gen_ai.prompt.0.tool_calls.0.id": "c", "gen_ai.prompt.1.role": "tool", "gen_ai.prompt.1.tool_call_id": "c", "gen_ai.prompt.1.content": "{listed}", "gen_ai.completion.0.content": "two.""#
    );
    let start = episode(&[("ask", "", &turn)]).start;
    let said = start.last().unwrap().body().content.as_deref();
    assert_eq!(said, Some(r#"[{"type":  "tool_use", "name": "g"}]"#));
}

/// What a model was told of a tool does not say that it failed.
#[test]
fn tools_that_failed_and_were_answered() {
    let call = r#""llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f", "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c""#;
    let asked = call.replace("output_messages.0", "input_messages.0");
    let ask = format!(r#""openinference.span.kind": "LLM", {call}"#);
    let again = format!(
        r#""openinference.span.kind": "LLM", {asked}, "llm.input_messages.0.message.role": "assistant", "llm.input_messages.1.message.role": "tool", "llm.input_messages.1.message.tool_call_id": "c", "llm.input_messages.1.message.content": "stuck", "llm.output_messages.0.message.content": "So be it.""#
    );
    for named in ["", r#", "tool_call.id": "c""#] {
        let tool = format!(r#""openinference.span.kind": "TOOL"{named}"#);
        let text = spans(&[("ask", "", &ask), ("f", "", &tool), ("ask", "", &again)]);
        let failed =
            r#""name": "f", "status": {"status_code": "ERROR", "description": "It is stuck."}"#;
        let episode = only(&text.replace(r#""name": "f""#, failed));
        assert_eq!(told(&episode), ">f{} | f<stuck | assistant:So be it.");
        let errors = episode.steps.iter().map(|step| &step.details.errors[..]);
        let [[error], []] = errors.collect::<Vec<_>>()[..] else {
            panic!("{:?}", episode.steps);
        };
        assert_eq!(
            (&*error.message, error.call.as_deref()),
            ("It is stuck.", Some("c"))
        );
    }
}

#[test]
fn spans_of_many_attributes_take_linear_time() {
    let message = |index: usize| {
        format!(
            "{{\"key\": \"llm.input_messages.{index}.message.content\", \"value\": {{\"stringValue\": \"x\"}}}}"
        )
    };
    let messages: Vec<String> = (0..50_000).map(message).collect();
    let episode = only(&format!(
        "{{\"resourceSpans\": [{{\"scopeSpans\": [{{\"spans\": [{{\"traceId\": \"t\", \"spanId\": \"a\", \"attributes\": [{{\"key\": \"openinference.span.kind\", \"value\": {{\"stringValue\": \"LLM\"}}}}, {}]}}]}}]}}]}}",
        messages.join(", ")
    ));
    assert_eq!(episode.start.len(), 50_000);
}

/// Steps of a graph that are called agents are none: what they did belongs to one conversation.
#[test]
fn steps_of_a_graph_are_no_agents() {
    let agent = r#""openinference.span.kind": "AGENT""#;
    let turn = r#""openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "x""#;
    let graph = [
        ("graph", "", r#""openinference.span.kind": "CHAIN""#),
        ("agent", "0", agent),
        ("ask", "1", turn),
        ("agent", "0", agent),
        ("ask", "3", turn),
    ];
    assert_eq!(told(&episode(&graph)), "assistant:x | assistant:x");
    let helper = [
        ("main", "", agent),
        ("ask", "0", turn),
        ("helper", "0", agent),
        ("ask", "2", turn),
    ];
    let outcome = imported(&spans(&helper));
    let names: Vec<&str> = outcome.episodes.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["main", "helper"]);
}

#[test]
fn tools_of_langchain() {
    let turn = r#""llm.request.type": "chat", "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.name": "f", "gen_ai.completion.0.tool_calls.0.id": "c", "gen_ai.completion.0.tool_calls.0.arguments": "{\"a\": 1}""#;
    let tool = r#""traceloop.span.kind": "tool", "traceloop.entity.name": "f", "traceloop.entity.input": "{\"input_str\": \"{'a': 1}\", \"inputs\": {\"a\": 1}, \"kwargs\": {}}", "traceloop.entity.output": "{\"output\": \"one\", \"kwargs\": {}}""#;
    let episode = episode(&[("ask", "", turn), ("f.tool", "", tool)]);
    assert_eq!(told(&episode), ">f{\"a\":1} | f<one");
}
