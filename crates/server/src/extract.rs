//! How requests come in: the body within its limits, read as JSON, then the key, then whose page asks.
//!
//! What always holds: a body costs no more memory than it has sent, all large bodies together no more
//! than a fixed multiple of the limit, and a large body that is refused is still taken off the
//! wire, so that whoever sends it hears the answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use subtle::ConstantTimeEq;
use volary_core::json::Json;
use volary_remote::{KEY_HEADER, body};

use crate::error::ApiError;
use crate::origin;
use crate::server::Server;

/// Bodies up to this size are not counted, and are all that is taken from who has no key.
const SMALL: usize = 64 << 10;

/// How many bodies of the largest size may be held at once.
const LARGEST_AT_ONCE: usize = 16;

/// How much of a refused body is read and dropped.
const DROPPED: usize = 256 << 20;

/// Larger bodies are parsed beside the worker's thread, which has others to serve.
const PARSED_ASIDE: usize = 256 << 10;

/// A request's body, checked.
pub struct Arrived<'s> {
    /// The body; `None` if it is empty.
    pub body: Option<Json>,
    /// For as long as the body is in use.
    _held: Held<'s>,
}

/// Reads the body. Checks, in this order: size, JSON syntax, key.
pub async fn arrived(server: &Server, request: Request) -> Result<Arrived<'_>, ApiError> {
    let (head, body) = request.into_parts();
    let limit = server.options.read_timeout;
    let collected = tokio::time::timeout(limit, collect(server, &head.headers, body));
    let (bytes, held) = collected.await.unwrap_or(Err(ApiError::TooSlow))?;
    let body = if bytes.is_empty() || is_json(&head.headers) {
        read(bytes).await?
    } else {
        // As the original's framework has it. So a foreign page can't send what a browser lets
        // it send unasked.
        Some(Json::from(String::from_utf8_lossy(&bytes).into_owned()))
    };
    allowed(server, &head.headers)?;
    Ok(Arrived { body, _held: held })
}

/// Checks the key, and whose page asks.
pub fn allowed(server: &Server, headers: &HeaderMap) -> Result<(), ApiError> {
    if !has_key(server, headers) {
        return Err(ApiError::Forbidden);
    }
    origin::check(&server.options, headers)
}

fn has_key(server: &Server, headers: &HeaderMap) -> bool {
    let Some(key) = server.options.key() else {
        return true;
    };
    let given = headers
        .get(KEY_HEADER)
        .map_or(&[][..], |given| given.as_bytes());
    given.ct_eq(key.as_bytes()).into()
}

fn is_json(headers: &HeaderMap) -> bool {
    let named = headers
        .get(header::CONTENT_TYPE)
        .and_then(|named| named.to_str().ok());
    let media = named
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    let Some((kind, format)) = media.trim().split_once('/') else {
        return false;
    };
    let format = format.to_ascii_lowercase();
    kind.eq_ignore_ascii_case("application") && (format == "json" || format.ends_with("+json"))
}

async fn read(bytes: Bytes) -> Result<Option<Json>, ApiError> {
    if bytes.len() <= PARSED_ASIDE {
        return Ok(body::read(&bytes)?);
    }
    match tokio::task::spawn_blocking(move || body::read(&bytes)).await {
        Ok(read) => Ok(read?),
        Err(_) => Err(ApiError::Failed("Reading the body failed.".into())),
    }
}

async fn collect<'s>(
    server: &'s Server,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<(Bytes, Held<'s>), ApiError> {
    let limit = server.options.max_body;
    let small = if has_key(server, headers) {
        limit
    } else {
        limit.min(SMALL)
    };
    let refusal = || {
        if small < limit {
            ApiError::Forbidden
        } else {
            ApiError::TooLarge(limit)
        }
    };
    if body.size_hint().lower() > small as u64 {
        // Who asks before sending has not sent.
        if !headers.contains_key(header::EXPECT) {
            drop_rest(body).await;
        }
        return Err(refusal());
    }
    let mut held = Held::new(&server.held, limit.saturating_mul(LARGEST_AT_ONCE));
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| ApiError::BrokenOff)?.into_data() else {
            continue;
        };
        if all.len() + data.len() > small {
            drop(all);
            drop_rest(body).await;
            return Err(refusal());
        }
        // Nearly all bodies arrive as one, and need no copy.
        if all.is_empty() && body.is_end_stream() && data.len() <= SMALL {
            return Ok((data, held));
        }
        all.extend_from_slice(&data);
        if let Err(refusal) = held.grow_to(all.len()) {
            drop(all);
            drop_rest(body).await;
            return Err(refusal);
        }
    }
    Ok((all.into(), held))
}

async fn drop_rest(mut body: Body) {
    let mut left = DROPPED;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// What a large body counts among all that are held; given back when dropped.
struct Held<'s> {
    all: &'s AtomicUsize,
    limit: usize,
    own: usize,
}

impl<'s> Held<'s> {
    fn new(all: &'s AtomicUsize, limit: usize) -> Self {
        Held { all, limit, own: 0 }
    }

    fn grow_to(&mut self, length: usize) -> Result<(), ApiError> {
        if length <= SMALL {
            return Ok(());
        }
        let more = length - self.own;
        self.own = length;
        if self.all.fetch_add(more, Ordering::Relaxed) + more > self.limit {
            let reason = "Too many large bodies come in at once; try again.";
            return Err(ApiError::Busy(reason.into()));
        }
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn media_types_of_json() {
        for (named, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/vnd.api+json", true),
            ("text/plain", false),
            ("text/json", false),
            ("json", false),
            ("", false),
        ] {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(named))]);
            assert_eq!(is_json(&headers), expected, "{named}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn what_is_held_is_given_back() {
        let all = AtomicUsize::new(0);
        let mut one = Held::new(&all, 3 * SMALL);
        let mut other = Held::new(&all, 3 * SMALL);
        assert_eq!(one.grow_to(SMALL), Ok(()));
        assert_eq!(all.load(Ordering::Relaxed), 0);
        assert_eq!(one.grow_to(2 * SMALL), Ok(()));
        assert!(other.grow_to(2 * SMALL).is_err());
        drop((one, other));
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
