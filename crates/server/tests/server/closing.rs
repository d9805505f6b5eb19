//! Closing: twice, failing, what is old, what is idle, and everything when the server stops.

use std::thread;
use std::time::{Duration, Instant};

use volary_core::json;
use volary_core::json::Json;
use volary_server::options::ServerOptions;

use crate::running::Running;

fn ids(body: &Json, key: &str) -> Vec<String> {
    let list = body.get(key).and_then(Json::as_list).unwrap();
    list.iter()
        .map(|id| id.as_text().unwrap().to_string())
        .collect()
}

#[test]
fn an_environment_that_fails_to_close_is_gone_all_the_same() {
    let server = Running::odd(ServerOptions::default());
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
    let server = Running::odd(ServerOptions::default());
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
fn what_nobody_uses_is_closed_and_what_works_is_not() {
    let idle_timeout = Some(Duration::from_millis(500));
    let server = Running::odd(ServerOptions {
        idle_timeout,
        ..ServerOptions::default()
    });
    let mut connection = server.connect();
    connection.start(&json!({"task_kwargs": {"name": "idle"}}));
    let working = connection.start(&json!({"task_kwargs": {"name": "working"}}));
    assert_eq!(connection.order(&working, "wait 1.5").status, 200);
    assert_eq!(*server.closed.lock().unwrap(), ["idle"]);
    assert_eq!(connection.order(&working, "go").status, 200);
    let begin = Instant::now();
    while server.places() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(10));
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(connection.order(&working, "go").status, 404);
}

#[test]
fn a_server_that_stops_lets_requests_finish_and_closes_everything() {
    for isolate in [false, true] {
        let mut server = Running::odd(ServerOptions {
            isolate,
            ..ServerOptions::default()
        });
        let (mut one, mut other) = (server.connect(), server.connect());
        let working = one.start(&json!({"task_kwargs": {"name": "working"}}));
        other.start(&json!({"task_kwargs": {"name": "idle"}}));
        let step = thread::spawn(move || one.order(&working, "wait 0.6"));
        thread::sleep(Duration::from_millis(200));
        assert!(server.stop());
        let step = step.join().unwrap();
        assert_eq!(step.status, 200, "{step:?}");
        let mut closed = server.closed.lock().unwrap().clone();
        closed.sort_unstable();
        assert_eq!(closed, ["idle", "working"]);
        assert!(other.is_closed());
        assert!(std::net::TcpStream::connect(server.address).is_err());
    }
}

#[test]
fn a_server_stops_even_if_an_environment_does_not() {
    for (isolate, order) in [
        (false, "wait 60"),
        (true, "hang 20"),
        (false, "close wait 60"),
    ] {
        let farewell = Duration::from_millis(400);
        let mut server = Running::odd(ServerOptions {
            isolate,
            farewell,
            ..ServerOptions::default()
        });
        let (mut one, mut other) = (server.connect(), server.connect());
        let hanging = one.start(&json!({}));
        other.start(&json!({"task_kwargs": {"name": "fine"}}));
        thread::spawn(move || {
            let body = json!({"env_id": hanging, "action": {"role": "user", "content": order}});
            one.send(
                "POST",
                "/step",
                &[("Content-Type", "application/json")],
                body.to_python_text().as_bytes(),
            );
            one.receive()
        });
        thread::sleep(Duration::from_millis(200));
        let begin = Instant::now();
        server.stop();
        assert!(begin.elapsed() < Duration::from_secs(5), "{order}");
        assert_eq!(*server.closed.lock().unwrap(), ["fine"], "{order}");
    }
}
