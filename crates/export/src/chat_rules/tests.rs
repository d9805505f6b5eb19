//! What chat APIs refuse is repaired or reported.

use volary_core::json;

use super::*;

fn line(value: Json) -> Object {
    match value {
        Json::Object(line) => line,
        other => panic!("{other:?}"),
    }
}

fn said(role: &str, content: &str) -> Json {
    json!({"role": role, "content": content})
}

fn calling(ids: &[&str]) -> Json {
    let calls = ids.iter().map(|id| {
        json!({"id": (*id), "type": "function", "function": {"name": "look", "arguments": "{}"}})
    });
    let calls: Vec<Json> = calls.collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn result(id: &str, content: &str) -> Json {
    json!({"role": "tool", "content": content, "tool_call_id": id})
}

fn refused(messages: Vec<Json>) -> Vec<ChatRefusal> {
    let line = line(json!({"messages": messages}));
    refusals(&line).into_iter().collect()
}

/// The messages after a repair, and what is refused of them.
fn repaired(messages: Vec<Json>) -> (Vec<Json>, Vec<ChatRefusal>) {
    let mut line = line(json!({"messages": messages}));
    repair(&mut line);
    let messages = line
        .get("messages")
        .and_then(Json::as_list)
        .unwrap_or_default();
    (messages.to_vec(), refusals(&line).into_iter().collect())
}

#[test]
fn a_usual_conversation_is_not_changed_and_not_refused() {
    let messages = vec![
        said("system", "Be brief."),
        said("user", "How many?"),
        calling(&["a", "b"]),
        result("b", ""),
        result("a", "two"),
        said("assistant", "Two."),
    ];
    assert_eq!(repaired(messages.clone()), (messages, vec![]));
}

#[test]
fn ids_are_made_to_differ_together_with_their_results() {
    let long = "x".repeat(LONGEST_ID + 1);
    let (messages, refusals) = repaired(vec![
        said("user", "Look."),
        calling(&["a", "a", ""]),
        result("a", "first"),
        result("a", "second"),
        result("", "third"),
        calling(&["a"]),
        result("a", "fourth"),
        calling(&[&long, "call_5"]),
        result("call_5", "sixth"),
        result(&long, "fifth"),
    ]);
    assert_eq!(refusals, []);
    let ids = messages
        .iter()
        .flat_map(calls)
        .map(|call| member(call, &["id"]));
    assert_eq!(
        ids.collect::<Vec<_>>(),
        ["a", "a-2", "call_3", "a-4", "call_5", "call_5-6"]
    );
    let results = messages.iter().filter(|message| role(message) == "tool");
    let results = results.map(|it| (member(it, &["tool_call_id"]), member(it, &["content"])));
    assert_eq!(
        results.collect::<Vec<_>>(),
        [
            ("a", "first"),
            ("a-2", "second"),
            ("call_3", "third"),
            ("a-4", "fourth"),
            ("call_5-6", "sixth"),
            ("call_5", "fifth"),
        ]
    );
}

#[test]
fn a_result_belongs_to_the_latest_call_with_its_id() {
    let (messages, refusals) = repaired(vec![
        said("user", "Look."),
        calling(&["a"]),
        calling(&["a"]),
        result("a", "second"),
    ]);
    assert_eq!(refusals, [ChatRefusal::CallWithoutResult]);
    assert_eq!(member(&messages[3], &["tool_call_id"]), "a-2");
}

#[test]
fn results_are_moved_to_their_calls() {
    let (messages, refusals) = repaired(vec![
        said("user", "Look."),
        calling(&["a", "b"]),
        said("user", "Wait."),
        result("a", "1"),
        said("assistant", "I wait."),
        result("b", "2"),
    ]);
    assert_eq!(refusals, []);
    let contents = messages.iter().map(|message| member(message, &["content"]));
    assert_eq!(
        contents.collect::<Vec<_>>(),
        ["Look.", "", "1", "2", "Wait.", "I wait."]
    );
}

#[test]
fn content_is_never_null_without_calls() {
    let empty = |role: &str| json!({"role": role, "content": null, "name": ""});
    let (messages, refusals) = repaired(vec![
        said("user", "x"),
        empty("assistant"),
        calling(&["a"]),
        empty("tool"),
    ]);
    assert_eq!(messages[1], said("assistant", ""));
    assert_eq!(messages[2].get("content"), Some(&Json::Null));
    assert_eq!(messages[3], said("tool", ""));
    assert_eq!(
        refusals,
        [
            ChatRefusal::Empty,
            ChatRefusal::LastCallWithoutResult,
            ChatRefusal::ResultWithoutCall
        ]
    );
}

#[test]
fn numbers_are_what_json_can_represent() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"x\": [NaN, -Infinity, 1.5], \"NaN\": \"NaN\"}"}});
    let mut line = line(json!({
        "messages": [{"role": "assistant", "content": null, "tool_calls": [call]}],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"maximum": (f64::INFINITY)}}}]
    }));
    repair(&mut line);
    let line = Json::Object(line);
    let text = line.to_python_text();
    assert!(text.contains(r#""maximum": null"#), "{text}");
    let arguments = r#"{\"x\": [null, null, 1.5], \"NaN\": \"NaN\"}"#;
    assert!(text.contains(arguments), "{text}");
}

#[test]
fn pairs_of_calls_and_results_are_checked() {
    let user = || said("user", "Look.");
    assert_eq!(
        refused(vec![user(), calling(&["a"]), user()]),
        [ChatRefusal::CallWithoutResult]
    );
    assert_eq!(
        refused(vec![user(), calling(&["a"])]),
        [ChatRefusal::LastCallWithoutResult]
    );
    let twice = vec![user(), calling(&["a"]), result("a", "1"), result("a", "2")];
    assert_eq!(refused(twice.clone()), [ChatRefusal::ResultWithoutCall]);
    assert_eq!(repaired(twice).1, [ChatRefusal::ResultWithoutCall]);
    assert_eq!(
        refused(vec![user(), result("b", "1")]),
        [ChatRefusal::ResultWithoutCall]
    );
    assert_eq!(
        refused(vec![user(), json!({"role": "tool", "content": "x"})]),
        [ChatRefusal::ResultWithoutCall]
    );
}

#[test]
fn conversations_need_a_beginning() {
    assert_eq!(refused(vec![]), [ChatRefusal::NoMessages]);
    let model = said("assistant", "Hello.");
    assert_eq!(
        refused(vec![said("system", "x"), model.clone()]),
        [ChatRefusal::BeginsWithModel]
    );
    assert_eq!(refused(vec![said("user", "x"), model]), []);
    let old = vec![said("user", "x"), said("function", "y")];
    assert_eq!(refused(old), [ChatRefusal::FunctionRole]);
}

#[test]
fn names_and_arguments_of_calls_are_checked() {
    let call = |name: &str, arguments: &str| {
        let call = json!({"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}});
        let call = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        refused(vec![said("user", "x"), call, result("a", "")])
    };
    assert_eq!(call("look-at_2", "{}"), []);
    assert_eq!(call(&"n".repeat(64), "{}"), []);
    for name in ["", "a.b", "a b", "é", &"n".repeat(65)] {
        assert_eq!(call(name, "{}"), [ChatRefusal::FunctionName], "{name}");
    }
    for arguments in ["", "[1]", "{oops}", "null"] {
        assert_eq!(
            call("look", arguments),
            [ChatRefusal::Arguments],
            "{arguments}"
        );
    }
}

#[test]
fn tools_are_checked() {
    let tools = |names: &[&str]| {
        let tools = names
            .iter()
            .map(|name| json!({"type": "function", "function": {"name": (*name)}}));
        let tools: Vec<Json> = tools.collect();
        let line = line(json!({"messages": [{"role": "user", "content": "x"}], "tools": tools}));
        refusals(&line).into_iter().collect::<Vec<_>>()
    };
    assert_eq!(tools(&["a", "b"]), []);
    assert_eq!(tools(&["a", "a"]), [ChatRefusal::RepeatedTool]);
    assert_eq!(tools(&["a/b"]), [ChatRefusal::FunctionName]);
    let many: Vec<String> = (0..=MOST_TOOLS)
        .map(|number| format!("t{number}"))
        .collect();
    let many: Vec<&str> = many.iter().map(AsRef::as_ref).collect();
    assert_eq!(tools(&many), [ChatRefusal::TooManyTools]);
}

#[test]
fn images_are_checked() {
    let image = |role: &str, url: &str| {
        let image = json!([{"type": "image_url", "image_url": {"url": url}}]);
        refused(vec![
            said("user", "x"),
            json!({"role": role, "content": image}),
        ])
    };
    assert_eq!(image("user", "data:image/png;base64,AAAA"), []);
    assert_eq!(image("user", "https://example.org/a.png"), []);
    for address in ["", "file:///a.png", "attachment://1", "data:text/plain,a"] {
        assert_eq!(
            image("user", address),
            [ChatRefusal::ImageAddress],
            "{address}"
        );
    }
    assert_eq!(
        image("system", "data:image/png;base64,AAAA"),
        [ChatRefusal::ImageOfOthers]
    );
}
