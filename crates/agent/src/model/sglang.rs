//! SGLang's `/generate`: a prompt goes in, text and sampled tokens come out. There are no messages and no tools on this
//! wire: a chat template renders them into the prompt, and a parser finds the calls in the text.
//!
//! Rendering needs a template engine and a tokenizer, which are large. The caller therefore renders the body and passes
//! it in [`ModelRequest::generate`]. [`setup`] holds the settings of the rendering, [`conversation`] its input.
//!
//! The whole reply is stored as the answer's echo, so the episode keeps the sampled tokens of each turn.

pub mod conversation;
pub mod setup;

use volary_core::json::{Json, Text, read};
use volary_rollout::sglang::{FinishReason, GenerateReply, GenerateRequest, Prompt, ReplyError};

use super::history::text_of_message;
use super::openai_chat::{bearer, model_ids, models_request};
use super::sse::SseEvent;
use super::{
    Answer, ApiKey, Delta, Finish, HttpRequest, ModelError, ModelRequest, Provider, StreamReader,
    Usage,
};
use setup::sampling_params;

/// The name of the codec.
pub const NAME: &str = "sglang";

/// The mark that ends a turn in Qwen's templates.
const END_OF_TURN: &str = "<|im_end|>";

/// The codec.
pub struct Sglang;

impl Provider for Sglang {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, base_url: &str, key: &ApiKey, request: &ModelRequest) -> HttpRequest {
        let body = request.generate.clone().unwrap_or_else(|| plain(request));
        HttpRequest {
            url: format!("{base_url}/generate"),
            headers: bearer(key),
            body: body.to_compact_text(),
        }
    }

    fn read(&self, body: &Json) -> Result<Answer, ModelError> {
        let reply = GenerateReply::read(body).map_err(unreadable)?;
        let finish = match &reply.finish_reason {
            FinishReason::Stop => Finish::Stop,
            FinishReason::Length => Finish::Length,
            FinishReason::Other(reason) => Finish::Other(reason.clone()),
            FinishReason::Abort(message) => {
                return Err(ModelError::Reported {
                    message: format!("it aborted the generation: {message}").into(),
                    code: Some("abort".into()),
                    transient: false,
                });
            }
        };
        Ok(Answer {
            text: Some(said(body)),
            finish,
            usage: usage(body),
            echo: vec![body.clone()],
            ..Answer::default()
        })
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(Stream::default())
    }

    fn models(&self, base_url: &str, key: &ApiKey) -> HttpRequest {
        models_request(&format!("{base_url}/v1"), key)
    }

    fn read_models(&self, body: &Json) -> Vec<Text> {
        model_ids(body)
    }
}

/// The text of a reply without the end marker; it contains calls as markup.
pub fn said(body: &Json) -> String {
    let body = match body {
        Json::List(list) => list.first().unwrap_or(body),
        body => body,
    };
    let text = body.get("text").and_then(Json::as_text);
    let text = text.map_or("", |text| text);
    text.strip_suffix(END_OF_TURN).unwrap_or(text).to_owned()
}

/// The body of a request that was not rendered: the contents of the messages, unchanged.
fn plain(request: &ModelRequest) -> Json {
    let texts: Vec<String> = request.messages.iter().map(text_of_message).collect();
    let request = GenerateRequest {
        prompt: Prompt::Text(texts.join("\n\n")),
        sampling_params: sampling_params(request.temperature, request.max_tokens),
        return_logprob: false,
    };
    request.to_json()
}

fn unreadable(error: ReplyError) -> ModelError {
    match error {
        ReplyError::Refused(message) => ModelError::Reported {
            message: message.into(),
            code: None,
            transient: false,
        },
        error => ModelError::Malformed {
            format: "a reply of SGLang's /generate",
            reason: format!("{error}.").into(),
        },
    }
}

fn usage(body: &Json) -> Option<Usage> {
    let body = match body {
        Json::List(list) => list.first()?,
        body => body,
    };
    let meta = body.get("meta_info")?;
    let count = |key: &str| u64::try_from(meta.get(key)?.as_i64()?).ok();
    Some(Usage {
        prompt: count("prompt_tokens")?,
        completion: count("completion_tokens")?,
        cached: count("cached_tokens").unwrap_or(0),
        ..Usage::default()
    })
}

/// Streams are not requested. A server that streams nevertheless repeats the complete reply in each event.
#[derive(Default)]
struct Stream {
    last: Option<Json>,
    said: String,
    usage: Option<Usage>,
    is_finished: bool,
}

impl StreamReader for Stream {
    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        match event.data.trim() {
            "" => {}
            "[DONE]" => self.is_finished = true,
            data => {
                let body = read(data).map_err(|error| ModelError::Malformed {
                    format: "a reply of SGLang's /generate",
                    reason: format!("a piece of the stream is not valid JSON: {error}.").into(),
                })?;
                if let Some(error) = body.get("error") {
                    let message = error.get("message").unwrap_or(error);
                    return Err(unreadable(ReplyError::Refused(message.to_display())));
                }
                let text = body.get("text").and_then(Json::as_text);
                let text = text.map_or("", |text| text.strip_suffix(END_OF_TURN).unwrap_or(text));
                if let Some(more) = text.strip_prefix(&*self.said).filter(|it| !it.is_empty()) {
                    deltas.push(Delta::Text(more.to_owned()));
                    self.said.push_str(more);
                }
                if let Some(usage) = usage(&body).filter(|usage| self.usage != Some(*usage)) {
                    deltas.push(Delta::Usage(usage));
                    self.usage = Some(usage);
                }
                self.last = Some(body);
            }
        }
        Ok(())
    }

    fn partial(&self) -> Answer {
        Answer {
            text: (!self.said.is_empty()).then(|| self.said.clone()),
            usage: self.usage,
            ..Answer::default()
        }
    }

    fn finish(&mut self) -> Result<Answer, ModelError> {
        match &self.last {
            Some(body) if self.is_finished => Sglang.read(body),
            _ => Err(ModelError::Cut),
        }
    }
}
