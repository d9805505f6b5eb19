//! Closing: repeated, failing, old and idle environments, and all environments when the server stops.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use volary_core::json;
use volary_core::json::Json;
use volary_server::options::ServerOptions;

use crate::running::{Running, until};

fn ids(body: &Json, key: &str) -> Vec<String> {
    let list = body.get(key).and_then(Json::as_list).unwrap();
    list.iter()
        .map(|id| id.as_text().unwrap().to_string())
        .collect()
}

#[test]
fn an_environment_that_fails_to_close_is_gone_all_the_same() {
    let server = Running::scripted(ServerOptions::default());
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    connection.order(&id, "close fail cannot close");
    let closed = connection.close(&id);
    assert_eq!(
        (closed.status, closed.detail().as_str()),
        (500, "cannot close")
    );
    assert_eq!(connection.close(&id).status, 404);
    assert_eq!(server.places(), 0);
}

#[test]
fn old_ones_are_closed_in_order_of_start_on_all_workers() {
    let server = Running::scripted(ServerOptions::default());
    let mut connections: Vec<_> = (0..3).map(|_| server.connect()).collect();
    let started: Vec<String> = (0..9)
        .map(|place| connections[place % 3].start(&json!({})))
        .collect();
    assert_eq!(
        ids(&connections[0].get("/info").json(), "running_env_ids"),
        started
    );
    connections[1].order(&started[4], "close fail for good");
    let none = connections[0].post("/close_old_envs", &json!({}));
    assert_eq!(none.json(), json!({"closed_env_ids": []}));
    let closed = connections[0].post("/close_old_envs", &json!({"last_used": "-1"}));
    let expected: Vec<String> = started
        .iter()
        .filter(|id| **id != started[4])
        .cloned()
        .collect();
    assert_eq!(ids(&closed.json(), "closed_env_ids"), expected);
    assert_eq!(
        ids(&connections[0].get("/info").json(), "running_env_ids"),
        [""; 0]
    );
}

#[test]
fn idle_environments_are_closed_and_busy_ones_are_not() {
    let idle_timeout = Some(Duration::from_millis(500));
    let server = Running::scripted(ServerOptions {
        idle_timeout,
        ..ServerOptions::default()
    });
    let mut connection = server.connect();
    let busy = connection.start(&json!({"task_kwargs": {"name": "busy"}}));
    connection.send_order(&busy, "hold");
    server.wait_for_operations(1);
    server
        .connect()
        .start(&json!({"task_kwargs": {"name": "idle"}}));
    until("the idle one is closed", || {
        server.script.closed() == ["idle"]
    });
    server.script.release(1);
    assert_eq!(connection.receive().unwrap().status, 200);
    assert_eq!(connection.order(&busy, "go").status, 200);
    until("the other one is closed", || server.places() == 0);
    assert_eq!(connection.order(&busy, "go").status, 404);
}

#[test]
fn a_server_that_stops_lets_requests_finish_and_closes_everything() {
    for isolate in [false, true] {
        let mut server = Running::scripted(ServerOptions {
            isolate,
            ..ServerOptions::default()
        });
        let (mut one, mut other) = (server.connect(), server.connect());
        let busy = one.start(&json!({"task_kwargs": {"name": "busy"}}));
        other.start(&json!({"task_kwargs": {"name": "idle"}}));
        one.send_order(&busy, "hold");
        server.wait_for_operations(1);
        let (address, script) = (server.address, Arc::clone(&server.script));
        let refused = move || TcpStream::connect(address).is_err();
        let releasing = thread::spawn(move || {
            until("new connections are refused", refused);
            script.release(1);
        });
        server.stop();
        releasing.join().unwrap();
        let step = one.receive().unwrap();
        assert_eq!(step.status, 200, "{step:?}");
        assert_eq!(server.script.closed(), ["busy", "idle"]);
        assert!(other.is_closed());
    }
}

#[test]
fn a_server_stops_even_if_an_environment_does_not() {
    for (isolate, order) in [
        (false, "hold"),
        (true, "hang"),
        (false, "hang"),
        (false, "close hold"),
    ] {
        let mut server = Running::scripted(ServerOptions {
            isolate,
            grace_period: Duration::from_millis(400),
            ..ServerOptions::default()
        });
        let mut connection = server.connect();
        let never_ending = connection.start(&json!({}));
        connection.start(&json!({"task_kwargs": {"name": "other"}}));
        if order.starts_with("close") {
            assert_eq!(connection.order(&never_ending, order).status, 200);
        } else {
            connection.send_order(&never_ending, order);
            server.wait_for_operations(1);
        }
        // Returns although nothing is released.
        server.stop();
        assert_eq!(server.script.closed(), ["other"], "{order}");
    }
}
