//! The transport of the protocol over the browser's `fetch`.
//!
//! Invariant: the key is sent with the request, and removed from the response: a server that echoes it puts it neither
//! on the page nor into an episode.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_agent::model::ApiKey;
use volary_core::json::Text;
use volary_remote::{KEY_HEADER, Method, Transport, TransportError, WireReply, WireRequest};

use volary_browser::http::{self, HttpError, Request, Timeouts};
use volary_browser::timers;

/// The maximum size of a reply in bytes: a tab does not have enough memory for more.
const LARGEST_REPLY: usize = 64 << 20;

/// The timeout of requests without one: a week, in seconds.
const FOR_EVER: f64 = 604_800.0;

/// The browser's `fetch`.
pub struct Fetch;

impl Transport for Fetch {
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Result<WireReply, TransportError>> {
        Box::pin(async move {
            let seconds = request.timeout.unwrap_or(FOR_EVER).clamp(0.0, FOR_EVER);
            let timeouts = Timeouts::of(Duration::from_secs_f64(seconds));
            let key = request.api_key.as_deref().map(ApiKey::new);
            let request = Request {
                method: match request.method {
                    Method::Get => "GET",
                    Method::Post => "POST",
                },
                url: request.url,
                headers: headers(request.api_key.as_ref(), request.body.is_some()),
                body: request.body,
                own_cookies: false,
            };
            match http::fetch(&request, timeouts, LARGEST_REPLY).await {
                Ok(reply) => Ok(WireReply {
                    status: reply.status,
                    body: match key {
                        Some(key) => key.redact_json(&reply.body),
                        None => reply.body,
                    },
                }),
                Err(HttpError::Silent { .. }) => Err(TransportError::Timeout),
                // The browser's message says no more. `connection::explain` finds out the cause.
                Err(HttpError::NoReply { .. }) => Err(TransportError::Unreachable {
                    reason: "no response.".into(),
                }),
                Err(error) => Err(TransportError::Unusable {
                    reason: format!("{}.", error.to_string().trim_end_matches('.')).into(),
                }),
            }
        })
    }

    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()> {
        Box::pin(timers::sleep(Duration::from_secs_f64(seconds)))
    }
}

/// Closes an environment while the page is being unloaded. The response is ignored.
pub fn close_and_go(url: &str, key: Option<&Text>, env_id: &str) {
    http::send_and_go(&Request {
        method: "POST",
        url: format!("{url}/close"),
        headers: headers(key, true),
        body: Some(volary_core::json!({"env_id": (env_id)}).to_compact_text()),
        own_cookies: false,
    });
}

fn headers(key: Option<&Text>, has_body: bool) -> Vec<(&'static str, String)> {
    let key = key.map(|key| (KEY_HEADER, key.to_string()));
    let kind = has_body.then(|| ("Content-Type", "application/json".to_owned()));
    key.into_iter().chain(kind).collect()
}
