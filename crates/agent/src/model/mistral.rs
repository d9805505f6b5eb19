//! Mistral Chat Completions: OpenAI's format, with these differences.
//!
//! - `tool_choice` is `any` instead of `required`; the seed is `random_seed`.
//! - Ids of calls are nine letters or digits.
//! - Contents may be chunks, some of them thinking, and a tool result may contain images.
//! - Instructions must come first, and a tool result must be followed by a message of the model, not of the user.
//! - Its CORS rules allow only a few headers.

use volary_core::json::{Json, Text};
use volary_core::random::stable_hash;

use super::history::turns;
use super::openai_chat::completion::read_completion;
use super::openai_chat::messages::{ChatStyle, messages};
use super::openai_chat::stream::ChatStream;
use super::openai_chat::wire::ChatRequest;
use super::openai_chat::{
    bearer, body_text, model_ids, models_request, response_format, tool_choice, tools,
};
use super::{Answer, ApiKey, HttpRequest, ModelError, ModelRequest, Provider, StreamReader};

const NAME: &str = "mistral";

/// The codec.
pub struct Mistral;

impl Provider for Mistral {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let history = turns(&request.messages, |_, id| nine_characters(id));
        let style = ChatStyle {
            provider: NAME,
            images_in_answers: true,
            system_anywhere: false,
            bridge: true,
        };
        let body = ChatRequest {
            model: request.model.clone(),
            messages: messages(&history, request, &style),
            tools: tools(request),
            tool_choice: tool_choice(request, "any"),
            temperature: request.sent_temperature(),
            max_tokens: request.max_tokens,
            stop: request.sent_stop(),
            random_seed: request.sent_seed(),
            reasoning_effort: request.sent_effort(),
            response_format: response_format(request),
            stream: request.stream,
            ..ChatRequest::default()
        };
        HttpRequest {
            url: format!("{base_url}/chat/completions"),
            headers: bearer(key),
            body: body_text(&body),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        read_completion(body)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(ChatStream::default())
    }

    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest {
        models_request(base_url, key)
    }

    fn read_models(&self, body: &Json) -> Vec<Text> {
        model_ids(body)
    }
}

/// The id itself if it has Mistral's format, else one derived from it. The mapping is deterministic, so a
/// history is the same in every request.
fn nine_characters(id: &str) -> String {
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    // In base 36: 36^9 ids are enough for any history, and collisions are resolved there.
    let mut hash = stable_hash(id.bytes());
    (0..9)
        .map(|_| {
            let digit = u32::try_from(hash % 36).unwrap_or(0);
            hash /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_get_the_form_that_mistral_wants() {
        assert_eq!(nine_characters("abcDEF123"), "abcDEF123");
        for id in ["", "call_1", "toolu_0123456789", "é"] {
            let made = nine_characters(id);
            assert_eq!(made.len(), 9, "{id}");
            assert!(made.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            assert_eq!(made, nine_characters(id));
        }
        assert_ne!(nine_characters("call_1"), nine_characters("call_2"));
    }
}
