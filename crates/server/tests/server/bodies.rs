//! Invalid bodies and methods.

use std::io::Write;
use std::time::Duration;

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::running::Running;

fn dummy() -> Running {
    Running::serving("dummy", ServerOptions::default())
}

#[test]
fn malformed_json_is_reported_with_its_position() {
    let server = dummy();
    let mut connection = server.connect();
    for (body, status) in [
        (&b"{bad"[..], 422),
        (b"[1,", 422),
        (b"\x00", 422),
        (b"{} {}", 422),
        (b"\xef\xbb\xbf{}", 200),
        (b"{\"task_kwargs\": {\"a\": \"\xff\"}}", 400),
        (b"\xff\xfe", 400),
    ] {
        for path in ["/start", "/steps"] {
            let headers = [("Content-Type", "application/json")];
            let reply = connection.ask("POST", path, &headers, body);
            let expected = if path == "/steps" && status == 200 {
                422
            } else {
                status
            };
            assert_eq!(reply.status, expected, "{body:?}");
            if status == 422 {
                assert_eq!(reply.problems(), ["json_invalid"]);
            }
        }
    }
}

#[test]
fn deep_json_is_refused_or_read_but_overflows_nothing() {
    let server = dummy();
    let mut connection = server.connect();
    for (depth, status) in [(990, 422), (1_100, 400), (1_000_000, 400)] {
        let body = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(connection.post_text("/start", &body).status, status);
        let body = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert_eq!(connection.post_text("/reset", &body).status, status);
    }
}

#[test]
fn a_body_of_another_type_is_not_an_object() {
    let server = dummy();
    let mut connection = server.connect();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "nonsense",
    ] {
        let reply = connection.ask("POST", "/start", &[("Content-Type", kind)], b"{}");
        assert_eq!(reply.problems(), ["model_attributes_type"]);
    }
    assert_eq!(connection.ask("POST", "/start", &[], b"{}").status, 422);
    let headers = [("Content-Type", "application/vnd.api+json; charset=utf-8")];
    assert_eq!(
        connection
            .ask("POST", "/start", &headers, b"{\"unknown\": 1}")
            .status,
        200
    );
}

#[test]
fn large_bodies_are_rejected_and_the_client_reads_the_error() {
    let server = Running::serving(
        "dummy",
        ServerOptions {
            max_body: 1 << 20,
            ..ServerOptions::default()
        },
    );
    for megabytes in [2, 100] {
        let mut connection = server.connect();
        let body = vec![b' '; megabytes << 20];
        let headers = [("Content-Type", "application/json")];
        let reply = connection.ask("POST", "/start", &headers, &body);
        assert_eq!(reply.status, 413);
        assert!(reply.detail().contains("1048576"));
        assert!(connection.is_closed());
    }
    // Requests are answered in order.
    let mut connection = server.connect();
    connection
        .write("POST /start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
        .unwrap();
    assert_eq!(connection.receive().unwrap().status, 413);
    // Chunked, without a length in advance.
    let mut connection = server.connect();
    let mut pieces =
        b"POST /start HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..20 {
        pieces.extend(format!("{:x}\r\n{}\r\n", 1 << 16, " ".repeat(1 << 16)).bytes());
    }
    pieces.extend(b"0\r\n\r\n");
    connection.write(pieces).unwrap();
    assert_eq!(connection.receive().unwrap().status, 413);
}

