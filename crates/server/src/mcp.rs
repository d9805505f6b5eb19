//! MCP: an environment as a server of tools, over streamable HTTP at `/mcp` and over pipes.
//!
//! The tools of the environment are tools here, next to `reset`, which starts an episode and returns its task.
//! - `environment_server`: the server, for rmcp. `tools`: its tools. `values`: JSON of rmcp and ours.
//!
//! A connection of the protocols before 2026-07-28 has one environment, as a process has that is reached through pipes.
//! Later protocols have no sessions over HTTP: `reset` returns the name of the episode, which every call then carries.

mod environment_server;
mod tools;
mod values;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

pub use environment_server::EnvironmentServer;

use crate::error::ApiError;
use crate::extract::Authorized;
use crate::server::Server;

/// Where clients connect.
pub const PATH: &str = "/mcp";

/// The maximum size of a request. A call of a tool is short.
pub(crate) const LARGEST_REQUEST: usize = 1 << 20;

/// The time after which a session without requests ends, and its environment is closed. Clients do not always say goodbye.
pub(crate) const IDLE_SESSION: Duration = Duration::from_secs(3600);

/// `POST`, `GET` and `DELETE /mcp`.
pub fn routes(server: &Arc<Server>) -> Router<Arc<Server>> {
    let options = &server.shared.options;
    // Hosts and origins are checked for all paths in the same way.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(options.max_body.min(LARGEST_REQUEST))
        .with_cancellation_token(server.shared.stopping.child_token());
    let idle = options.idle_timeout.unwrap_or(IDLE_SESSION);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(idle.min(IDLE_SESSION));
    let served = Arc::clone(server);
    let service = StreamableHttpService::new(
        move || Ok(EnvironmentServer::over_http(Arc::clone(&served))),
        Arc::new(sessions),
        config,
    );
    Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(Arc::clone(server), authorize))
}

/// Middleware that refuses clients without the key, and other pages.
async fn authorize(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    match Authorized::from_request_parts(&mut head, &server).await {
        Ok(Authorized) => next.run(Request::from_parts(head, body)).await,
        Err(error @ ApiError::InvalidKey) => {
            let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
            (
                StatusCode::UNAUTHORIZED,
                challenge,
                error.into_response().into_body(),
            )
                .into_response()
        }
        Err(error) => error.into_response(),
    }
}
