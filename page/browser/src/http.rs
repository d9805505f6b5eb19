//! The HTTP client: all requests leave the page here, and their responses are streamed.
//!
//! Invariants:
//! - Dropping the future of [`send`] or the [`Response`] aborts the request. To stop a run, its caller only has to
//!   drop the future (`futures_util::future::Abortable` does).
//! - No request waits forever: silence longer than [`Timeouts`] is an error.
//! - Requests use no cache and follow no redirect: a key goes to the address that it was entered for, and nowhere else.
//!   They send no cookies, except those for files of the page's own origin ([`Request::own_cookies`]).
//! - Neither requests nor errors have a `Debug` or a message that contains the value of a header.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use gloo_net::http as gloo;
use js_sys::Uint8Array;
use volary_connectivity::{Address, Space};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, ReadableStreamDefaultReader, ReferrerPolicy, RequestCache, RequestCredentials,
    RequestInit, RequestMode, RequestRedirect, ResponseType,
};

use super::timers;

#[derive(Clone, Default)]
pub struct Request {
    /// Such as `GET`.
    pub method: &'static str,
    /// The absolute address.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body as text; `None` without one.
    pub body: Option<String>,
    /// Whether the page's own origin receives its cookies; `volary view` knows the user by one. No other origin does.
    pub own_cookies: bool,
}

/// The timeouts for a server that sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the head of the response.
    pub before: Duration,
    /// Between two chunks of its body.
    pub within: Duration,
}

impl Default for Timeouts {
    /// A model on the user's own machine may read a long prompt for minutes; once it generates, chunks follow
    /// quickly.
    fn default() -> Self {
        Timeouts {
            before: Duration::from_secs(300),
            within: Duration::from_secs(120),
        }
    }
}

impl Timeouts {
    /// The same timeout before and within the response.
    pub fn of(duration: Duration) -> Self {
        Timeouts {
            before: duration,
            within: duration,
        }
    }
}

/// The reason why there is no response, or no more of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The request is invalid.
    #[error("The request cannot be sent: {reason}")]
    Unsendable {
        /// Why.
        reason: String,
    },
    /// The request failed before any response; browsers do not tell pages why.
    #[error("no response ({reason})")]
    NoReply {
        /// The browser's message.
        reason: String,
    },
    /// The server redirects. Redirects are not followed.
    #[error(
        "the server redirects to another address. Redirects are not followed, so that keys are not \
         sent elsewhere. Enter the final address"
    )]
    Redirected,
    /// Nothing was received for too long.
    #[error("No data was received for {seconds} s.")]
    Silent {
        /// The time limit that was reached.
        seconds: u32,
    },
    /// The connection broke within the body.
    #[error("The connection was interrupted ({reason}).")]
    Broken {
        /// The browser's message.
        reason: String,
    },
    /// The body is larger than the caller allows.
    #[error("The response is larger than {limit} bytes.")]
    TooLarge { limit: usize },
}

/// A response: its head, and its body as a stream.
pub struct Response {
    head: gloo::Response,
    body: Option<ReadableStreamDefaultReader>,
    within: Duration,
    /// Aborts the request when it is dropped.
    _cancel: Cancel,
}

/// Sends a request. A response with any status is `Ok`.
pub async fn send(request: &Request, timeouts: Timeouts) -> Result<Response, HttpError> {
    let cancel = Cancel::new()?;
    let raw = made(request, &cancel)?;
    let sent = gloo::Request::from(raw).send();
    let head = in_time(timeouts.before, sent).await?;
    let head = head.map_err(|error| HttpError::NoReply {
        reason: error.to_string(),
    })?;
    if head.type_() == ResponseType::Opaqueredirect {
        return Err(HttpError::Redirected);
    }
    // The body yields bytes, and is read only here.
    let body = head.body().map(|body| body.get_reader().unchecked_into());
    Ok(Response {
        head,
        body,
        within: timeouts.within,
        _cancel: cancel,
    })
}

/// A response with its whole body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The HTTP status.
    pub status: u16,
    /// The body; invalid UTF-8 is replaced.
    pub body: String,
}

