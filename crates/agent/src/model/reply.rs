//! Parses the bytes of a reply, as they arrive, into deltas and the answer.
//!
//! The kind of a reply is detected by its first bytes, and only then by its content type or the request: some servers
//! ignore `stream`, others send errors as JSON with the content type of a stream. The result does not depend on how the
//! bytes are split.

use volary_core::json::read;

use super::error_body::{ErrorBody, looks_like_html, shown};
use super::sse::SseParser;
use super::{Answer, ApiKey, Delta, ModelError, Provider, StreamReader};

/// The size limit of a streamed reply. Streams wrap a few bytes of text in some hundred.
const STREAM_MEGABYTES: usize = 64;
/// The size limit of a complete reply, a text or an event.
const WHOLE_MEGABYTES: usize = 16;
/// The number of stored bytes of an error's body.
const ERROR_BODY_BYTES: usize = 64 * 1024;
/// The number of bytes needed to detect the kind of a reply.
const TELLING_BYTES: usize = 8;

const MEGABYTE: usize = 1_000_000;

enum Body {
    /// Too few bytes to detect the kind.
    Untold(Vec<u8>),
    Whole(Vec<u8>),
    Stream {
        parser: SseParser,
        reader: Box<dyn StreamReader>,
        /// The length of the text parsed so far.
        content: usize,
    },
    Error {
        status: u16,
        retry_after: Option<f64>,
        bytes: Vec<u8>,
    },
}

/// An incremental parser of a reply.
pub struct Reply {
    provider: &'static dyn Provider,
    key: ApiKey,
    says_stream: bool,
    body: Body,
    received: usize,
}

impl Reply {
    /// A reply whose head was received. `retry_after` is the value of that header in seconds
    /// (see [`retry::seconds_of_header`](super::retry::seconds_of_header)).
    pub fn new(
        provider: &'static dyn Provider,
        key: &ApiKey,
        status: u16,
        content_type: &str,
        retry_after: Option<f64>,
    ) -> Self {
        let body = if (200..300).contains(&status) {
            Body::Untold(Vec::new())
        } else {
            Body::Error {
                status,
                retry_after,
                bytes: Vec::new(),
            }
        };
        let content_type = content_type.to_ascii_lowercase();
        Reply {
            provider,
            key: key.clone(),
            says_stream: content_type.contains("text/event-stream"),
            body,
            received: 0,
        }
    }

    /// Adds bytes and appends the resulting deltas to `deltas`, also those before an error. After an error
    /// nothing more may be added.
    pub fn push(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Body::Error { bytes: known, .. } = &mut self.body {
            // However long the body is, it stays an error, and its beginning identifies it.
            let room = ERROR_BODY_BYTES.saturating_sub(known.len());
            known.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            return Ok(());
        }
        self.received += bytes.len();
        let untold;
        let bytes = match &mut self.body {
            Body::Untold(known) => {
                known.extend_from_slice(bytes);
                if !is_telling(known) {
                    return Ok(());
                }
                untold = std::mem::take(known);
                self.body = told(&untold, self.says_stream, self.provider);
                untold.as_slice()
            }
            _ => bytes,
        };
        self.take(bytes, deltas)
    }

    fn take(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        match &mut self.body {
            Body::Whole(known) => {
                within(self.received, WHOLE_MEGABYTES)?;
                known.extend_from_slice(bytes);
            }
            Body::Stream {
                parser,
                reader,
                content,
            } => {
                within(self.received, STREAM_MEGABYTES)?;
                let before = deltas.len();
                parser
                    .push(bytes, &mut |event| reader.event(event, deltas))
                    .map_err(|error| redacted(error, &self.key))?;
                *content += deltas.iter().skip(before).map(length).sum::<usize>();
                within(*content, WHOLE_MEGABYTES)?;
                within(parser.pending(), WHOLE_MEGABYTES)?;
            }
            Body::Untold(_) | Body::Error { .. } => {}
        }
        Ok(())
    }

    /// The answer so far, to be stored when a stream breaks.
    pub fn partial(&self) -> Option<Answer> {
        match &self.body {
            Body::Stream { reader, .. } => Some(reader.partial()),
            Body::Untold(_) | Body::Whole(_) | Body::Error { .. } => None,
        }
    }

