//! The HTTP exchange behind one answer, as it is stored and displayed: exact, but with the key redacted.
//!
//! The sender fills an [`Exchange`] while the request runs. The key cannot get into it: headers are stored in their
//! redacted form, and all texts go through [`ApiKey::redact`].

mod kept;
mod pieces;

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text, from_json, to_json};

pub use kept::{KeptError, KeptExchanges, MOST_BODY, MOST_COPIED};

use super::http::curl;
use super::lenient::{Lenient, LenientList};
use super::{ApiKey, Delta, HttpRequest};

/// The maximum number of bytes stored of a reply. Nobody reads larger ones.
const KEPT_BYTES: usize = 1_000_000;
/// Replaces a reply that repeats the key in pieces.
const WITHHELD: &str = "This response is not stored, because it contains parts of the API key.";

/// A request and its reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// The request's method.
    pub method: Text,
    /// The URL.
    pub url: Text,
    /// Its headers, with a placeholder for the key.
    pub headers: Vec<(Text, Text)>,
    pub body: Text,
    /// The reply; `None` if there was none.
    pub reply: Option<KeptReply>,
    /// How long the parts of the exchange took.
    pub timing: Timing,
    /// The number of attempts, including this one.
    pub attempts: u32,
}

/// The stored form of a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptReply {
    /// The HTTP status.
    pub status: u16,
    pub content_type: Text,
    /// Its body, unparsed, also of streams; only the beginning of a body of more than a megabyte.
    pub body: Text,
    /// The length of the complete body, in bytes.
    pub bytes: usize,
}

impl KeptReply {
    /// How many bytes of the body were stored, if that is only its beginning. The body itself may be shorter or longer,
    /// because the key is redacted and invalid UTF-8 is replaced.
    pub fn kept_bytes(&self) -> Option<usize> {
        (self.bytes > KEPT_BYTES && &*self.body != WITHHELD).then_some(KEPT_BYTES)
    }
}

/// The stored form of an exchange.
#[derive(Serialize, Deserialize)]
struct ExchangeRecord {
    method: Text,
    url: Text,
    headers: LenientList<Lenient<(Text, Text)>>,
    /// A text, or (in [`KeptExchanges`]) its difference from an earlier one.
    body: Json,
    tries: u32,
    #[serde(default)]
    latency: Lenient<f64>,
    #[serde(default)]
    before: Lenient<f64>,
    #[serde(default, skip_serializing_if = "is_absent")]
    reply: Lenient<KeptReply>,
    #[serde(default, skip_serializing_if = "is_absent")]
    first_token: Lenient<f64>,
}

fn is_absent<T>(field: &Lenient<T>) -> bool {
    field.is_none()
}

/// Durations, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// From sending (the attempt that was answered) to the first text, thinking or call; `None` if the answer arrived in
    /// one piece, or never.
    pub first_token: Option<f64>,
    /// From sending (the same attempt) to the end of the answer.
    pub latency: f64,
    /// The duration of earlier attempts and the waits after them.
    pub before: f64,
}

impl Exchange {
    /// A request that is about to be sent with a key.
    pub fn of(request: &HttpRequest, key: &ApiKey) -> Self {
        let headers = request.headers.iter();
        let shown = headers.map(|(name, value)| ((*name).into(), value.shown().into()));
        Exchange {
            method: request.method().into(),
            url: key.redact(&request.url).into(),
            headers: shown.collect(),
            body: key.redact(&request.body).into(),
            ..Exchange::default()
        }
    }

    /// The request as a `curl` command with a placeholder for the key, quoted for a POSIX shell.
    pub fn to_curl(&self) -> String {
        let headers = self.headers.iter();
        let shown = headers.map(|(name, value)| (&**name, value.to_string()));
        curl(&self.url, shown, &self.body)
    }

    /// The stored form of a single exchange; an episode stores [`KeptExchanges`].
    pub fn to_json(&self) -> Json {
        let headers = self.headers.iter().cloned();
        let record = ExchangeRecord {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: LenientList(Some(headers.map(|pair| Lenient(Some(pair))).collect())),
            body: self.body.clone().into(),
            tries: self.attempts,
            latency: Lenient(Some(self.timing.latency)),
            before: Lenient(Some(self.timing.before)),
            reply: Lenient(self.reply.clone()),
            first_token: Lenient(self.timing.first_token),
        };
        // Texts and numbers always serialize.
        to_json(&record).unwrap_or_default()
    }

