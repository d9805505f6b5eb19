//! The origins that are allowed: a browser sends the origin of the page with each request (`Origin`).
//!
//! Pages of other origins must be allowed (`--cors-origin`). Browsers send a preflight request for them (CORS),
//! which the layer of this module answers. Pages served by this server are allowed: their origin
//! is the `Host` of the request, which [`crate::host`] has checked before.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::error::ApiError;
use crate::options::ServerOptions;
use crate::telemetry::REQUEST_ID;

/// The origin that matches all.
pub const ANY: &str = "*";

/// The header in which older clients of MCP read their session.
const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The time for which browsers may cache the reply to a preflight.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// Parses an origin given on the command line: `*`, or a scheme, a host and optionally a port.
pub fn parse(text: &str) -> Result<String, String> {
    if text == ANY || text == "null" {
        return Ok(text.to_owned());
    }
    // The address bar adds a slash.
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
        _ => Err("expected an origin without a path, such as https://you.github.io, or `*`".into()),
    }
}

/// Fails if the request comes from a page that is not allowed. Requests without an `Origin` header do not
/// come from a page of another origin and are allowed.
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

/// Whether this server served the page of this origin.
fn is_own(headers: &HeaderMap, origin: &str) -> bool {
    let Some(Ok(host)) = headers.get(header::HOST).map(HeaderValue::to_str) else {
        return false;
    };
    let Some((_, page)) = origin.split_once("://") else {
        return false;
    };
    page.eq_ignore_ascii_case(host)
}

/// The layer that answers preflights; `None` if no other origin is allowed. It allows all headers, so JSON bodies, the key
/// and those of MCP, and Chrome's requests from public pages to private networks.
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
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // Clients of MCP send headers that no list can name (`Mcp-Param-*`).
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([REQUEST_ID, MCP_SESSION_ID, header::WWW_AUTHENTICATE])
        .allow_private_network(true)
        .max_age(PREFLIGHT_AGE);
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
            parse("https://You.github.io/"),
            Ok("https://you.github.io".into())
        );
        assert_eq!(
            parse("http://localhost:8080"),
            Ok("http://localhost:8080".into())
        );
        assert_eq!(parse("*"), Ok("*".into()));
        for wrong in [
            "",
            "you.github.io",
            "https://",
            "https://a/b",
            "ftp://a",
            "https://a b",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
