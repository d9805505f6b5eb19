//! An environment that panics, times out or hangs does not affect others.

use std::time::Duration;

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::http::Connection;
use crate::running::{Running, until};

fn impatient() -> ServerOptions {
    ServerOptions {
        step_timeout: Some(Duration::from_secs(1)),
        stuck_after: Duration::from_millis(1500),
        ..ServerOptions::default()
    }
}

#[test]
fn a_panic_costs_one_environment() {
    for isolate in [false, true] {
        let server = Running::serving(
            "faults",
            ServerOptions {
                isolate,
                ..impatient()
            },
        );
        let mut connection = server.connect();
        let [crashing, other] = [0, 1].map(|_| connection.start(&json!({})));
        for id in [&crashing, &other] {
            assert_eq!(connection.reset(id).status, 200);
        }
        let crash = connection.call(&crashing, "crash", json!({}));
        assert_eq!(crash.status, 500);
        assert!(
            crash.detail().contains("panicked") && crash.detail().contains("crash"),
            "{crash:?}"
        );
        // The error is reported again, and the environment can be closed.
        assert_eq!(connection.reset(&crashing).status, 500);
        assert_eq!(connection.call(&other, "markup", json!({})).status, 200);
        assert_eq!(connection.close(&crashing).status, 200);
        assert_eq!(connection.close(&other).status, 200);
        until("its place is free", || server.places() == 0);
    }
}

#[test]
fn a_panic_while_starting_is_reported() {
    for isolate in [false, true] {
        let server = Running::scripted(ServerOptions {
            isolate,
            ..impatient()
        });
        let mut connection = server.connect();
        let reply = connection.post("/start", &json!({"task_kwargs": {"panic": true}}));
        assert_eq!(reply.status, 500);
        assert!(reply.detail().contains("made to panic"), "{reply:?}");
        assert_eq!(server.places(), 0);
        connection.start(&json!({}));
    }
}

#[test]
fn a_step_that_takes_too_long_costs_one_environment() {
    for isolate in [false, true] {
        let server = Running::scripted(ServerOptions {
            isolate,
            ..impatient()
        });
        let mut connection = server.connect();
        let [slow, other] = [0, 1].map(|_| connection.start(&json!({})));
        let late = connection.order(&slow, "hold");
        assert_eq!(late.status, 500);
        assert!(late.detail().contains("1 seconds"), "{late:?}");
        assert_eq!(connection.order(&other, "go").status, 200);
        assert_eq!(connection.order(&slow, "go").status, 500);
        assert_eq!(connection.close(&slow).status, 200);
    }
}

#[test]
fn isolated_code_that_hangs_blocks_only_itself_and_counts_against_the_limit() {
    let server = Running::scripted(ServerOptions {
        isolate: true,
        ..impatient()
    });
    let mut connection = server.connect();
    let [hanging, other] = [0, 1].map(|_| connection.start(&json!({})));
    let hang = connection.order(&hanging, "hang");
    assert_eq!(hang.status, 500);
    for connection in [
        &mut connection,
        &mut server.connect(),
        &mut server.connect(),
    ] {
        assert_eq!(connection.order(&other, "go").status, 200);
        assert_eq!(connection.get("/healthz").body, "ok");
    }
    assert_eq!(connection.close(&hanging).status, 200);
    assert_eq!(connection.close(&other).status, 200);
    assert_eq!(server.places(), 1, "the thread is still there");
    server.script.end_hang();
    until("the thread ended", || server.places() == 0);
}

/// Starts environments until two are on the first one's worker and one on the other worker, which
/// is returned last.
fn two_and_one(connection: &mut Connection) -> [String; 3] {
    // Workers are selected round-robin, and the last byte of an id encodes the worker.
    let [first, other, second] = [0; 3].map(|_| connection.start(&json!({})));
    let worker = |id: &String| id[34..].to_owned();
    assert_eq!(worker(&first), worker(&second));
    assert_ne!(worker(&first), worker(&other));
    [first, second, other]
}

#[test]
fn a_stuck_worker_is_avoided_until_it_is_back() {
    let server = Running::scripted(impatient());
    let (mut hanging, mut connection) = (server.connect(), server.connect());
    let [stuck, beside, other] = two_and_one(&mut connection);
    hanging.send_order(&stuck, "hang");
    until("the worker counts as stuck", || {
        connection.get("/healthz").status == 503
    });
    // The worker's environments are refused on every connection; all others work.
    let refused = connection.order(&beside, "go");
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(connection.order(&other, "go").status, 200);
    for _ in 0..4 {
        let mut connection = server.connect();
        assert_eq!(connection.get("/info").status, 200);
        let id = connection.start(&json!({}));
        assert_eq!(id[34..], other[34..], "on the worker that is not stuck");
    }
    let metrics = connection.get("/metrics").body;
    assert!(metrics.contains("volary_workers_stuck 1"), "{metrics}");
    assert_eq!(hanging.receive().unwrap().status, 503);
    server.script.end_hang();
    until("the worker is back", || {
        connection.get("/healthz").status == 200
    });
    assert_eq!(connection.order(&beside, "go").status, 200);
    assert_eq!(server.places(), 7);
}

#[test]
fn requests_that_wait_for_a_worker_are_refused_when_it_is_stuck() {
    let server = Running::scripted(impatient());
    let (mut hanging, mut connection) = (server.connect(), server.connect());
    let [stuck, beside, _] = two_and_one(&mut connection);
    hanging.send_order(&stuck, "hang");
    server.wait_for_operations(1);
    // The next two environments start on the other worker and on this one.
    connection.start(&json!({}));
    let mut starting = server.connect();
    let headers = [("Content-Type", "application/json")];
    starting.send("POST", "/start", &headers, b"{}");
    assert_eq!(connection.order(&beside, "go").status, 503);
    assert_eq!(starting.receive().unwrap().status, 503);
    // The worker recovers, but drops the environment whose id nobody received.
    server.script.end_hang();
    until("the worker is back", || {
        connection.get("/healthz").status == 200
    });
    assert_eq!(connection.order(&beside, "go").status, 200);
    assert_eq!(server.places(), 4);
}
