//! The model settings of a policy, as a form and as a value. Pure.

use volary_agent::model::{ModelRequest, ToolChoice};
use volary_core::AnyMessage;
use volary_core::json;
use volary_core::json::{Json, Object, Text};
use volary_core::message::{Body, Message, Role};
use volary_episode::Episode;

use volary_connections::models::sampling::Sampling;

const SYSTEM_PROMPT: &str = "System prompt";
const TOOL_CHOICE: &str = "Tool choice";

/// The properties of the form, except those of [`sampling`](volary_connections::models::sampling).
pub fn properties() -> Object {
    let schema = json!({
        SYSTEM_PROMPT: {
            "type": "string",
            "description": "Sent to the model before everything else.",
            "format": "multiline",
            "default": ""
        },
        TOOL_CHOICE: {
            "enum": ["required", "auto"],
            "description": "Whether the model must call a tool in each response.",
            "default": "required"
        }
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// The system prompt, if there is one.
pub fn system_prompt(settings: &Object) -> Option<&Text> {
    let prompt = settings.get(SYSTEM_PROMPT).and_then(Json::as_text);
    prompt.filter(|prompt| !prompt.trim().is_empty())
}

/// Builds the next request of an episode.
pub fn request(model: &str, settings: &Object, episode: &Episode) -> ModelRequest {
    let text = |key: &str| settings.get(key).and_then(Json::as_text);
    let prompt = system_prompt(settings).map(|prompt| {
        AnyMessage::from(Message {
            role: Role::System,
            body: Body {
                content: Some(prompt.clone()),
                ..Body::default()
            },
        })
    });
    let mut request = ModelRequest {
        model: model.into(),
        messages: prompt
            .into_iter()
            .chain(episode.messages().cloned())
            .collect(),
        tools: episode.tools.clone(),
        tool_choice: Some(match text(TOOL_CHOICE).map(|word| &**word) {
            Some("auto") => ToolChoice::Auto,
            _ => ToolChoice::Required,
        }),
        stream: true,
        ..ModelRequest::default()
    };
    Sampling::read(&Json::Object(settings.clone())).apply(&mut request);
    request
}

#[cfg(test)]
mod tests {
    use volary_agent::model::Effort;
    use volary_core::object;

    use super::*;

    #[test]
    fn chosen_settings_are_sent() {
        let episode = Episode {
            start: vec![Message::user("Go.").into()],
            ..Episode::default()
        };
        let bare = request("m", &Object::new(), &episode);
        assert_eq!(bare.messages, episode.start);
        assert_eq!(bare.tool_choice, Some(ToolChoice::Required));
        let settings = object!({
            "System prompt": "Be brief.",
            "Tool choice": "auto",
            "Temperature": 0.5,
            "Maximum tokens": 100,
            "Effort": "low"
        });
        let full = request("m", &settings, &episode);
        assert_eq!(full.messages.len(), 2);
        assert_eq!(full.tool_choice, Some(ToolChoice::Auto));
        assert_eq!(
            (full.temperature, full.max_tokens, full.effort),
            (Some(0.5), Some(100), Some(Effort::Low))
        );
    }
}
