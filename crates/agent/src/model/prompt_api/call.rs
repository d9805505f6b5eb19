//! The call of the Prompt API for a request.
//!
//! Each request gets a session of its own with the whole conversation, so that the same request is the same call. Its
//! initial prompts are never dropped by the browser: a conversation that is too long is an error, not a shorter
//! conversation.

use serde::Serialize;
use volary_core::Tool;
use volary_core::json::Json;

use super::constraint::{self, Choices};
use crate::model::ModelRequest;
use crate::model::history::{ContentPart, PastCall, Turn, turns};

/// The language that texts are expected in. Chrome warns without one; others are not rejected.
const LANGUAGE: &str = "en";

/// Replaces an image, which is not sent.
const IMAGE: &str = "(An image, which you cannot see.)";

/// A call: the options of `LanguageModel.create`, and the arguments of `prompt`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Call {
    pub create: CreateOptions,
    /// The last message.
    pub prompt: Vec<PromptMessage>,
    pub options: PromptOptions,
}

/// The options of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateOptions {
    pub expected_inputs: Vec<Expected>,
    pub expected_outputs: Vec<Expected>,
    /// Browsers that do not know it ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_mode: Option<&'static str>,
    /// The conversation without its last message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub initial_prompts: Vec<PromptMessage>,
}

/// A kind of content, and its languages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expected {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub languages: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptMessage {
    /// `system`, which only the first message may have, `user` or `assistant`.
    pub role: &'static str,
    pub content: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptOptions {
    /// The JSON Schema of the answer; `None` means any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_constraint: Option<Json>,
    /// True: the instructions describe the format already, and room for tokens is scarce.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub omit_response_constraint_input: bool,
}

impl Call {
    /// The call for a request.
    pub fn of(request: &ModelRequest) -> Self {
        let choices = Choices::of(request);
        let mut messages = messages(request, &choices);
        let last = messages.pop();
        Call {
            create: CreateOptions {
                sampling_mode: request.sent_temperature().map(sampling_mode),
                initial_prompts: messages,
                ..CreateOptions::expecting_text()
            },
            prompt: last.into_iter().collect(),
            options: PromptOptions {
                omit_response_constraint_input: choices.is_constrained(),
                response_constraint: choices
                    .is_constrained()
                    .then(|| constraint::schema(&choices)),
            },
        }
    }
}

impl CreateOptions {
    /// A session for texts, without prompts. What `availability` has to be asked for.
    pub fn expecting_text() -> Self {
        let text = || Expected {
            kind: "text",
            languages: vec![LANGUAGE],
        };
        CreateOptions {
            expected_inputs: vec![text()],
            expected_outputs: vec![text()],
            ..CreateOptions::default()
        }
    }
}

/// The nearest mode: web pages may not set a temperature.
fn sampling_mode(temperature: f64) -> &'static str {
    match temperature {
        t if t <= 0.0 => "most-predictable",
        t if t < 0.7 => "predictable",
        t if t <= 1.0 => "balanced",
        t if t <= 1.5 => "creative",
        _ => "most-creative",
    }
}

/// The messages; only the first has the role `system`, and the last is the user's.
fn messages(request: &ModelRequest, choices: &Choices<'_>) -> Vec<PromptMessage> {
    let mut told = Vec::new();
    let mut messages = Messages::default();
    for turn in turns(&request.messages, |_, id| id.to_owned()) {
        match turn {
            Turn::System(text) => told.push(text),
            Turn::User(parts) => messages.say("user", text_of(&parts)),
            Turn::Assistant { text, calls, .. } => {
                if calls.is_empty() && choices.is_constrained() {
                    messages.say("assistant", constraint::text_answer(&text));
                } else if !text.trim().is_empty() && calls.is_empty() {
                    messages.say("assistant", text);
                }
                for call in &calls {
                    messages.say("assistant", constraint::call(&call.name, &call.arguments));
                    messages.say("user", result(call));
                }
            }
        }
    }
    if choices.is_constrained() {
        told.push(instructions(choices));
    }
    let system = (!told.is_empty()).then(|| PromptMessage {
        role: "system",
        content: told.join("\n\n"),
    });
    system.into_iter().chain(messages.0).collect()
}

/// Messages in which neighbours have different roles.
#[derive(Default)]
struct Messages(Vec<PromptMessage>);

impl Messages {
    fn say(&mut self, role: &'static str, content: String) {
        match self.0.last_mut() {
            Some(last) if last.role == role => {
                last.content.push_str("\n\n");
                last.content.push_str(&content);
            }
            _ => self.0.push(PromptMessage { role, content }),
        }
    }
}

fn result(call: &PastCall) -> String {
    format!("Result of {}: {}", call.name, text_of(&call.answer))
}

