//! The JSON Schema of an answer: a call of one of the tools, or text if the tool choice allows them.
//!
//! Invariant: an answer that fits the schema is decoded by [`decode`] to a call of one of the tools, or to a text.

use volary_core::json::{Json, Key, Object, read};
use volary_core::{Tool, json, object};

use crate::model::{ModelRequest, RawCall, ToolChoice};

/// What the model may answer.
pub struct Choices<'a> {
    /// The tools that it may call; empty means that the answer is any text.
    pub tools: Vec<&'a Tool>,
    /// Whether it may answer with text instead.
    pub may_speak: bool,
}

impl<'a> Choices<'a> {
    /// The choices of a request.
    pub fn of(request: &'a ModelRequest) -> Self {
        let all = || request.tools.iter().collect();
        match request.choice() {
            // A word of another provider means nothing here.
            None | Some(ToolChoice::Auto | ToolChoice::Word(_)) => Choices {
                tools: all(),
                may_speak: true,
            },
            Some(ToolChoice::Required) => Choices {
                tools: all(),
                may_speak: false,
            },
            Some(ToolChoice::Tool(name)) => Choices {
                tools: request
                    .tools
                    .iter()
                    .filter(|tool| tool.info.name == name)
                    .collect(),
                may_speak: false,
            },
            Some(ToolChoice::None) => Choices {
                tools: Vec::new(),
                may_speak: true,
            },
        }
    }

    /// Whether the answer has to fit a schema.
    pub fn is_constrained(&self) -> bool {
        !self.tools.is_empty()
    }
}

/// The JSON Schema of an answer. Definitions of the tools (`$defs`) move to its root.
pub fn schema(choices: &Choices<'_>) -> Json {
    let mut definitions = Object::new();
    let mut branches: Vec<Json> = choices
        .tools
        .iter()
        .map(|tool| branch(tool, &mut definitions))
        .collect();
    if choices.may_speak {
        branches.push(json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": false
        }));
    }
    let mut schema = object!({"anyOf": (Json::List(branches))});
    if !definitions.is_empty() {
        schema.insert(DEFINITIONS, Json::Object(definitions));
    }
    Json::Object(schema)
}

const DEFINITIONS: &str = "$defs";

fn branch(tool: &Tool, definitions: &mut Object) -> Json {
    let name = &tool.info.name;
    let mut arguments = match &tool.info.parameters {
        Some(parameters) => parameters.dump(true),
        None => object!({"type": "object", "properties": {}}),
    };
    if !arguments.contains_key("additionalProperties") {
        // A small model would otherwise invent members without an end.
        arguments.insert("additionalProperties", false);
    }
    let own = arguments.remove(DEFINITIONS);
    if let Some(Json::Object(own)) = own {
        for (definition, value) in own.iter() {
            definitions.insert(format!("{name}.{definition}"), moved(value, name));
        }
    }
    json!({
        "type": "object",
        "properties": {
            "tool": {"type": "string", "const": (name.clone())},
            "arguments": (moved(&Json::Object(arguments), name))
        },
        "required": ["tool", "arguments"],
        "additionalProperties": false
    })
}

/// The schema with its references to definitions of a tool moved to the root.
fn moved(schema: &Json, tool: &str) -> Json {
    match schema {
        Json::List(list) => Json::List(list.iter().map(|item| moved(item, tool)).collect()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| {
                let local = value.as_text().and_then(|it| it.strip_prefix("#/$defs/"));
                let value = match local {
                    Some(definition) if **key == *"$ref" => {
                        format!("#/$defs/{tool}.{definition}").into()
                    }
                    _ => moved(value, tool),
                };
                (Key::clone(key), value)
            });
            Json::Object(Object::from_distinct(members.collect()))
        }
        other => other.clone(),
    }
}

/// A call as the model has to write it.
pub fn call(name: &str, arguments: &Object) -> String {
    object!({"tool": (name), "arguments": (arguments.clone())}).to_compact_text()
}

/// A text as the model has to write it.
pub fn text_answer(text: &str) -> String {
    object!({"text": (text)}).to_compact_text()
}

/// A decoded answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    Call(RawCall),
    Text(String),
}

/// Decodes an answer to a constrained prompt. Not every browser honours the constraint, and an answer may be cut off:
/// a broken call is a call without a name, which the environment reports to the model; anything else is text.
pub fn decode(answer: &str) -> Decoded {
    let bare = without_fence(answer.trim());
    let Ok(Json::Object(members)) = read(bare) else {
        return if bare.starts_with('{') {
            Decoded::Call(broken(bare))
        } else {
            Decoded::Text(answer.to_owned())
        };
    };
    if let Some(name) = members.get("tool").and_then(Json::as_text) {
        let arguments = match members.get("arguments") {
            None | Some(Json::Null) => "{}".to_owned(),
            // Some models write the arguments as text, as other providers want them.
            Some(Json::Text(text)) => text.to_string(),
            Some(arguments) => arguments.to_compact_text(),
        };
        return Decoded::Call(RawCall {
            id: String::new(),
            name: name.to_string(),
            arguments,
        });
    }
    match members.get("text").and_then(Json::as_text) {
        Some(text) => Decoded::Text(text.to_string()),
        None => Decoded::Call(broken(bare)),
    }
}

