//! The bridge to another server, which is one of ours without permissions for pages.

use std::net::{SocketAddr, TcpListener as Port};

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use volary_core::json;
use volary_core::json::Json;
use volary_server::bridge::{self, Upstream};
use volary_server::options::ServerOptions;

use crate::http::Connection;
use crate::running::{Running, until};
use crate::socket::{Received, Socket};

const PAGE: &str = "https://you.github.io";

/// A bridge that runs until it is dropped.
struct Bridged {
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
    _runtime: Runtime,
}

impl Bridged {
    fn to(upstream: &str, options: ServerOptions) -> Bridged {
        let upstream: Upstream = upstream.parse().unwrap();
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(async move {
            let app = bridge::bridge(upstream, options.clone());
            bridge::serve(listener, app, &options, async { drop(stopped.await) }).await;
        });
        Bridged {
            address,
            _stop: stop,
            _runtime: runtime,
        }
    }

    fn connect(&self) -> Connection {
        Connection::open(self.address)
    }
}

fn for_pages() -> ServerOptions {
    ServerOptions {
        cors_origins: vec![PAGE.to_owned()],
        ..ServerOptions::default()
    }
}

fn url(server: &Running) -> String {
    format!("http://{}", server.address)
}

#[test]
fn a_page_plays_a_server_that_knows_nothing_of_pages() {
    let server = Running::serving("counter", ServerOptions::default());
    let bridge = Bridged::to(&url(&server), for_pages());
    let origin = ("Origin", PAGE);
    let reply = bridge.connect().ask("GET", "/schema", &[origin], b"");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), Some(PAGE));
    let mut socket =
        Socket::ask(bridge.connect(), "/ws", &[origin]).unwrap_or_else(|reply| panic!("{reply:?}"));
    socket.reset(json!({}));
    for count in 1..=10 {
        let step = socket.call("incr", json!({}));
        assert_eq!(step.get("done"), Some(&json!(count == 10)));
    }
    assert_eq!(server.places(), 1);
    drop(socket);
    until("the environment is closed", || server.places() == 0);
    // Aviary's protocol, on a connection that stays.
    let mut connection = bridge.connect();
    let id = connection.start(&json!({}));
    assert_eq!(connection.reset(&id).status, 200);
    assert_eq!(connection.close(&id).status, 200);
}

#[test]
fn other_pages_and_hosts_are_refused() {
    let server = Running::serving("counter", ServerOptions::default());
    let bridge = Bridged::to(&url(&server), for_pages());
    let evil = ("Origin", "https://evil.example");
    assert_eq!(
        bridge.connect().ask("GET", "/schema", &[evil], b"").status,
        403
    );
    assert!(Socket::ask(bridge.connect(), "/ws", &[evil]).is_err_and(|reply| reply.status == 403));
    let rebound = ("Host", "evil.example");
    assert_eq!(
        bridge
            .connect()
            .ask("GET", "/schema", &[rebound], b"")
            .status,
        421
    );
    let closed = Bridged::to(&url(&server), ServerOptions::default());
    let reply = closed
        .connect()
        .ask("GET", "/schema", &[("Origin", PAGE)], b"");
    assert_eq!(reply.status, 403);
}

#[test]
fn each_server_has_its_own_key() {
    let with_key = |key: &str| ServerOptions {
        api_key: Some(key.to_owned()),
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", with_key("inner"));
    let bridge = Bridged::to(&url(&server), with_key("outer"));
    let status =
        |headers: &[(&str, &str)]| bridge.connect().ask("GET", "/info", headers, b"").status;
    assert_eq!(status(&[]), 403);
    let outer = ("X-API-Key", "outer");
    // The bridge's key is not passed on.
    assert_eq!(status(&[outer]), 403);
    assert_eq!(status(&[("Authorization", "Bearer inner")]), 403);
    assert_eq!(status(&[outer, ("Authorization", "Bearer inner")]), 200);
    let open = Bridged::to(&url(&server), ServerOptions::default());
    let reply = open
        .connect()
        .ask("GET", "/info", &[("X-API-Key", "inner")], b"");
    assert_eq!(reply.status, 200);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let port = Port::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let bridge = Bridged::to(&format!("http://127.0.0.1:{port}/base"), for_pages());
    let reply = bridge.connect().get("/schema?key=secret");
    assert_eq!(reply.status, 502);
    let detail = reply.detail();
    assert!(
        detail.contains(&format!("127.0.0.1:{port}/base")),
        "{detail}"
    );
    assert!(!detail.contains("secret"), "{detail}");
    assert!(Socket::ask(bridge.connect(), "/ws", &[]).is_err_and(|reply| reply.status == 502));
}

#[test]
fn a_server_that_stops_ends_the_socket() {
    let mut server = Running::serving("counter", ServerOptions::default());
    let bridge = Bridged::to(&url(&server), for_pages());
    let mut socket = Socket::open(bridge.connect());
    socket.reset(json!({}));
    server.stop();
    let error = socket.expect("error");
    assert_eq!(
        error
            .get("code")
            .and_then(Json::as_text)
            .map(|code| &**code),
        Some("SESSION_ERROR")
    );
    assert_eq!(socket.receive(), Received::Closed(1001));
    assert_eq!(bridge.connect().get("/health").status, 502);
}
