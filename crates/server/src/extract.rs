//! Extractors: the body of a request as JSON, and its authorization.
//!
//! A body uses no more memory than the bytes received so far, and all large bodies together no more than
//! a fixed multiple of the limit. [`crate::unread_body`] reads the rest of a rejected body.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use volary_core::json::Json;
use volary_remote::{KEY_HEADER, body};

use crate::error::ApiError;
use crate::options::ServerOptions;
use crate::origin;
use crate::server::Server;

/// Bodies up to this size do not count as large; without a key no larger ones are accepted.
const SMALL: usize = 64 << 10;

/// Larger bodies are parsed on a blocking thread.
pub(crate) const PARSED_INLINE: usize = 256 << 10;

/// The body of an authorized request as JSON. Checks in this order: size, JSON syntax, key, origin.
pub struct JsonBody {
    json: Option<Json>,
    /// Held while the body is in use.
    _memory: Option<OwnedSemaphorePermit>,
}

impl JsonBody {
    /// The body; `None` if it is empty.
    pub fn json(&self) -> Option<&Json> {
        self.json.as_ref()
    }
}

impl FromRequest<Arc<Server>> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let (head, body) = request.into_parts();
        let limit = server.shared.options.read_timeout;
        let collected = tokio::time::timeout(limit, collect(server, &head.headers, body));
        let (bytes, memory) = collected.await.unwrap_or(Err(ApiError::BodyTimeout))?;
        let json = if bytes.is_empty() || is_json(&head.headers) {
            parse(bytes).await?
        } else {
            // Like the original's framework. A page of another origin cannot send JSON this way without a
            // preflight.
            Some(Json::from(String::from_utf8_lossy(&bytes).into_owned()))
        };
        authorize(server, &head.headers)?;
        Ok(JsonBody {
            json,
            _memory: memory,
        })
    }
}

/// Proof that the request has the key and an allowed origin.
pub struct Authorized;

impl FromRequestParts<Arc<Server>> for Authorized {
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        authorize(server, &head.headers).map(|()| Authorized)
    }
}

fn authorize(server: &Server, headers: &HeaderMap) -> Result<(), ApiError> {
    if !has_key(&server.shared.options, headers) {
        return Err(ApiError::InvalidKey);
    }
    origin::check(&server.shared.options, headers)
}

/// Whether a request has the key, if there is one.
pub(crate) fn has_key(options: &ServerOptions, headers: &HeaderMap) -> bool {
    let Some(key) = options.key() else {
        return true;
    };
    let given = match headers.get(KEY_HEADER) {
        Some(given) => given.as_bytes(),
        None => bearer_token(headers).unwrap_or_default(),
    };
    given.ct_eq(key.as_bytes()).into()
}

/// The key in the form in which clients of OpenEnv and MCP can send one: `Authorization: Bearer …`.
fn bearer_token(headers: &HeaderMap) -> Option<&[u8]> {
    let sent = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = sent.split_at_checked("Bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"Bearer ")
        .then_some(token.trim_ascii())
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media = content_type
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

async fn parse(bytes: Bytes) -> Result<Option<Json>, ApiError> {
    if bytes.len() <= PARSED_INLINE {
        return Ok(body::read(&bytes)?);
    }
    match tokio::task::spawn_blocking(move || body::read(&bytes)).await {
        Ok(read) => Ok(read?),
        Err(_) => Err(ApiError::Failed("Parsing the body failed.".into())),
    }
}

async fn collect(
    server: &Server,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), ApiError> {
    let options = &server.shared.options;
    let (limit, error) = if has_key(options, headers) {
        (options.max_body, ApiError::TooLarge(options.max_body))
    } else if options.max_body > SMALL {
        (SMALL, ApiError::InvalidKey)
    } else {
        (options.max_body, ApiError::TooLarge(options.max_body))
    };
    collect_up_to(server, body, limit, error).await
}

/// Reads a body of at most `limit` bytes. `error` is for larger ones.
pub(crate) async fn collect_up_to(
    server: &Server,
    mut body: Body,
    limit: usize,
    error: ApiError,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), ApiError> {
    if body.size_hint().lower() > limit as u64 {
        return Err(error);
    }
    let mut memory = BodyMemory::new(Arc::clone(&server.shared.body_memory));
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if volary_site::is_too_slow(&error) {
                ApiError::BodyTimeout
            } else {
                ApiError::BodyAborted
            }
        });
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if all.len() + data.len() > limit {
            return Err(error);
        }
        // Nearly every body arrives as one frame and needs no copy.
        if all.is_empty() && body.is_end_stream() && data.len() <= SMALL {
            return Ok((data, None));
        }
        all.extend_from_slice(&data);
        memory.grow_to(all.len())?;
    }
    Ok((all.into(), memory.permit))
}

/// The permits for the memory of one large body.
struct BodyMemory {
    all: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl BodyMemory {
    fn new(all: Arc<Semaphore>) -> Self {
        BodyMemory { all, permit: None }
    }

    /// Acquires permits for a body of this length; none if it is small.
    fn grow_to(&mut self, length: usize) -> Result<(), ApiError> {
        if length <= SMALL {
            return Ok(());
        }
        let held = self
            .permit
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(length.saturating_sub(held)).unwrap_or(u32::MAX);
        let acquired = Arc::clone(&self.all).try_acquire_many_owned(more);
        let acquired = acquired.map_err(|_| {
            ApiError::Busy("Too many large bodies arrive at once; try again.".into())
        })?;
        match &mut self.permit {
            Some(permit) => permit.merge(acquired),
            None => self.permit = Some(acquired),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn media_types_of_json() {
        for (content_type, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/vnd.api+json", true),
            ("text/plain", false),
            ("text/json", false),
            ("json", false),
            ("", false),
        ] {
            let value = HeaderValue::from_static(content_type);
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, value)]);
            assert_eq!(is_json(&headers), expected, "{content_type}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn large_bodies_share_the_memory_and_release_it() {
        let all = Arc::new(Semaphore::new(3 * SMALL));
        let mut one = BodyMemory::new(Arc::clone(&all));
        let mut other = BodyMemory::new(Arc::clone(&all));
        assert_eq!(one.grow_to(SMALL), Ok(()));
        assert_eq!(all.available_permits(), 3 * SMALL);
        assert_eq!(one.grow_to(SMALL + 1), Ok(()));
        assert_eq!(one.grow_to(2 * SMALL), Ok(()));
        assert_eq!(all.available_permits(), SMALL);
        assert!(other.grow_to(2 * SMALL).is_err());
        drop((one, other));
        assert_eq!(all.available_permits(), 3 * SMALL);
    }
}
