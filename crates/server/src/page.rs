//! The page itself, served from the same address: a class then needs one command and no CORS.

use std::path::Path;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::routing::any;
use tower::ServiceBuilder;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// The files of a folder that `cargo xtask build` left, such as `dist/`.
pub fn page(folder: &Path) -> Router {
    // Names of built files change with their content, but the page is small: always asking
    // keeps a class on the newest one.
    let headers = ServiceBuilder::new()
        .layer(set(header::CACHE_CONTROL, "no-cache"))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(set(header::REFERRER_POLICY, "no-referrer"))
        // The page's own policy stands in its head, where this one part can't.
        .layer(set(
            header::CONTENT_SECURITY_POLICY,
            "frame-ancestors 'self'",
        ));
    let files = ServeDir::new(folder)
        .call_fallback_on_method_not_allowed(true)
        .fallback(any(crate::app::not_found));
    Router::new().fallback_service(headers.service(files))
}

fn set(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}