/// Sends a request and reads its whole response, at most `limit` bytes.
pub async fn fetch(
    request: &Request,
    timeouts: Timeouts,
    limit: usize,
) -> Result<Whole, HttpError> {
    let mut response = send(request, timeouts).await?;
    let mut body = Vec::new();
    while let Some(piece) = response.piece().await? {
        if body.len() + piece.len() > limit {
            return Err(HttpError::TooLarge { limit });
        }
        body.extend_from_slice(&piece);
    }
    Ok(Whole {
        status: response.status(),
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Sends a request that outlives the page. The response is ignored.
pub fn send_and_go(request: &Request) {
    let Ok(cancel) = Cancel::new() else { return };
    let Ok((url, init)) = described(request) else {
        return;
    };
    // An option on an object of our own: this cannot fail.
    let _ = js_sys::Reflect::set(&init, &"keepalive".into(), &JsValue::TRUE);
    if let Ok(raw) = raw_request(url, &init, &cancel) {
        // The page may be gone before the response, and the request must not end with it.
        std::mem::forget(cancel);
        let scope: web_sys::WorkerGlobalScope = js_sys::global().unchecked_into();
        let sent = scope.fetch_with_request(&raw);
        super::spawn(async move {
            let _ = wasm_bindgen_futures::JsFuture::from(sent).await;
        });
    }
}

/// Whether a server responds at all, even if CORS hides the response from this page. `None` if that is unknown.
pub async fn answers_without_cors(url: &str, timeouts: Timeouts) -> Option<bool> {
    let cancel = Cancel::new().ok()?;
    let init = RequestInit::new();
    init.set_mode(RequestMode::NoCors);
    init.set_credentials(RequestCredentials::Omit);
    let raw = raw_request(url, &init, &cancel).ok()?;
    let sent = gloo::Request::from(raw).send();
    let reply = in_time(timeouts.before, sent).await.ok()?;
    Some(reply.is_ok())
}

impl Response {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.head.status()
    }

    /// A header of the response, if it exists and CORS lets pages read it.
    pub fn header(&self, name: &str) -> Option<String> {
        self.head.headers().get(name)
    }

    /// Waits for the next chunk of the body; `None` at its end.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        let piece = self.raw_piece().await?;
        Ok(piece.map(|piece| piece.to_vec()))
    }

    /// Like [`Response::piece`], as a JavaScript array.
    pub async fn raw_piece(&mut self) -> Result<Option<Uint8Array>, HttpError> {
        let Some(body) = &self.body else {
            return Ok(None);
        };
        let read = in_time(self.within, JsFuture::from(body.read())).await?;
        let chunk = read.and_then(|chunk| js_sys::Reflect::get(&chunk, &"value".into()));
        match chunk {
            // The end of the body: `{ done: true, value: undefined }`.
            Ok(value) if value.is_undefined() => Ok(None),
            Ok(value) => Ok(Some(value.unchecked_into())),
            Err(error) => Err(HttpError::Broken {
                reason: words_of(&error),
            }),
        }
    }
}

/// Aborts a request.
struct Cancel(AbortController);

impl Cancel {
    fn new() -> Result<Self, HttpError> {
        AbortController::new().map(Cancel).map_err(unsendable)
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        // Does nothing if the request is over.
        self.0.abort();
    }
}

fn made(request: &Request, cancel: &Cancel) -> Result<web_sys::Request, HttpError> {
    let (url, init) = described(request)?;
    raw_request(url, &init, cancel)
}

fn described(request: &Request) -> Result<(&str, RequestInit), HttpError> {
    let headers = web_sys::Headers::new().map_err(unsendable)?;
    for (name, value) in &request.headers {
        // Not the browser's message: it contains the value.
        headers
            .set(name, value)
            .map_err(|_| HttpError::Unsendable {
                reason: format!(
                    "the value of the header {name} contains a character that is not allowed in \
                     headers. Did you paste something other than the key?"
                ),
            })?;
    }
    let init = RequestInit::new();
    init.set_method(request.method);
    init.set_headers(&headers);
    if let Some(body) = &request.body {
        init.set_body(&JsValue::from_str(body));
    }
    init.set_redirect(RequestRedirect::Manual);
    init.set_credentials(if request.own_cookies {
        RequestCredentials::SameOrigin
    } else {
        RequestCredentials::Omit
    });
    Ok((&request.url, init))
}

fn raw_request(
    url: &str,
    init: &RequestInit,
    cancel: &Cancel,
) -> Result<web_sys::Request, HttpError> {
    init.set_cache(RequestCache::NoStore);
    init.set_referrer_policy(ReferrerPolicy::NoReferrer);
    init.set_signal(Some(&cancel.0.signal()));
    if let Some(space) = near_space(url, super::network::page().is_https) {
        // An option on an object of our own: this cannot fail.
        let _ = js_sys::Reflect::set(init, &"targetAddressSpace".into(), &space.into());
        // Browsers that use other values for the option reject it; it is then omitted.
        if let Ok(request) = web_sys::Request::new_with_str_and_init(url, init) {
            return Ok(request);
        }
        let _ = js_sys::Reflect::delete_property(init, &"targetAddressSpace".into());
    }
    web_sys::Request::new_with_str_and_init(url, init).map_err(unsendable)
}

/// The `targetAddressSpace` of an address. An https page that calls an http address on the local network must
/// declare it in advance, or Chrome treats the request as mixed content.
fn near_space(url: &str, page_is_https: bool) -> Option<&'static str> {
    let address = Address::of(url)?;
    if address.is_secure || !page_is_https {
        return None;
    }
    match address.space() {
        Space::Loopback => Some("loopback"),
        Space::Local => Some("local"),
        Space::Public => None,
    }
}

async fn in_time<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, HttpError> {
    match select(pin!(future), pin!(timers::sleep(limit))).await {
        Either::Left((output, _)) => Ok(output),
        Either::Right(_) => Err(HttpError::Silent {
            seconds: u32::try_from(limit.as_secs()).unwrap_or(u32::MAX),
        }),
    }
}

fn unsendable(error: JsValue) -> HttpError {
    HttpError::Unsendable {
        reason: words_of(&error),
    }
}

fn words_of(error: &JsValue) -> String {
    let message = error
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.message()));
    message.unwrap_or_else(|| "the browser gives no details".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_https_page_declares_http_addresses_of_the_local_network() {
        for (url, space) in [
            ("http://localhost:11434/v1", Some("loopback")),
            ("http://127.0.0.1/v1", Some("loopback")),
            ("http://[::1]:8000", Some("loopback")),
            ("http://192.168.1.7:8000/info", Some("local")),
            ("http://10.0.0.1", Some("local")),
            ("http://printer.local", Some("local")),
            ("https://192.168.1.7", None),
            ("http://models.example", None),
            ("no address", None),
        ] {
            assert_eq!(near_space(url, true), space, "{url}");
            assert_eq!(near_space(url, false), None, "{url}");
        }
    }
}