    /// Reads the stored form of a single exchange; `None` if the value is not one.
    pub fn read(value: &Json) -> Option<Self> {
        KeptExchanges::of([value]).read(0).ok()
    }

    fn read_but_body(value: &Json) -> Option<Self> {
        let record: ExchangeRecord = from_json(value).ok()?;
        Some(Exchange {
            method: record.method,
            url: record.url,
            headers: record
                .headers
                .0?
                .into_iter()
                .filter_map(|pair| pair.0)
                .collect(),
            body: Text::default(),
            reply: record.reply.0,
            timing: Timing {
                first_token: record.first_token.0,
                latency: record.latency.unwrap_or_default(),
                before: record.before.unwrap_or_default(),
            },
            attempts: record.tries,
        })
    }
}

/// Records a reply while it arrives.
#[derive(Debug, Default)]
pub struct Keeping {
    bytes: usize,
    kept: Vec<u8>,
}

impl Keeping {
    /// Appends the next piece of the body.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        let room = KEPT_BYTES.saturating_sub(self.kept.len());
        self.kept
            .extend_from_slice(piece.get(..room).unwrap_or(piece));
    }

    /// The recorded reply, with the key redacted and invalid UTF-8 replaced. A body that repeats the key in pieces is
    /// withheld: there is no single position at which the key could be replaced.
    pub fn finish(self, status: u16, content_type: &str, key: &ApiKey) -> KeptReply {
        let body = key.redact(&String::from_utf8_lossy(&self.kept));
        let (content_type, body) = if pieces::hold_key(&body, key) {
            ("text/plain", WITHHELD.to_owned())
        } else {
            (content_type, body)
        };
        KeptReply {
            status,
            content_type: key.redact(content_type).into(),
            body: body.into(),
            bytes: self.bytes,
        }
    }
}

impl Delta {
    /// Whether it is content of the answer: text, thinking or a call.
    pub const fn is_content(&self) -> bool {
        !matches!(self, Delta::Usage(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::connection::PRESETS;
    use crate::model::{Connection, ModelRequest};

    #[test]
    fn no_key_gets_in_and_all_else_comes_back() {
        let key = ApiKey::new("sk-secret-0123456789");
        for preset in PRESETS.iter().filter(|preset| preset.kind.has_server()) {
            let connection = Connection::of(preset);
            let request = ModelRequest {
                model: "m".into(),
                stop: vec![key.expose().into()],
                ..ModelRequest::default()
            };
            let provider = connection.provider();
            let http = provider.request(&connection.base_url, &key, &request);
            let mut exchange = Exchange::of(&http, &key);
            let mut keeping = Keeping::default();
            for piece in ["you said sk-secret-", "0123456789, wrongly"] {
                keeping.push(piece.as_bytes());
            }
            exchange.reply = Some(keeping.finish(401, "text/plain", &key));
            exchange.timing.first_token = Some(0.25);
            exchange.attempts = 2;
            let stored = exchange.to_json();
            assert!(!stored.to_compact_text().contains(key.expose()));
            assert!(!exchange.to_curl().contains(key.expose()));
            assert!(exchange.to_curl().contains("YOUR_API_KEY"));
            assert_eq!(Exchange::read(&stored), Some(exchange));
        }
    }

    #[test]
    fn a_long_reply_is_stored_in_part() {
        let mut keeping = Keeping::default();
        for _ in 0..3 {
            keeping.push(&[b'x'; 700_000]);
        }
        let kept = keeping.finish(200, "", &ApiKey::default());
        assert_eq!((kept.body.len(), kept.bytes), (KEPT_BYTES, 2_100_000));
        assert_eq!(kept.kept_bytes(), Some(KEPT_BYTES));
    }

    #[test]
    fn a_long_reply_is_cut_also_if_a_key_in_it_was_redacted() {
        let key = ApiKey::new(
            "sk-a-long-secret-key-of-a-hundred-characters-which-the-redaction-makes-much-shorter-1234567890",
        );
        let mut keeping = Keeping::default();
        keeping.push(key.expose().as_bytes());
        keeping.push(&[b'x'; KEPT_BYTES]);
        let kept = keeping.finish(200, "", &key);
        assert!(kept.body.len() < KEPT_BYTES);
        assert_eq!(kept.kept_bytes(), Some(KEPT_BYTES));
        let mut whole = Keeping::default();
        whole.push(&[b'x'; KEPT_BYTES]);
        assert_eq!(whole.finish(200, "", &key).kept_bytes(), None);
    }
}