#[test]
fn bodies_within_the_limit_are_read_however_large() {
    let server = dummy();
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    connection.reset(&id);
    let story = "word ".repeat(2 << 20);
    assert_eq!(
        connection
            .call(&id, "print_story", json!({"story": story}))
            .status,
        200
    );
    // A body with very many members is processed in reasonable time.
    let members: Vec<String> = (0..300_000)
        .map(|place| format!("\"k{place}\":0"))
        .collect();
    let body = format!(r#"{{"task_kwargs": {{{}}}}}"#, members.join(","));
    assert_eq!(connection.post_text("/start", &body).status, 500);
    let server = Running::serving("counter", ServerOptions::default());
    assert_eq!(server.connect().post_text("/start", &body).status, 500);
}

#[test]
fn without_the_key_only_small_bodies_are_taken() {
    let api_key = Some("key".to_owned());
    let server = Running::serving(
        "dummy",
        ServerOptions {
            api_key,
            ..ServerOptions::default()
        },
    );
    let body = vec![b' '; 1 << 20];
    let headers = [("Content-Type", "application/json")];
    assert_eq!(
        server
            .connect()
            .ask("POST", "/start", &headers, &body)
            .status,
        403
    );
    let headers = [("Content-Type", "application/json"), ("X-API-Key", "key")];
    assert_eq!(
        server
            .connect()
            .ask("POST", "/start", &headers, &body)
            .status,
        422
    );
}

#[test]
fn a_body_that_breaks_off_harms_nothing() {
    let server = dummy();
    let mut connection = server.connect();
    connection
        .write("POST /start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{}")
        .unwrap();
    drop(connection);
    server.wait_for_connections(0);
    assert_eq!(server.connect().get("/info").status, 200);
    assert_eq!(server.places(), 0);
}

#[test]
fn methods_and_paths() {
    let server = dummy();
    let mut connection = server.connect();
    for (method, path, status) in [
        ("GET", "/start", 405),
        ("PUT", "/start", 405),
        ("DELETE", "/info", 405),
        ("HEAD", "/info", 405),
        ("OPTIONS", "/start", 405),
        ("HEAD", "/healthz", 200),
        ("GET", "/", 404),
        ("GET", "/start/x", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/info/", 307),
        ("POST", "/start/", 307),
    ] {
        let reply = connection.ask(method, path, &[], b"");
        assert_eq!(reply.status, status, "{method} {path}");
        if path == "/info" {
            assert_eq!(reply.header("allow"), Some("GET"));
        }
        match status {
            307 => assert_eq!(reply.header("location"), path.strip_suffix('/')),
            405 if method != "HEAD" => assert_eq!(reply.detail(), "Method Not Allowed"),
            404 => assert_eq!(reply.detail(), "Not Found"),
            _ => {}
        }
    }
}

#[test]
fn malformed_http_and_old_http() {
    let server = dummy();
    let mut connection = server.connect();
    connection.write("hello\r\n\r\n").unwrap();
    assert!(connection.receive().is_none_or(|reply| reply.status == 400));
    let mut connection = server.connect();
    connection.write("GET /healthz HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(connection.receive().unwrap().body, "ok");
    assert!(connection.is_closed());
    let mut connection = server.connect();
    connection
        .write("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        .unwrap();
    connection.receive().unwrap();
    assert_eq!(connection.get("/healthz").body, "ok");
    assert_eq!(
        connection
            .ask("GET", "/healthz", &[("Connection", "close")], b"")
            .status,
        200
    );
    assert!(connection.is_closed());
    // Pipelined requests.
    let mut connection = server.connect();
    connection
        .write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(3))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(connection.receive().unwrap().body, "ok");
    }
    // An endless head.
    let mut connection = server.connect();
    let _ = connection.write(format!(
        "GET /healthz HTTP/1.1\r\nA: {}",
        "a".repeat(1 << 20)
    ));
    let _ = connection.stream.get_mut().flush();
    assert!(connection.receive().is_none_or(|reply| reply.status == 431));
}

#[test]
fn a_connection_survives_replies_that_ignore_the_body() {
    let options = ServerOptions {
        api_key: Some("secret".into()),
        ..ServerOptions::default()
    };
    let server = Running::serving("dummy", options);
    let mut connection = server.connect();
    for (host, path, status) in [
        ("localhost", "/nothing", 404),
        ("localhost", "/info", 405),
        ("localhost", "/start/", 307),
        ("localhost", "/start", 403),
        ("attacker.example", "/start", 421),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n");
        connection.write(head).unwrap();
        // Clients write head and body in two packets, and the reply may be ready between them.
        std::thread::sleep(Duration::from_millis(20));
        connection.write("{}").unwrap();
        let reply = connection.receive();
        assert_eq!(reply.map(|reply| reply.status), Some(status), "{path}");
    }
}
