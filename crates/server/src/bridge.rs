//! `volary serve --bridge`: what pages need to reach another server, or a program that speaks MCP ([`program_bridge`]).
//!
//! The bridge to a server passes requests on to another server, and adds what pages need to reach it: CORS, a key, one
//! address. So pages use servers of OpenEnv and MCP that know nothing of browsers. HTTP and WebSockets.
//!
//! Invariants: requests go to the one server that was named, and only those that the rules of [`crate::origin`],
//! [`crate::host`] and the key allow. Neither headers nor bodies nor queries are logged.

mod program;
mod upstream;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, Version, header};
use axum::response::{IntoResponse, Response};
use hyper::client::conn::http1;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use volary_remote::KEY_HEADER;
use volary_site::{ConnectionLimits, Pace, serve_until};

pub use program::{BridgedCommand, program_bridge};
pub use upstream::{Upstream, UpstreamError};

use crate::error::ApiError;
use crate::extract::has_key;
use crate::host::foreign_host;
use crate::options::ServerOptions;
use crate::origin;

/// The time for the other server to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Headers that concern one connection, and those that tell the other server about the page: many refuse pages of other
/// origins, and cookies are between a page and its own server.
const NOT_PASSED_ON: [&str; 14] = [
    "connection",
    "cookie",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "referer",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

struct Bridge {
    upstream: Upstream,
    options: ServerOptions,
}

/// The routes: all paths go to the other server.
pub fn bridge(upstream: Upstream, options: ServerOptions) -> Router {
    let cors = origin::cors_layer(&options);
    let bridge = Arc::new(Bridge { upstream, options });
    let routes = Router::new().fallback(forward).with_state(bridge);
    match cors {
        Some(cors) => routes.layer(cors),
        None => routes,
    }
}

/// Serves a bridge until `stop` completes.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    options: &ServerOptions,
    stop: impl Future<Output = ()>,
) {
    let limits = ConnectionLimits {
        head: options.read_timeout,
        pace: Pace {
            interval: options.read_timeout,
            bytes: Pace::BYTES,
        },
        ..ConnectionLimits::default()
    };
    let connections = serve_until(listener, app, limits, || (), stop).await;
    // Streams of events never end on their own.
    let _ = timeout(options.grace_period, connections.shutdown()).await;
}

async fn forward(
    State(bridge): State<Arc<Bridge>>,
    request: Request,
) -> Result<Response, ApiError> {
    check(&bridge.options, &request)?;
    bridge.pass_on(request).await
}

/// Fails for a foreign host, without the key, and for pages that are not allowed.
fn check(options: &ServerOptions, request: &Request) -> Result<(), ApiError> {
    if let Some(host) = foreign_host(&options.hosts, request) {
        return Err(ApiError::ForeignHost(host));
    }
    if !has_key(options, request.headers()) {
        return Err(ApiError::InvalidKey);
    }
    origin::check(options, request.headers())
}

impl Bridge {
    async fn pass_on(&self, mut request: Request) -> Result<Response, ApiError> {
        let upgrade = request.extensions_mut().remove::<OnUpgrade>();
        let wants_socket = request.headers().get(header::UPGRADE).cloned();
        let wants_socket =
            wants_socket.filter(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket"));
        let request = self.outgoing(request, wants_socket)?;
        let connecting = TcpStream::connect(self.upstream.address());
        let connected = timeout(CONNECT, connecting).await;
        let stream = connected.map_err(|_| self.unreachable("it does not answer"))?;
        let stream = stream.map_err(|error| self.unreachable(error))?;
        // What is small is not held back.
        let _ = stream.set_nodelay(true);
        let handshake = http1::handshake::<_, Body>(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| self.unreachable(error))?;
        tokio::spawn(async move {
            // The response carries the error.
            let _ = connection.with_upgrades().await;
        });
        let response = sender.send_request(request).await;
        let mut response = response.map_err(|error| self.unreachable(error))?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let (mut head, body) = response.into_parts();
            strip(&mut head.headers);
            head.version = Version::HTTP_11;
            return Ok(Response::from_parts(head, Body::new(body)));
        }
        let Some(upgrade) = upgrade else {
            return Err(self.unreachable("it switched to another protocol unasked"));
        };
        let switched = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            if let (Ok(client), Ok(server)) = (upgrade.await, switched.await) {
                copy(client, server).await;
            }
        });
        let headers = response.headers().clone();
        Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
    }

    /// The request for the other server.
    fn outgoing(
        &self,
        request: Request,
        socket: Option<HeaderValue>,
    ) -> Result<axum::http::Request<Body>, ApiError> {
        let (mut head, body) = request.into_parts();
        head.extensions.clear();
        if self.options.key().is_some() {
            // The key is the bridge's own. Where it came as a bearer token, that is no other server's.
            if head.headers.remove(KEY_HEADER).is_none() {
                head.headers.remove(header::AUTHORIZATION);
            }
        }
        strip(&mut head.headers);
        if let Some(protocol) = socket {
            head.headers.insert(header::UPGRADE, protocol);
            let value = HeaderValue::from_static("upgrade");
            head.headers.insert(header::CONNECTION, value);
        }
        head.headers.insert(header::HOST, self.upstream.host());
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri: Result<Uri, _> = format!("{}{path}", self.upstream.prefix()).parse();
        head.uri = uri.map_err(|_| ApiError::NotFound)?;
        head.version = Version::HTTP_11;
        Ok(axum::http::Request::from_parts(head, body))
    }

    fn unreachable(&self, reason: impl std::fmt::Display) -> ApiError {
        let upstream = &self.upstream;
        let reason =
            format!("The server at {upstream} cannot be reached: {reason}. Is it running?");
        ApiError::BadGateway(reason.into())
    }
}

/// Removes what is not passed on, also the names in `Connection`, and the permissions for pages, which are the bridge's.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    let permissions: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"))
        .cloned()
        .collect();
    for name in permissions {
        headers.remove(name);
    }
}

async fn copy(client: Upgraded, server: Upgraded) {
    let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
    // When either side closes, close both.
    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
}
