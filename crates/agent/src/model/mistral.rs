//! Mistral Chat Completions: OpenAI's form, with differences that matter. `tool_choice` is `any`
//! where others say `required`; ids of calls are nine letters or digits; the seed is
//! `random_seed`; contents may be chunks, thinking among them, and tools may answer with images; instructions
//! stand at the beginning, and after a tool's answer comes the model's word, never the user's; only a few headers pass its CORS rules.

use volary_core::json::{Json, Text};
use volary_core::object;

use super::history::turns;
use super::openai_chat::completion::read_completion;
use super::openai_chat::messages::{ChatStyle, messages};
use super::openai_chat::stream::ChatStream;
use super::openai_chat::{add_tools, bearer, model_ids, models_request};
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
        let mut body = object!({
            "model": (request.model.clone()),
            "messages": (messages(&history, request, &style)),
        });
        add_tools(&mut body, request, "any");
        if let Some(temperature) = request.sent_temperature() {
            body.insert("temperature", temperature);
        }
        if let Some(limit) = request.max_tokens {
            body.insert("max_tokens", limit);
        }
        if let Some(stop) = request.sent_stop() {
            body.insert("stop", stop);
        }
        if let Some(seed) = request.sent_seed() {
            body.insert("random_seed", seed);
        }
        if let Some(effort) = request.sent_effort() {
            body.insert("reasoning_effort", effort.as_str());
        }
        if request.stream {
            body.insert("stream", true);
        }
        HttpRequest {
            url: format!("{base_url}/chat/completions"),
            headers: bearer(key),
            body: Json::Object(body).to_compact_text(),
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

/// The id itself if it has Mistral's form, else one made from it: always the same, so that a
/// history stays the same from request to request.
fn nine_characters(id: &str) -> String {
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    // FNV-1a, then base 36: 36^9 ids are enough for any history, and clashes are mended there.
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
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