fn text_of(parts: &[ContentPart]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .map(|part| match part {
            ContentPart::Text(text) => &**text,
            ContentPart::Image(_) => IMAGE,
        })
        .collect();
    texts.join("\n")
}

/// The tools, and the format of the answer. Small models need both as text.
fn instructions(choices: &Choices<'_>) -> String {
    let mut text = "You act by calling tools. Answer with one JSON object and nothing else.\n\
                    To call a tool: {\"tool\": its name, \"arguments\": {its arguments}}. \
                    Call one tool at a time. You receive its result before you call the next one."
        .to_owned();
    if choices.may_speak {
        text.push_str("\nTo say something without a call: {\"text\": what you say}.");
    }
    text.push_str("\n\nThe tools:");
    for tool in &choices.tools {
        text.push_str("\n\n");
        text.push_str(&described(tool));
    }
    text
}

fn described(tool: &Tool) -> String {
    let info = &tool.info;
    let parameters = info.parameters.as_ref();
    let schema = parameters.map_or_else(|| "none".to_owned(), |it| it.dump(true).to_compact_text());
    format!(
        "{}: {}\nArguments: {schema}",
        info.name,
        info.description.trim()
    )
}

#[cfg(test)]
mod tests {
    use volary_core::json::{read, to_json};
    use volary_core::message::Message;
    use volary_core::message::Role;
    use volary_core::{AnyMessage, ToolRequestMessage};

    use super::*;
    use crate::model::ToolChoice;

    fn tool(text: &str) -> Tool {
        Tool::read(&read(text).unwrap()).unwrap()
    }

    fn request() -> ModelRequest {
        let action = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"add","arguments":"{\"x\": 2}"}}]}"#;
        let action = ToolRequestMessage::read(&read(action).unwrap()).unwrap();
        ModelRequest {
            messages: vec![
                Message::new(Role::System, "Be brief.").into(),
                Message::user("Count to 5.").into(),
                AnyMessage::from(action),
                Message::user("Go on.").into(),
            ],
            tools: vec![tool(
                r#"{"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}}"#,
            )],
            tool_choice: Some(ToolChoice::Required),
            temperature: Some(0.0),
            ..ModelRequest::default()
        }
    }

    #[test]
    fn a_conversation_becomes_a_session_and_a_prompt() {
        let call = Call::of(&request());
        let roles: Vec<&str> = call.create.initial_prompts.iter().map(|m| m.role).collect();
        assert_eq!(roles, ["system", "user", "assistant"]);
        let system = &call.create.initial_prompts[0].content;
        assert!(system.starts_with("Be brief.\n\nYou act by calling tools."));
        assert!(system.contains("add: Adds.\nArguments: {\"type\":\"object\""));
        assert!(!system.contains("\"text\""), "a call is required");
        assert_eq!(
            call.create.initial_prompts[2].content,
            r#"{"tool":"add","arguments":{"x":2}}"#
        );
        assert_eq!(
            call.prompt,
            [PromptMessage {
                role: "user",
                content: "Result of add: This call was not answered.\n\nGo on.".into()
            }]
        );
        assert_eq!(call.create.sampling_mode, Some("most-predictable"));
    }

    #[test]
    fn the_body_has_the_names_of_the_api() {
        let body = to_json(&Call::of(&request())).unwrap();
        let at = |path: &[&str]| {
            let found = path.iter().try_fold(&body, |value, key| value.get(key));
            found.map(Json::to_compact_text)
        };
        assert_eq!(
            at(&["create", "expectedInputs"]).as_deref(),
            Some(r#"[{"type":"text","languages":["en"]}]"#)
        );
        assert_eq!(
            at(&["options", "omitResponseConstraintInput"]).as_deref(),
            Some("true")
        );
        assert!(at(&["options", "responseConstraint", "anyOf"]).is_some());
        let free = ModelRequest {
            tool_choice: Some(ToolChoice::None),
            temperature: None,
            ..request()
        };
        let free = to_json(&Call::of(&free)).unwrap();
        assert_eq!(free.get("options").unwrap().to_compact_text(), "{}");
        assert_eq!(free.get("create").unwrap().get("samplingMode"), None);
    }

    #[test]
    fn an_empty_request_still_has_a_prompt() {
        let call = Call::of(&ModelRequest::default());
        assert_eq!(call.prompt.len(), 1);
        assert!(call.create.initial_prompts.is_empty());
    }

    #[test]
    fn temperatures_become_modes() {
        let modes = [-1.0, 0.0, 0.2, 0.7, 1.0, 1.2, 2.0].map(sampling_mode);
        assert_eq!(
            modes,
            [
                "most-predictable",
                "most-predictable",
                "predictable",
                "balanced",
                "balanced",
                "creative",
                "most-creative"
            ]
        );
    }
}
