//! The bytes of a reply, as they come, to deltas and the answer.
//!
//! Whether the reply is whole or streamed is seen from its content type, not from what was asked
//! for: some servers ignore `stream`. How the bytes are cut changes nothing.

use volary_core::json::{Json, read};

use super::sse::SseParser;
use super::{Answer, ApiKey, Delta, ModelError, Provider, StreamReader};

/// Replies beyond this are no answers.
const LIMIT_MEGABYTES: usize = 64;

/// How much of an error's text is shown.
const SHOWN_CHARACTERS: usize = 600;

enum Body {
    Whole(Vec<u8>),
    Stream {
        parser: SseParser,
        reader: Box<dyn StreamReader>,
    },
    Error {
        status: u16,
        retry_after: Option<f64>,
        bytes: Vec<u8>,
    },
}

/// A reply that is being read.
pub struct Reply {
    provider: &'static dyn Provider,
    key: ApiKey,
    body: Body,
    received: usize,
}

impl Reply {
    /// A reply whose head has come. `retry_after` is that header's value in seconds.
    pub fn new(
        provider: &'static dyn Provider,
        key: &ApiKey,
        status: u16,
        content_type: &str,
        retry_after: Option<f64>,
    ) -> Self {
        let body = if !(200..300).contains(&status) {
            Body::Error {
                status,
                retry_after,
                bytes: Vec::new(),
            }
        } else if content_type
            .to_ascii_lowercase()
            .contains("text/event-stream")
        {
            Body::Stream {
                parser: SseParser::default(),
                reader: provider.stream(),
            }
        } else {
            Body::Whole(Vec::new())
        };
        Reply {
            provider,
            key: key.clone(),
            body,
            received: 0,
        }
    }

    /// Takes more bytes; gives what they bring.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, ModelError> {
        self.received += bytes.len();
        if self.received > LIMIT_MEGABYTES * 1_000_000 {
            return Err(ModelError::TooLarge {
                limit_megabytes: LIMIT_MEGABYTES,
            });
        }
        let mut deltas = Vec::new();
        match &mut self.body {
            Body::Whole(known) | Body::Error { bytes: known, .. } => known.extend_from_slice(bytes),
            Body::Stream { parser, reader } => {
                for event in parser.push(bytes) {
                    reader
                        .event(&event, &mut deltas)
                        .map_err(|error| redacted(error, &self.key))?;
                }
            }
        }
        Ok(deltas)
    }

    /// The answer as far as it came: what to keep of a stream that broke.
    pub fn partial(&mut self) -> Option<Answer> {
        match &mut self.body {
            Body::Stream { reader, .. } => Some(reader.answer().0),
            Body::Whole(_) | Body::Error { .. } => None,
        }
    }

    /// The reply is over: the answer.
    pub fn finish(self) -> Result<Answer, ModelError> {
        let key = self.key;
        let answer = match self.body {
            Body::Error {
                status,
                retry_after,
                bytes,
            } => Err(ModelError::Status {
                status,
                message: error_text(&bytes).into(),
                retry_after,
            }),
            Body::Whole(bytes) => whole(self.provider, &bytes),
            Body::Stream { parser, mut reader } => streamed(parser, &mut *reader),
        };
        answer.map_err(|error| redacted(error, &key))
    }
}

fn whole(provider: &dyn Provider, bytes: &[u8]) -> Result<Answer, ModelError> {
    let text = String::from_utf8_lossy(bytes);
    match read(&text) {
        Ok(body) => provider.read(&body),
        Err(error) => Err(ModelError::Malformed {
            format: "JSON",
            reason: if looks_like_html(&text) {
                "it is a web page. The address is not that of a model; check the base URL.".into()
            } else {
                format!("{error}. It begins with: {}", shown(&text)).into()
            },
        }),
    }
}

fn streamed(parser: SseParser, reader: &mut dyn StreamReader) -> Result<Answer, ModelError> {
    if let Some(event) = parser.finish() {
        // Half an event is what a cut leaves behind, not a malformed one.
        match reader.event(&event, &mut Vec::new()) {
            Ok(()) => {}
            Err(ModelError::Malformed { .. }) => return Err(ModelError::Cut),
            Err(error) => return Err(error),
        }
    }
    match reader.answer() {
        (answer, true) => Ok(answer),
        (_, false) => Err(ModelError::Cut),
    }
}

/// What an error's body says, whatever its form.
fn error_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let message = read(&text).ok().and_then(|body| message_in(&body));
    match message {
        Some(message) => shown(&message),
        None if text.trim().is_empty() => "it gave no reason.".into(),
        None if looks_like_html(&text) => {
            "it sent a web page, so something other than a model answered; check the base URL."
                .into()
        }
        None => shown(&text),
    }
}

/// The message in an error's body: `error.message`, `error`, `message`, `detail`, or the same in the
/// first element of a list.
pub(super) fn message_in(body: &Json) -> Option<String> {
    if let Some(first) = body.as_list().and_then(<[Json]>::first) {
        return message_in(first);
    }
    for key in ["error", "message", "detail"] {
        match body.get(key) {
            Some(Json::Text(text)) => return Some(text.to_string()),
            Some(inner @ (Json::Object(_) | Json::List(_))) => {
                return Some(message_in(inner).unwrap_or_else(|| inner.to_compact_text()));
            }
            _ => {}
        }
    }
    body.get("msg")
        .and_then(Json::as_text)
        .map(|text| text.to_string())
}

fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start().get(..14).unwrap_or(text.trim_start());
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html")
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn redacted(error: ModelError, key: &ApiKey) -> ModelError {
    match error {
        ModelError::Status {
            status,
            message,
            retry_after,
        } => ModelError::Status {
            status,
            message: key.redact(&message).into(),
            retry_after,
        },
        ModelError::Reported { message, transient } => ModelError::Reported {
            message: key.redact(&message).into(),
            transient,
        },
        ModelError::Malformed { format, reason } => ModelError::Malformed {
            format,
            reason: key.redact(&reason).into(),
        },
        other => other,
    }
}
