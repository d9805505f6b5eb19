//! Which pages may call. A browser says with each request whose page makes it (`Origin`).
//!
//! Pages from elsewhere must be named (`--cors-origin`); browsers ask beforehand (CORS), and are
//! answered by the layer made here. Pages that this server serves may call: their origin is the
//! `Host` of the request, which [`crate::host`] has checked before.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};
use volary_remote::KEY_HEADER;

use crate::error::ApiError;
use crate::options::ServerOptions;
use crate::telemetry::REQUEST_ID;

/// Any page may call.
pub const ANY: &str = "*";

/// How long browsers may remember what they were allowed.
const REMEMBERED: Duration = Duration::from_secs(600);

/// Reads an origin as it is written on the command line: `*`, or a scheme, a host and perhaps a port.
pub fn read(text: &str) -> Result<String, String> {
    if text == ANY || text == "null" {
        return Ok(text.to_owned());
    }
    // Copied from the address bar it ends in a slash.
    let origin = text.trim_end_matches('/').to_ascii_lowercase();
    let host = origin
        .strip_prefix("https://")
        .or_else(|| origin.strip_prefix("http://"));
    let is_host = |host: &str| {
        !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
    };
    match host {
        Some(host) if is_host(host) => Ok(origin),
        _ => {
            Err("an origin is needed, such as https://you.github.io, without a path; or `*`".into())
        }
    }
}

/// Whether the page that asks may do so. Who is no page says no origin, and may.
pub fn check(options: &ServerOptions, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Ok(());
    };
    let origin = String::from_utf8_lossy(origin.as_bytes());
    let named = |named: &String| named == ANY || *named == origin;
    if options.cors_origins.iter().any(named) || is_own(headers, &origin) {
        Ok(())
    } else {
        Err(ApiError::ForeignOrigin(origin.into_owned()))
    }
}

/// Whether a page of this origin came from this server.
fn is_own(headers: &HeaderMap, origin: &str) -> bool {
    let Some(Ok(host)) = headers.get(header::HOST).map(HeaderValue::to_str) else {
        return false;
    };
    let Some((_, page)) = origin.split_once("://") else {
        return false;
    };
    page.eq_ignore_ascii_case(host)
}

/// Answers browsers that ask beforehand; `None` if no page from elsewhere may call. JSON bodies and
/// the key pass, and so does Chrome's question whether a public page may reach a private network.
pub fn cors_layer(options: &ServerOptions) -> Option<CorsLayer> {
    if options.cors_origins.is_empty() {
        return None;
    }
    let origins = if options.cors_origins.iter().any(|origin| origin == ANY) {
        AllowOrigin::any()
    } else {
        let origins = options.cors_origins.iter();
        AllowOrigin::list(origins.filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    let key = HeaderName::from_bytes(KEY_HEADER.as_bytes()).ok();
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(
            key.into_iter()
                .chain([header::CONTENT_TYPE])
                .collect::<Vec<_>>(),
        )
        .expose_headers([REQUEST_ID])
        .allow_private_network(true)
        .max_age(REMEMBERED);
    Some(layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(options: &ServerOptions, origin: &'static str, host: &'static str) -> bool {
        let value = HeaderValue::from_static;
        let headers =
            HeaderMap::from_iter([(header::ORIGIN, value(origin)), (header::HOST, value(host))]);
        check(options, &headers).is_ok()
    }

    #[test]
    fn own_pages_may_call_and_foreign_ones_only_if_named() {
        let mut options = ServerOptions::default();
        assert!(may(&options, "http://localhost:8041", "localhost:8041"));
        assert!(may(&options, "http://[::1]:8041", "[::1]:8041"));
        assert!(!may(&options, "http://localhost:8080", "localhost:8041"));
        assert!(!may(&options, "null", "localhost:8041"));
        options.cors_origins = vec!["https://you.github.io".into()];
        assert!(may(&options, "https://you.github.io", "127.0.0.1:8041"));
        assert!(!may(&options, "https://others.github.io", "127.0.0.1:8041"));
        options.cors_origins = vec![ANY.into()];
        assert!(may(&options, "https://others.github.io", "127.0.0.1:8041"));
        options.cors_origins.clear();
        assert!(may(&options, "http://classroom:8041", "classroom:8041"));
        assert!(check(&options, &HeaderMap::new()).is_ok());
    }

    #[test]
    fn origins_as_people_write_them() {
        assert_eq!(
            read("https://You.github.io/"),
            Ok("https://you.github.io".into())
        );
        assert_eq!(
            read("http://localhost:8080"),
            Ok("http://localhost:8080".into())
        );
        assert_eq!(read("*"), Ok("*".into()));
        for wrong in [
            "",
            "you.github.io",
            "https://",
            "https://a/b",
            "ftp://a",
            "https://a b",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