    /// Ends the reply and returns the answer. The last deltas are appended to `deltas`.
    pub fn finish(mut self, deltas: &mut Vec<Delta>) -> Result<Answer, ModelError> {
        if let Body::Untold(known) = &mut self.body {
            let known = std::mem::take(known);
            self.body = told(&known, self.says_stream, self.provider);
            self.take(&known, deltas)?;
        }
        let answer = match self.body {
            Body::Untold(_) => Err(ModelError::Cut),
            Body::Error {
                status,
                retry_after,
                bytes,
            } => {
                let error_body = ErrorBody::of_body(&bytes, &self.key);
                Err(ModelError::Status {
                    status,
                    message: error_body.message,
                    code: error_body.code,
                    parameter: error_body.parameter,
                    retry_after: retry_after.or(error_body.retry_after),
                })
            }
            Body::Whole(bytes) => whole(self.provider, &bytes, &self.key),
            Body::Stream {
                parser, mut reader, ..
            } => streamed(parser, &mut *reader, deltas),
        };
        answer.map_err(|error| redacted(error, &self.key))
    }
}

fn within(bytes: usize, limit_megabytes: usize) -> Result<(), ModelError> {
    if bytes > limit_megabytes * MEGABYTE {
        return Err(ModelError::TooLarge { limit_megabytes });
    }
    Ok(())
}

/// Whether the bytes suffice to detect the kind of the reply.
fn is_telling(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().len() >= TELLING_BYTES
}

/// The kind of the reply by its first bytes.
fn told(bytes: &[u8], says_stream: bool, provider: &'static dyn Provider) -> Body {
    let start = bytes.trim_ascii_start();
    let is_document = matches!(start.first(), Some(b'{' | b'[' | b'<'));
    let is_event = start.starts_with(b":")
        || [&b"data:"[..], b"event:", b"id:", b"retry:"]
            .iter()
            .any(|field| start.starts_with(field));
    if is_event || says_stream && !is_document {
        Body::Stream {
            parser: SseParser::default(),
            reader: provider.stream(),
            content: 0,
        }
    } else {
        Body::Whole(Vec::new())
    }
}

fn length(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments { text, .. } => text.len(),
        Delta::CallStarted { name, .. } => name.len(),
        Delta::Usage(_) => 0,
    }
}

fn whole(provider: &dyn Provider, bytes: &[u8], key: &ApiKey) -> Result<Answer, ModelError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    match read(text) {
        Ok(body) => provider.read(&body),
        Err(_) if is_cut(text) => Err(ModelError::Cut),
        Err(error) => Err(ModelError::Malformed {
            format: "JSON",
            reason: if text.trim().is_empty() {
                "it is empty.".into()
            } else if looks_like_html(text) {
                "it is a web page. The address is not that of a model; check the base URL.".into()
            } else {
                let begin = shown(&key.redact(text));
                format!("{error}. It begins with: {begin}").into()
            },
        }),
    }
}

/// Whether a text is an incomplete JSON document: an opening bracket is not closed.
fn is_cut(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    true
}

fn streamed(
    parser: SseParser,
    reader: &mut dyn StreamReader,
    deltas: &mut Vec<Delta>,
) -> Result<Answer, ModelError> {
    if let Some(event) = parser.finish() {
        // A truncated stream ends in half an event, which is not malformed.
        match reader.event(&event, deltas) {
            Ok(()) | Err(ModelError::Malformed { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    reader.finish()
}

fn redacted(error: ModelError, key: &ApiKey) -> ModelError {
    match error {
        ModelError::Reported {
            message,
            code,
            transient,
        } => ModelError::Reported {
            message: shown(&key.redact(&message)).into(),
            code: code.map(|code| key.redact(&code).into()),
            transient,
        },
        ModelError::Malformed { format, reason } => ModelError::Malformed {
            format,
            reason: key.redact(&reason).into(),
        },
        ModelError::Refused { reason } => ModelError::Refused {
            reason: key.redact(&reason).into(),
        },
        other => other,
    }
}
