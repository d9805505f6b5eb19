//! Slow clients.

use std::io::Read;
use std::time::{Duration, Instant};

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::http::Connection;
use crate::running::Running;

fn server() -> Running {
    let read_timeout = Duration::from_millis(700);
    Running::serving(
        "faults",
        ServerOptions {
            read_timeout,
            ..ServerOptions::default()
        },
    )
}

/// Sends bytes slowly until the server stops reading; returns its reply.
fn trickle(mut connection: Connection, bytes: &[u8]) -> String {
    let begin = Instant::now();
    let stream = connection.stream.get_mut();
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let mut said = Vec::new();
    for byte in bytes.iter().cycle() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "it has backoff without end"
        );
        let _ = connection.write([*byte]);
        match connection.stream.read_to_end(&mut said) {
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            _ => break,
        }
    }
    String::from_utf8(said).unwrap()
}

#[test]
fn a_head_or_body_that_does_not_arrive_ends_the_connection() {
    let server = server();
    let said = trickle(server.connect(), b"G");
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    let mut connection = server.connect();
    connection
        .write("POST /start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n")
        .unwrap();
    let said = trickle(connection, b" ");
    assert!(
        said.starts_with("HTTP/1.1 408") && said.contains("did not arrive in time"),
        "{said}"
    );
}

#[test]
fn an_idle_connection_is_closed() {
    let server = server();
    let mut connection = server.connect();
    assert_eq!(connection.get("/healthz").status, 200);
    assert!(connection.is_closed());
}

#[test]
fn an_unread_reply_closes_the_connection() {
    let server = server();
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    connection.reset(&id);
    let flood = crate::http::call("flood", json!({"megabytes": 32}));
    let body = json!({"env_id": id, "action": flood}).to_python_text();
    connection.send(
        "POST",
        "/step",
        &[("Content-Type", "application/json")],
        body.as_bytes(),
    );
    // The client does not read. The connection ends although the client keeps it open.
    server.wait_for_connections(0);
}

#[test]
fn unread_files_of_the_page_close_their_connections() {
    let folder = std::env::temp_dir().join(format!("volary-slow-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("index.html"), "<p>home").unwrap();
    std::fs::write(folder.join("large.js"), vec![b'x'; 16 << 20]).unwrap();
    let options = ServerOptions {
        read_timeout: Duration::from_millis(700),
        ..ServerOptions::default()
    };
    let server = Running::with_page_and(&folder, options);
    let clients = (0..60).map(|_| {
        let mut client = server.connect();
        client.send("GET", "/large.js", &[], b"");
        client
    });
    let clients: Vec<Connection> = clients.collect();
    let mut other = server.connect();
    assert_eq!(other.get("/healthz").status, 200);
    drop(other);
    server.wait_for_connections(0);
    drop(clients);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_thousand_slow_connections_do_not_block_others() {
    let read_timeout = Duration::from_secs(30);
    let server = Running::serving(
        "dummy",
        ServerOptions {
            read_timeout,
            ..ServerOptions::default()
        },
    );
    let head = b"POST /start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n          ";
    let mut slow: Vec<Connection> = (0..1000).map(|_| server.connect()).collect();
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    for round in 0..3 {
        for (place, connection) in slow.iter_mut().enumerate() {
            // Half of them stop in their heads, half in their bodies.
            let start = if place % 2 == 0 { 0 } else { head.len() - 10 };
            let bytes = if round == 0 {
                &head[..=start]
            } else {
                &head[start + round..=start + round]
            };
            connection.write(bytes).unwrap();
        }
        for _ in 0..200 {
            assert_eq!(connection.reset(&id).status, 200);
        }
    }
}
