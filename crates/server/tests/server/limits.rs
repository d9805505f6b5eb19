//! Limits: environments, connections, keys.

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::running::Running;

#[test]
fn there_are_only_so_many_environments() {
    let server = Running::serving(
        "dummy",
        ServerOptions {
            max_envs: 3,
            ..ServerOptions::default()
        },
    );
    let mut connections = [server.connect(), server.connect()];
    let ids: Vec<String> = (0..3)
        .map(|place| connections[place % 2].start(&json!({})))
        .collect();
    let full = connections[0].post("/start", &json!({}));
    assert_eq!(full.status, 503);
    assert!(full.detail().contains('3'), "{full:?}");
    let mut id = ids[0].clone();
    for _ in 0..50 {
        // After closing it on one worker, the other worker can use its permit at once.
        assert_eq!(connections[0].close(&id).status, 200);
        id = connections[1].start(&json!({}));
    }
}

#[test]
fn starts_that_fail_take_no_place() {
    let server = Running::serving(
        "dummy",
        ServerOptions {
            max_envs: 1,
            ..ServerOptions::default()
        },
    );
    let mut connection = server.connect();
    for _ in 0..3 {
        assert_eq!(
            connection.post("/start", &json!({"task_idx": 0})).status,
            500
        );
        assert_eq!(
            connection.post("/start", &json!({"task_idx": "x"})).status,
            422
        );
    }
    connection.start(&json!({}));
}

#[test]
fn the_key_is_asked_for_after_the_syntax_and_before_the_fields() {
    let api_key = Some("s3cret \u{e9}".to_owned());
    let server = Running::serving(
        "dummy",
        ServerOptions {
            api_key,
            ..ServerOptions::default()
        },
    );
    let mut connection = server.connect();
    for wrong in [
        None,
        Some(""),
        Some("s3cret"),
        Some("s3cret \u{e9} "),
        Some("S3CRET \u{e9}"),
    ] {
        // Trailing white space is not part of a header's value.
        let right = wrong.is_some_and(|key| key.trim() == "s3cret \u{e9}");
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(wrong.map(|key| ("X-API-Key", key)));
        let ask = |connection: &mut crate::http::Connection, path, body: &[u8]| {
            let method = if body.is_empty() { "GET" } else { "POST" };
            connection.ask(method, path, &headers, body)
        };
        assert_eq!(ask(&mut connection, "/start", b"{").status, 422);
        for (path, body) in [
            ("/start", &b"[]"[..]),
            ("/reset", b"{}"),
            ("/step", b"{}"),
            ("/close", b"{}"),
            ("/steps", b"{}"),
            ("/frame", b"{}"),
        ] {
            let reply = ask(&mut connection, path, body);
            assert_eq!(
                reply.status,
                if right { 422 } else { 403 },
                "{path} {wrong:?}"
            );
        }
        for path in ["/info", "/metrics"] {
            assert_eq!(
                ask(&mut connection, path, b"").status,
                if right { 200 } else { 403 }
            );
        }
        // Endpoints that reveal nothing need no key.
        for path in ["/healthz", "/openapi.json"] {
            assert_eq!(ask(&mut connection, path, b"").status, 200);
        }
    }
}

#[test]
fn connections_beyond_the_limit_wait_for_their_turn() {
    let server = Running::serving(
        "dummy",
        ServerOptions {
            connections: 2,
            ..ServerOptions::default()
        },
    );
    let mut held = vec![server.connect(), server.connect()];
    for connection in &mut held {
        assert_eq!(connection.get("/healthz").status, 200);
    }
    let mut waiting = server.connect();
    waiting.send("GET", "/healthz", &[], b"");
    drop(held);
    assert_eq!(waiting.receive().unwrap().status, 200);
}
