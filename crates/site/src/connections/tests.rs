//! Many clients on real sockets, with limits of a moment.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use socket2::{Domain, Socket, Type};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::*;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The size of `/large`, more than the buffers of both ends.
const LARGE: usize = 24 << 20;

fn limits() -> ConnectionLimits {
    ConnectionLimits {
        connections: 256,
        head: Duration::from_millis(500),
        pace: Pace {
            interval: Duration::from_millis(500),
            bytes: 32 << 10,
        },
    }
}

/// A server, and its open connections.
struct Running {
    address: SocketAddr,
    open: Arc<AtomicUsize>,
    _stop: oneshot::Sender<()>,
    _runtime: Runtime,
}

/// Counts a connection.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Running {
    fn with(limits: ConnectionLimits) -> Running {
        let runtime = Runtime::new().unwrap();
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .unwrap();
        let address = listener.local_addr().unwrap();
        let open = Arc::<AtomicUsize>::default();
        let large = Bytes::from(vec![b'x'; LARGE]);
        let app = Router::new()
            .route("/", get(|| async { "home" }))
            .route("/large", get(|| async { Body::from(large) }))
            .route(
                "/body",
                post(|body: Bytes| async move { body.len().to_string() })
                    .layer(DefaultBodyLimit::disable()),
            );
        let count = Arc::clone(&open);
        let opened = move || {
            count.fetch_add(1, Ordering::SeqCst);
            Open(Arc::clone(&count))
        };
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(serve_until(listener, app, limits, opened, async {
            let _ = stopped.await;
        }));
        Running {
            address,
            open,
            _stop: stop,
            _runtime: runtime,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A connection with little memory for what it does not read.
    fn narrow(&self) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(64 << 10).unwrap();
        socket.connect(&self.address.into()).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request and reads until the connection ends.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn home(&self) -> String {
        self.ask("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    }

    /// Waits until this many connections are open.
    fn wait_for(&self, count: usize) {
        let start = Instant::now();
        while self.open.load(Ordering::SeqCst) != count {
            let open = self.open.load(Ordering::SeqCst);
            assert!(start.elapsed() < PATIENCE, "{open} connections are open");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}

#[test]
fn half_sent_requests_and_idle_connections_end() {
    let server = Running::with(limits());
    let mut clients = Vec::new();
    for start in [
        "",
        "GE",
        "GET / HTTP/1.1\r\nHost: local",
        "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf",
        "POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nha",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ] {
        for _ in 0..30 {
            let mut client = server.connect();
            send(&mut client, start);
            clients.push(client);
        }
    }
    // Others are served meanwhile.
    assert!(server.home().ends_with("home"));
    server.wait_for(0);
    // Each client notices.
    for mut client in clients {
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest);
    }
}

#[test]
fn a_body_that_trickles_ends_and_one_that_is_slow_arrives() {
    let server = Running::with(limits());
    let head = |length: usize| {
        format!(
            "POST /body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    thread::scope(|scope| {
        for _ in 0..20 {
            // A byte now and then.
            scope.spawn(|| {
                let mut client = server.connect();
                send(&mut client, &head(1 << 20));
                let start = Instant::now();
                while client.write_all(b"x").is_ok() {
                    assert!(start.elapsed() < PATIENCE, "it goes on");
                    thread::sleep(Duration::from_millis(20));
                }
            });
        }
        // About four times the pace, for several intervals.
        scope.spawn(|| {
            let mut client = server.connect();
            let part = vec![b'x'; 16 << 10];
            send(&mut client, &head(25 * part.len()));
            for _ in 0..25 {
                client.write_all(&part).unwrap();
                thread::sleep(Duration::from_millis(60));
            }
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("409600"), "{answer}");
        });
    });
    server.wait_for(0);
}

#[test]
fn readers_that_stall_lose_their_connections() {
    // The head has time, so that the connections end for no other reason.
    let server = Running::with(ConnectionLimits {
        head: PATIENCE,
        ..limits()
    });
    let clients = (0..60).map(|_| {
        let mut client = server.narrow();
        send(
            &mut client,
            "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
        );
        client
    });
    let clients: Vec<TcpStream> = clients.collect();
    assert!(server.home().ends_with("home"));
    server.wait_for(0);
    drop(clients);
}

#[test]
fn a_reader_that_takes_a_byte_now_and_then_loses_its_connection() {
    let mut limits = limits();
    limits.pace.bytes = 8 << 20;
    let server = Running::with(limits);
    let mut client = server.narrow();
    send(
        &mut client,
        "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    let start = Instant::now();
    let mut read = 0;
    loop {
        assert!(start.elapsed() < PATIENCE, "it goes on");
        // The system accepts bytes for it all the time.
        match client.read(&mut [0; 64 << 10]) {
            Ok(0) | Err(_) => break,
            Ok(bytes) => read += bytes,
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(read < LARGE, "{read}");
    server.wait_for(0);
}

#[test]
fn a_slow_reader_gets_everything() {
    let server = Running::with(limits());
    let mut client = server.narrow();
    send(
        &mut client,
        "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    let start = Instant::now();
    let mut read = 0;
    let mut buffer = vec![0; 256 << 10];
    loop {
        let bytes = client.read(&mut buffer).unwrap();
        if bytes == 0 {
            break;
        }
        read += bytes;
        // 16 MB/s at most: three intervals for all.
        let due = Duration::from_secs_f64(read as f64 / (16 << 20) as f64);
        thread::sleep(due.saturating_sub(start.elapsed()));
    }
    assert!(read > LARGE);
    assert!(start.elapsed() > 2 * limits().pace.interval);
}

#[test]
fn clients_that_leave_within_a_response_leave_nothing_behind() {
    let server = Running::with(ConnectionLimits {
        head: PATIENCE,
        ..limits()
    });
    for request in [
        "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhal",
        "GET / HT",
    ] {
        for _ in 0..40 {
            let mut client = server.connect();
            send(&mut client, request);
            drop(client);
        }
    }
    server.wait_for(0);
    assert!(server.home().ends_with("home"));
}

#[test]
fn pipelined_requests_are_answered_in_order_and_large_heads_are_refused() {
    let server = Running::with(limits());
    let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let last = "GET /absent HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answers = server.ask(&format!("{}{last}", get.repeat(5)));
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 5, "{answers}");
    assert!(answers.rfind("HTTP/1.1 404") > answers.rfind("HTTP/1.1 200"));
    let mut client = server.connect();
    let _ = client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nA: ");
    let _ = client.write_all(&vec![b'a'; 4 << 20]);
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    assert!(server.home().ends_with("home"));
}

#[test]
fn one_machine_gets_half_of_the_connections() {
    let peers = Arc::new(Peers::new(2));
    let enter = |address: &str| Peers::enter(&peers, address.parse().unwrap());
    let one = enter("192.0.2.1").unwrap();
    let two = enter("::ffff:192.0.2.1").unwrap();
    assert!(enter("192.0.2.1").is_none());
    assert!(enter("192.0.2.2").is_some());
    drop(one);
    assert!(enter("192.0.2.1").is_some());
    // A machine has many addresses of version 6.
    let held = [enter("2001:db8::1"), enter("2001:db8::2")];
    assert!(enter("2001:db8::ffff:3").is_none());
    assert!(enter("2001:db8:0:1::1").is_some());
    // Behind a proxy or a tunnel all have this one.
    let loopback: Vec<_> = (0..9)
        .map(|_| enter("127.0.0.1").or(enter("::1")))
        .collect();
    assert!(loopback.iter().all(Option::is_some));
    assert!(IpAddr::from(Ipv6Addr::LOCALHOST).is_loopback());
    drop(two);
    drop(held);
    assert!(peers.counts().is_empty());
}
