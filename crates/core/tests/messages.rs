//! Properties of reading and dumping messages and tools.

mod values;

use proptest::prelude::*;
use volary_core::json::{Key, Object};
use volary_core::message::{Body, DumpOptions, Notes};
use volary_core::tool::ToolDumpOptions;
use volary_core::{
    AnyMessage, Json, Message, Role, Tool, ToolCall, ToolRequestMessage, ToolResponseMessage,
};

/// A body that can be dumped: flagged content is valid JSON.
fn body() -> impl Strategy<Value = Body> {
    let content = prop_oneof![
        Just(Body::default()),
        any::<String>().prop_map(Body::text),
        values::json().prop_map(|value| Body::json(&value)),
    ];
    let info = prop::option::of(values::object());
    (content, info).prop_map(|(body, info)| Body { info, ..body })
}

fn call() -> impl Strategy<Value = ToolCall> {
    (any::<String>(), any::<String>(), values::object())
        .prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

fn message() -> impl Strategy<Value = AnyMessage> {
    // A plain message of the assistant has the form of a request and is read as one.
    let role = prop::sample::select(vec![Role::User, Role::System, Role::Tool, Role::Function]);
    let with_content = body().prop_filter("a response has content", |body| body.content.is_some());
    prop_oneof![
        (role, body()).prop_map(|(role, body)| Message { role, body }.into()),
        (body(), prop::collection::vec(call(), 0..3))
            .prop_map(|(body, tool_calls)| ToolRequestMessage { body, tool_calls }.into()),
        (with_content, any::<String>(), any::<String>()).prop_map(|(body, name, id)| {
            ToolResponseMessage {
                body,
                name: name.into(),
                tool_call_id: id.into(),
            }
            .into()
        }),
    ]
}

/// Objects, most of which look like messages.
fn near_message() -> impl Strategy<Value = Json> {
    let roles = ["user", "assistant", "tool", "system", "x"].map(Json::from);
    let role = prop_oneof![
        4 => prop::sample::select(roles.to_vec()),
        1 => values::json(),
    ];
    let near_call = prop_oneof![
        call().prop_map(|call| Json::Object(call.dump())),
        values::json()
    ];
    let field = prop_oneof![
        role.prop_map(|role| ("role", role)),
        values::json().prop_map(|content| ("content", content)),
        values::json().prop_map(|name| ("name", name)),
        any::<String>().prop_map(|id| ("tool_call_id", id.into())),
        prop::collection::vec(near_call, 0..3).prop_map(|calls| ("tool_calls", calls.into())),
        values::json().prop_map(|info| ("info", info)),
        values::json().prop_map(|flag| ("content_is_json_str", flag)),
    ];
    prop::collection::vec(field, 0..6).prop_map(|fields| {
        let pairs = fields
            .into_iter()
            .map(|(key, value)| (Key::from(key), value));
        Json::Object(Object::from_pairs(pairs.collect()))
    })
}

proptest! {
    #[test]
    fn a_dump_with_info_reads_back(message in message()) {
        let dump = Json::Object(message.dump(&DumpOptions::with_info()).unwrap());
        let mut notes = Notes::new();
        prop_assert_eq!(AnyMessage::read_noting(&dump, &mut notes).unwrap(), message);
        prop_assert!(notes.is_empty());
        // The text round-trips too.
        let text = dump.to_python_text();
        prop_assert_eq!(Json::parse(&text).unwrap(), dump);
    }

    #[test]
    fn reading_a_union_never_panics(value in prop_oneof![near_message(), values::json()]) {
        if let Ok(message) = AnyMessage::read(&value) {
            let _ = message.to_string();
            for include_info in [false, true] {
                let options = DumpOptions { include_info, ..DumpOptions::default() };
                let _ = message.dump(&options);
            }
        }
        let _ = Message::read(&value);
        let _ = Message::read_env_state(&value);
        let _ = ToolRequestMessage::read(&value);
        let _ = ToolResponseMessage::read(&value);
        let _ = ToolCall::read(&value);
    }

    #[test]
    fn added_text_is_where_it_was_added(body in body(), text in "[a-z]{1,5}") {
        let mut appended = body.clone();
        if appended.append_text(&text, "|").is_ok() {
            let content = appended.content_or_empty().to_owned();
            let end = if body.content_is_json_str && !body.content_or_empty().is_empty() {
                format!("\"text\": \"{text}\"}}]")
            } else {
                text
            };
            prop_assert!(content.ends_with(&end));
        } else {
            prop_assert_eq!(appended, body);
        }
    }

    #[test]
    fn tools_never_panic_and_read_back(value in near_tool()) {
        if let Ok(tool) = Tool::read(&value) {
            for by_alias in [false, true] {
                let options = ToolDumpOptions { by_alias, exclude_none: false };
                let mut again = Tool::read(&tool.dump(options).into()).unwrap();
                // Read, never written.
                again.concurrency_safe = tool.concurrency_safe;
                prop_assert_eq!(&again, &tool);
            }
            let _ = tool.info.describe_str();
            prop_assert!(Json::parse(&tool.info.describe_json()).is_ok());
        }
    }
}

fn near_tool() -> impl Strategy<Value = Json> {
    let property = prop_oneof![
        4 => values::object().prop_map(Json::Object),
        2 => prop::collection::vec(values::json(), 0..3).prop_map(|parts| {
            let mut property = Object::new();
            property.insert("anyOf", parts);
            property.into()
        }),
        1 => values::json(),
    ];
    let properties = prop::collection::vec((any::<String>(), property), 0..4);
    (
        any::<String>(),
        any::<String>(),
        properties,
        values::object(),
        any::<bool>(),
    )
        .prop_map(|(name, description, properties, mut parameters, is_null)| {
            let properties: Object = properties
                .into_iter()
                .map(|(name, property)| (Key::from(name), property))
                .collect();
            parameters.insert("type", "object");
            parameters.insert("properties", properties);
            parameters.insert("required", vec!["a"]);
            let parameters = if is_null {
                Json::Null
            } else {
                parameters.into()
            };
            let mut info = Object::new();
            info.insert("name", name);
            info.insert("description", description);
            info.insert("parameters", parameters);
            let mut tool = Object::new();
            tool.insert("info", info);
            tool.into()
        })
}