fn broken(answer: &str) -> RawCall {
    RawCall {
        arguments: answer.to_owned(),
        ..RawCall::default()
    }
}

/// The text inside a Markdown code block, if it is one.
fn without_fence(text: &str) -> &str {
    let inside = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|rest| rest.strip_suffix("```"));
    inside.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use volary_core::schema;

    use super::*;

    fn tool(text: &str) -> Tool {
        Tool::read(&read(text).unwrap()).unwrap()
    }

    fn tools() -> Vec<Tool> {
        [
            r#"{"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}}"#,
            r##"{"type":"function","function":{"name":"grow","description":"Grows.","parameters":{"type":"object","properties":{"tree":{"$ref":"#/$defs/Tree"}},"required":["tree"],"$defs":{"Tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/Tree"},"n":{"type":"integer"}}}}}}}"##,
            r#"{"type":"function","function":{"name":"stop","description":"Stops.","parameters":null}}"#,
        ]
        .map(tool)
        .into()
    }

    fn request(choice: Option<ToolChoice>) -> ModelRequest {
        ModelRequest {
            tools: tools(),
            tool_choice: choice,
            ..ModelRequest::default()
        }
    }

    fn fits(choice: Option<ToolChoice>, answer: &str) -> bool {
        let request = request(choice);
        let schema = schema(&Choices::of(&request));
        schema::check(&schema, &read(answer).unwrap()).is_empty()
    }

    #[test]
    fn only_calls_of_the_tools_fit() {
        let required = || Some(ToolChoice::Required);
        for answer in [
            r#"{"tool":"add","arguments":{"x":2}}"#,
            r#"{"tool":"stop","arguments":{}}"#,
            r#"{"tool":"grow","arguments":{"tree":{"left":{"n":1},"n":2}}}"#,
        ] {
            assert!(fits(required(), answer), "{answer}");
        }
        for answer in [
            r#"{"tool":"add","arguments":{"x":"two"}}"#,
            r#"{"tool":"add","arguments":{"x":2,"y":3}}"#,
            r#"{"tool":"add"}"#,
            r#"{"tool":"grow","arguments":{"tree":{"left":{"n":"1"}}}}"#,
            r#"{"tool":"sub","arguments":{}}"#,
            r#"{"text":"Hello"}"#,
        ] {
            assert!(!fits(required(), answer), "{answer}");
        }
    }

    #[test]
    fn the_tool_choice_narrows_or_widens() {
        let call = r#"{"tool":"add","arguments":{"x":2}}"#;
        let only = |name: &str| Some(ToolChoice::Tool(name.into()));
        assert!(fits(None, r#"{"text":"Hello"}"#) && fits(None, call));
        assert!(fits(only("add"), call) && !fits(only("stop"), call));
        assert!(!Choices::of(&request(Some(ToolChoice::None))).is_constrained());
        assert!(!Choices::of(&ModelRequest::default()).is_constrained());
    }

    #[test]
    fn what_fits_comes_back() {
        let arguments = object!({"x": 2});
        let expected = RawCall {
            id: String::new(),
            name: "add".into(),
            arguments: r#"{"x":2}"#.into(),
        };
        let written = call("add", &arguments);
        assert_eq!(decode(&written), Decoded::Call(expected.clone()));
        let fenced = format!("```json\n{written}\n```");
        assert_eq!(decode(&fenced), Decoded::Call(expected.clone()));
        let texted = r#"{"tool":"add","arguments":"{\"x\":2}"}"#;
        assert_eq!(decode(texted), Decoded::Call(expected));
        assert_eq!(decode(&text_answer("Hi")), Decoded::Text("Hi".into()));
    }

    #[test]
    fn a_mismatch_is_a_broken_call_or_a_text() {
        for answer in [r#"{"tool":"add","argum"#, "{}", r#"{"tool":3}"#, "{{"] {
            assert_eq!(decode(answer), Decoded::Call(broken(answer)), "{answer}");
        }
        for answer in ["I would add.", "", "[1]", "3"] {
            assert_eq!(decode(answer), Decoded::Text(answer.into()), "{answer}");
        }
        let bare = r#"{"tool":"stop","arguments":null}"#;
        assert!(matches!(decode(bare), Decoded::Call(call) if call.arguments == "{}"));
    }
}
