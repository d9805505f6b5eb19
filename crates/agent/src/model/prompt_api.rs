//! The model built into the browser (the Prompt API of Chrome): no server, no key, no address.
//!
//! The "request" is the call as data, which the page makes instead of an HTTP request: the options and initial prompts
//! of `LanguageModel.create`, and the prompt and the options of `prompt`. The "reply" is what came of it, as data. Both
//! are recorded like any other exchange.
//!
//! The API has no tool calls that a page could answer later, so a tool and its arguments are chosen by
//! `responseConstraint`: a JSON Schema with one branch for each tool.
//!
//! - [`call`]: the call; [`constraint`]: its JSON Schema; [`reply`]: the result and its errors.
//! - [`availability`]: whether this browser has a model, and what is missing.

pub mod availability;
pub mod call;
pub mod constraint;
pub mod reply;

use volary_core::json::{Json, Text, to_json};

use super::sse::SseEvent;
use super::{Answer, ApiKey, Delta, HttpRequest, ModelError, ModelRequest, Provider, StreamReader};
pub use availability::Availability;
pub use call::Call;
pub use reply::{BuiltInError, PromptReply};

/// The name of the codec.
pub const NAME: &str = "prompt-api";

/// Takes the place of an address in a record. No request can be sent there.
pub const ADDRESS: &str = "browser:LanguageModel";

/// The name of the model in records: the API does not tell which one answers.
pub const MODEL: &str = "built-in";

/// Encodes requests as calls of `LanguageModel`, and decodes the answers. It has no server.
pub struct PromptApi;

impl Provider for PromptApi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, _base_url: &str, _key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        // Texts and values always serialize.
        let body = to_json(&Call::of(request)).unwrap_or_default();
        HttpRequest {
            url: ADDRESS.to_owned(),
            headers: Vec::new(),
            body: body.to_compact_text(),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        reply::read(body)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(NoStream)
    }

    fn models(&self, _base_url: &str, _key: &ApiKey) -> HttpRequest {
        HttpRequest {
            url: ADDRESS.to_owned(),
            headers: Vec::new(),
            body: String::new(),
        }
    }

    fn read_models(&self, _body: &Json) -> Vec<Text> {
        vec![MODEL.into()]
    }
}

/// Replies are complete. Anything streamed under this name is not one.
struct NoStream;

impl StreamReader for NoStream {
    fn event(&mut self, _event: &SseEvent, _deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        Ok(())
    }

    fn partial(&self) -> Answer {
        Answer::default()
    }

    fn finish(&mut self) -> Result<Answer, ModelError> {
        Err(ModelError::Cut)
    }
}
