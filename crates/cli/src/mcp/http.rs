//! The server over streamable HTTP, at `/mcp`.
//!
//! Invariants: a request whose `Host` is not this machine or an allowed name, or whose `Origin` is another page, is refused, so
//! no page in a browser reaches the server (DNS rebinding). Other machines need the key.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use volary_server::host::AllowedHosts;
use volary_server::host::foreign_host;

use super::server::TrajectoryServer;
use crate::serve::{reachable, stop_signal};
use crate::view::{are_equal, is_foreign};

/// Where clients connect.
pub const PATH: &str = "/mcp";

/// Who may connect.
pub struct Gate {
    pub hosts: AllowedHosts,
    /// The key that clients send as `Authorization: Bearer …`.
    pub key: Option<String>,
}

/// Serves until the program receives a signal to stop.
pub async fn serve(server: TrajectoryServer, wanted: SocketAddr, gate: Gate) -> Result<()> {
    let listener = TcpListener::bind(wanted)
        .await
        .with_context(|| format!("cannot listen on {wanted} (is the port in use?)"))?;
    let listening = listener.local_addr()?;
    // The gate compares the host and the origin with what this command allows. No tool sends anything before its result, so
    // no session is needed.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let app = Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(Arc::new(gate), check));
    eprintln!("Listening on http://{}{PATH}", reachable(listening));
    eprintln!("Press Ctrl-C to stop.");
    tokio::select! {
        () = volary_site::serve_connections(listener, app) => {}
        signal = stop_signal() => signal?,
    }
    Ok(())
}

/// Middleware that refuses other pages, and clients without the key.
async fn check(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    if foreign_host(&gate.hosts, &request).is_some() {
        let text = "This host name is not allowed. Start volary mcp with --allow-host NAME.\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    if is_foreign(request.headers()) {
        let text = "Pages of other sites may not use this server.\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    if !gate
        .key
        .as_deref()
        .is_none_or(|key| has_key(request.headers(), key))
    {
        let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
        let text = "Send the key as `Authorization: Bearer KEY`.\n";
        return (StatusCode::UNAUTHORIZED, challenge, text).into_response();
    }
    next.run(request).await
}

fn has_key(headers: &HeaderMap, key: &str) -> bool {
    let sent = headers.get(header::AUTHORIZATION);
    let sent = sent.and_then(|sent| sent.to_str().ok());
    let sent = sent.and_then(|sent| {
        let (scheme, sent) = sent.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(sent.trim())
    });
    sent.is_some_and(|sent| are_equal(sent, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_bearer_token() {
        let with = |value: &'static str| {
            let headers = [(header::AUTHORIZATION, HeaderValue::from_static(value))];
            has_key(&headers.into_iter().collect(), "secret")
        };
        assert!(with("Bearer secret") && with("bearer  secret"));
        assert!(!with("Bearer other") && !with("Basic secret") && !with("secret"));
        assert!(!has_key(&HeaderMap::new(), "secret"));
    }
}
