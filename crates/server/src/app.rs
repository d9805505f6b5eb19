//! The routes, as a router that works without a socket.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use volary_remote::description::PROTOCOL;

use crate::class::{self, Class};
use crate::error::ApiError;
use crate::server::Server;
use crate::{handlers, host, mcp, openenv, origin, telemetry, unread_body};

/// The routes of a server, with those of a class if it has one. `page` handles all other paths, if the server also
/// serves the page.
pub fn app(server: Arc<Server>, class: Option<Arc<Class>>, page: Option<Router>) -> Router {
    let routes = Router::new()
        .route("/start", post(handlers::start))
        .route("/reset", post(handlers::reset))
        .route("/step", post(handlers::step))
        .route("/close", post(handlers::close))
        .route("/close_old_envs", post(handlers::close_old_envs))
        // The original's framework has no HEAD.
        .route(
            "/info",
            get(handlers::info).head(only_get).fallback(only_get),
        )
        .route("/steps", post(handlers::steps))
        .route("/frame", post(handlers::frame))
        .route("/healthz", get(handlers::healthz))
        .route("/metrics", get(handlers::metrics))
        .route("/openapi.json", get(handlers::openapi))
        .merge(openenv::routes())
        .merge(mcp::routes(&server));
    let routes = match class {
        Some(class) => routes.merge(class::routes(Arc::clone(&server), class)),
        None => routes,
    };
    let routes = routes.method_not_allowed_fallback(method_not_allowed);
    let routes = match page {
        Some(page) => routes.fallback_service(page),
        None => routes.fallback(not_found),
    };
    let cors = origin::cors_layer(&server.shared.options);
    let routes = routes
        .layer(from_fn_with_state(Arc::clone(&server), check_host))
        .layer(from_fn_with_state(Arc::clone(&server), telemetry::record))
        .layer(from_fn_with_state(
            Arc::clone(&server),
            unread_body::discard,
        ))
        .with_state(server);
    match cors {
        Some(cors) => routes.layer(cors),
        None => routes,
    }
}

/// The files of a page, for [`app`].
pub fn page(folder: &Path) -> anyhow::Result<Router> {
    volary_site::page(folder, any(not_found))
}

async fn method_not_allowed() -> ApiError {
    ApiError::MethodNotAllowed
}

async fn only_get() -> impl IntoResponse {
    ([(header::ALLOW, "GET")], ApiError::MethodNotAllowed)
}

/// The reply to unknown paths. Like the original, a path of the protocol with a trailing `/` redirects to
/// the path without it.
pub async fn not_found(uri: Uri) -> Response {
    match uri.path().strip_suffix('/') {
        Some(path) if PROTOCOL.contains(&path) => Redirect::temporary(path).into_response(),
        _ => ApiError::NotFound.into_response(),
    }
}

/// Middleware that rejects requests for hosts that are not allowed.
async fn check_host(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    match host::foreign_host(&server.shared.options.hosts, &request) {
        Some(host) => ApiError::ForeignHost(host).into_response(),
        None => next.run(request).await,
    }
}
