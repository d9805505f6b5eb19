//! Scripts as people write them: parsed, rejected with the position of the error, written again.

use proptest::collection::vec;
use proptest::prelude::*;
use volary_agent::Scripted;
use volary_core::json::Json;
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{ToolCall, ToolRequestMessage, object};
use volary_episode::call_id;

fn action(step: usize) -> impl Strategy<Value = ToolRequestMessage> {
    let call = ("[a-z]{1,5}", "[ -~é]{0,5}", any::<bool>());
    (vec(call, 0..3), proptest::option::of("[a-z]{0,3}")).prop_map(move |(calls, content)| {
        let calls = calls.into_iter().enumerate();
        let tool_calls = calls.map(|(index, (name, text, own_id))| ToolCall {
            id: if own_id {
                "own".into()
            } else {
                call_id(step, index)
            },
            function: ToolCallFunction {
                name: name.into(),
                arguments: object!({ "text": text, "nan": (Json::Null) }),
            },
        });
        ToolRequestMessage {
            tool_calls: tool_calls.collect(),
            body: content.map(Body::text).unwrap_or_default(),
        }
    })
}

proptest! {
    #[test]
    fn a_script_comes_back(first in action(0), second in action(1)) {
        let script = Scripted::new(vec![first, second]);
        prop_assert_eq!(Scripted::parse(&script.to_text()).unwrap(), script);
    }

    #[test]
    fn any_text_is_a_script_or_an_error(text in "[\\[\\]{}\":, a-z\\n0-9]{0,40}") {
        if let Err(error) = Scripted::parse(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn scripts_are_read_as_people_write_them() {
    let names = |text: &str| {
        let script = Scripted::parse(text).unwrap();
        let actions = script.actions().iter();
        let names = actions.map(|action| {
            let calls = action.tool_calls.iter();
            calls
                .map(|call| call.function.name.to_string())
                .collect::<Vec<_>>()
                .join("+")
        });
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(r#"[{"name": "a"}, [{"name": "b"}, {"name": "c", "arguments": {"x": 1}}]]"#),
        "a b+c"
    );
    assert_eq!(names("{\"name\": \"a\"}\n\n[{\"name\": \"b\"}]\n"), "a b");
    assert_eq!(names(r#"{"name": "a", "arguments": null}"#), "a");
    assert_eq!(names(" \n"), "");
    assert_eq!(
        names(r#"[{"role": "assistant", "content": "hm", "tool_calls": []}]"#),
        ""
    );
}

#[test]
fn faults_are_named_by_their_position() {
    let fault = |text: &str| Scripted::parse(text).unwrap_err().to_string();
    assert_eq!(
        fault("[\n  {\"name\": }\n]"),
        "Line 2, column 12: Expecting value."
    );
    assert_eq!(
        fault("{\"name\": \"a\"}\n{\"name\" 1}"),
        "Line 2, column 9: Expecting ':' delimiter."
    );
    assert_eq!(
        fault(r#"[{"name": "a"}, [{"name": "b"}, {}]]"#),
        "Action 2: call 2: lacks \"name\"."
    );
    assert_eq!(
        fault(r#"[{"name": "a", "arguments": [1]}]"#),
        "Action 1: call 1: \"arguments\" must be an object."
    );
    assert_eq!(
        fault(r#"[{"name": "a", "args": {}}]"#),
        "Action 1: call 1: unknown key \"args\"; expected \"name\", \"arguments\" or \"id\"."
    );
    assert_eq!(
        fault("[5]"),
        "Action 1: call 1: must be an object such as {\"name\": \"calculator\", \"arguments\": {}}."
    );
    assert!(
        fault(r#"[{"role": "user", "content": "hi"}]"#)
            .starts_with("Action 1: a message must be of role")
    );
}
