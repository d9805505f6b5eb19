//! Access control: only the browser with the token may read, and only the page of this server in it.
//!
//! The token is in the fragment of the address, which browsers never send. A script of the page exchanges it for a
//! cookie that requests of other sites do not carry and scripts cannot read.
//!
//! Invariants: no token or cookie is in a log or a message. Requests of other pages are rejected whatever they carry:
//! their `Host` (DNS rebinding), `Origin` or `Sec-Fetch-Site` identifies them. No CORS header is ever sent.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use volary_server::host::{AllowedHosts, foreign_host};

use super::failure::Failure;
use super::served::View;

/// The delay before a wrong token is answered. Wrong tokens are answered one at a time, so that a short key cannot be
/// guessed.
const PAUSE: Duration = Duration::from_millis(500);

/// The secrets that grant access.
pub struct Access {
    token: String,
    /// A one-time token for the browser that this program starts: other users of the machine may see that browser's
    /// command line.
    once: Mutex<Option<String>>,
    /// The value of the cookie.
    session: String,
    hosts: AllowedHosts,
    wrong: tokio::sync::Mutex<()>,
}

impl Access {
    /// With the user's key, or otherwise a random token.
    pub fn new(key: Option<&str>, hosts: AllowedHosts) -> Result<Access> {
        Ok(Access {
            token: key.map_or_else(random, |key| Ok(key.to_owned()))?,
            once: Mutex::new(None),
            session: random()?,
            hosts,
            wrong: tokio::sync::Mutex::default(),
        })
    }

    /// The token for the printed address.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Creates a one-time token, valid for one browser.
    pub fn token_for_one(&self) -> Result<String> {
        let token = random()?;
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        *once = Some(token.clone());
        Ok(token)
    }

    /// The cookie for a token; `None` if the token is wrong.
    pub async fn enter(&self, token: &str, headers: &HeaderMap) -> Option<String> {
        let is_once = {
            let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
            once.take_if(|known| are_equal(known, token)).is_some()
        };
        if !is_once && !are_equal(&self.token, token) {
            let _turn = self.wrong.lock().await;
            tokio::time::sleep(PAUSE).await;
            return None;
        }
        let (name, value) = (cookie_name(headers), &self.session);
        Some(format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict"))
    }

    /// Whether a request carries the cookie.
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let name = cookie_name(headers);
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|cookies| cookies.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .any(|cookie| {
                let cookie = cookie.trim().split_once('=');
                cookie
                    .is_some_and(|(known, value)| known == name && are_equal(&self.session, value))
            })
    }
}

/// 256 random bits, in characters that need no escaping.
pub fn random() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("cannot get random bytes for a token")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares two texts in constant time.
pub fn are_equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && !one.is_empty() && std::hint::black_box(differences) == 0
}

/// The cookie's name contains the port, because cookies ignore ports: another `volary view` would otherwise overwrite
/// it. The port is the browser's, which may be forwarded to this server.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let port = host
        .and_then(|host| host.rsplit_once(':'))
        .map(|(_, port)| port);
    let port = port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    format!("volary-view-{}", port.unwrap_or("80"))
}

/// Middleware that rejects requests of other pages.
pub async fn check_source(State(view): State<View>, request: Request, next: Next) -> Response {
    if foreign_host(&view.access.hosts, &request).is_some() {
        return Failure::ForeignHost.into_response();
    }
    if is_foreign(request.headers()) {
        return Failure::ForeignPage.into_response();
    }
    next.run(request).await
}

/// Middleware that rejects requests without the cookie.
pub async fn check_session(State(view): State<View>, request: Request, next: Next) -> Response {
    if view.access.is_in(request.headers()) {
        next.run(request).await
    } else {
        Failure::NoSession.into_response()
    }
}

/// Whether the headers show that another page sent the request. Following a link from another site is allowed: it
/// carries no cookie.
pub fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name| {
        headers
            .get(name)
            .map(|value: &HeaderValue| value.as_bytes())
    };
    let is_link = text(header::HeaderName::from_static("sec-fetch-mode")) == Some(b"navigate")
        && text(header::HeaderName::from_static("sec-fetch-dest")) == Some(b"document");
    let site = text(header::HeaderName::from_static("sec-fetch-site"));
    if !is_link && !matches!(site, None | Some(b"same-origin" | b"none")) {
        return true;
    }
    let Some(origin) = text(header::ORIGIN) else {
        return false;
    };
    let host = text(header::HOST).unwrap_or_default();
    let page = [b"http://".as_slice(), b"https://"];
    let page = page.iter().find_map(|scheme| origin.strip_prefix(*scheme));
    !page.is_some_and(|page| page.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&'static str, &'static str)]) -> HeaderMap {
        let of = of.iter().map(|(name, value)| {
            let name = header::HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        of.collect()
    }

    #[test]
    fn other_pages_are_recognised() {
        let host = ("host", "127.0.0.1:9");
        for ours in [
            vec![host],
            vec![host, ("origin", "http://127.0.0.1:9")],
            vec![
                host,
                ("sec-fetch-site", "same-origin"),
                ("sec-fetch-mode", "cors"),
            ],
            vec![host, ("sec-fetch-site", "none")],
            vec![
                host,
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ],
        ] {
            assert!(!is_foreign(&headers(&ours)), "{ours:?}");
        }
        for foreign in [
            vec![host, ("origin", "http://127.0.0.1:10")],
            vec![host, ("origin", "https://evil.example")],
            vec![host, ("origin", "null")],
            vec![host, ("origin", "127.0.0.1:9")],
            vec![("origin", "http://127.0.0.1:9")],
            // Another port of this machine is the same site, whose requests carry the cookie.
            vec![host, ("sec-fetch-site", "same-site")],
            vec![
                host,
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "no-cors"),
            ],
            vec![
                host,
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
            ],
        ] {
            assert!(is_foreign(&headers(&foreign)), "{foreign:?}");
        }
    }

    #[test]
    fn cookies_of_other_ports_are_other_cookies() {
        let access = Access::new(None, AllowedHosts::default()).unwrap();
        let with = |host: &str, cookie: String| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            headers.insert(header::COOKIE, cookie.parse().unwrap());
            access.is_in(&headers)
        };
        let session = &access.session;
        assert!(with(
            "localhost:9",
            format!("a=b; volary-view-9={session}; c=d")
        ));
        assert!(with("[::1]", format!("volary-view-80={session}")));
        assert!(!with("localhost:9", format!("volary-view-10={session}")));
        assert!(!with("localhost:9", format!("volary-view-9={session}0")));
        assert!(!with("localhost:9", "volary-view-9=".to_owned()));
        assert!(!with(
            "localhost:9",
            format!("volary-view-9={}", access.token)
        ));
    }

    #[tokio::test]
    async fn a_token_for_one_is_good_once() {
        let access = Access::new(Some("key"), AllowedHosts::default()).unwrap();
        let once = access.token_for_one().unwrap();
        let headers = headers(&[("host", "localhost:9")]);
        assert!(access.enter(&once, &headers).await.is_some());
        assert!(access.enter(&once, &headers).await.is_none());
        assert!(access.enter("", &headers).await.is_none());
        assert!(access.enter("key", &headers).await.is_some());
        assert!(access.enter("key", &headers).await.is_some());
    }
}
