//! The routes, as a router that needs no socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::endpoint;
use crate::options::ServerOptions;
use crate::refusal::Refusal;
use crate::server::Server;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The routes of a server; `page` answers the paths that the protocol does not have, where the
/// server also serves the page.
pub fn app(server: Arc<Server>, page: Option<Router>) -> Router {
    let routes = Router::new()
        .route("/start", post(endpoint::start))
        .route("/reset", post(endpoint::reset))
        .route("/step", post(endpoint::step))
        .route("/close", post(endpoint::close))
        .route("/close_old_envs", post(endpoint::close_old_envs))
        .route("/info", get(endpoint::info))
        .route("/steps", post(endpoint::steps))
        .route("/frame", post(endpoint::frame))
        .route("/healthz", get(endpoint::healthz))
        .route("/metrics", get(endpoint::metrics))
        .route("/openapi.json", get(endpoint::openapi))
        .method_not_allowed_fallback(|| async { Refusal::MethodNotAllowed });
    let routes = match page {
        Some(page) => routes.fallback_service(page),
        None => routes.fallback(|| async { Refusal::NotFound }),
    };
    let cors = cors(&server.options);
    let routes = routes
        .layer(middleware::from_fn_with_state(
            Arc::clone(&server),
            observed,
        ))
        .with_state(server);
    match cors {
        Some(cors) => routes.layer(cors),
        None => routes,
    }
}

/// Counts the request, gives it an id, and logs what failed.
async fn observed(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let endpoint = server.metrics.endpoint(request.uri().path());
    let start = Instant::now();
    let mut response = next.run(request).await;
    let status = response.status();
    let elapsed = start.elapsed();
    server.metrics.observe(endpoint, status, elapsed);
    if status.is_server_error() {
        tracing::warn!(
            request = id,
            endpoint = endpoint.name(),
            status = status.as_u16(),
            ?elapsed,
            "failed"
        );
    } else {
        tracing::debug!(
            request = id,
            endpoint = endpoint.name(),
            status = status.as_u16(),
            ?elapsed,
            "answered"
        );
    }
    response
        .headers_mut()
        .insert(REQUEST_ID, HeaderValue::from(id));
    response
}

/// Which pages may call: none unless said. Preflights for JSON bodies and the key pass, and so does
/// Chrome's question whether a public page may reach a private network.
fn cors(options: &ServerOptions) -> Option<CorsLayer> {
    if options.cors_origins.is_empty() {
        return None;
    }
    let origins = if options.cors_origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(
            options
                .cors_origins
                .iter()
                .filter_map(|origin| HeaderValue::from_str(origin).ok()),
        )
    };
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE, HeaderName::from_static("x-api-key")])
        .expose_headers([REQUEST_ID])
        .allow_private_network(true)
        .max_age(std::time::Duration::from_secs(600));
    Some(layer)
}

/// The page's own 404, where the page is served.
pub async fn not_found() -> Response {
    Refusal::NotFound.into_response()
}
