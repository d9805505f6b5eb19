//! An environment that panics, takes too long or hangs harms no other.

use std::thread;
use std::time::{Duration, Instant};

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::running::Running;

fn impatient() -> ServerOptions {
    ServerOptions {
        step_timeout: Some(Duration::from_millis(400)),
        stuck_after: Duration::from_millis(800),
        ..ServerOptions::default()
    }
}

/// Waits until something holds, for some seconds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "never: {what}");
        thread::sleep(Duration::from_millis(20));
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
        // It says so again, and can be closed.
        assert_eq!(connection.reset(&crashing).status, 500);
        assert_eq!(connection.call(&other, "markup", json!({})).status, 200);
        assert_eq!(connection.close(&crashing).status, 200);
        assert_eq!(connection.close(&other).status, 200);
        until("its place is free", || server.places() == 0);
    }
}

#[test]
fn a_panic_while_starting_is_said() {
    for isolate in [false, true] {
        let server = Running::odd(ServerOptions {
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
        let server = Running::odd(ServerOptions {
            isolate,
            ..impatient()
        });
        let mut connection = server.connect();
        let [slow, other] = [0, 1].map(|_| connection.start(&json!({})));
        let late = connection.order(&slow, "wait 30");
        assert_eq!(late.status, 500);
        assert!(late.detail().contains("0.4 seconds"), "{late:?}");
        assert_eq!(connection.order(&other, "go").status, 200);
        assert_eq!(connection.order(&slow, "go").status, 500);
        assert_eq!(connection.close(&slow).status, 200);
    }
}

#[test]
fn isolated_code_that_hangs_keeps_only_itself_and_its_place() {
    let server = Running::odd(ServerOptions {
        isolate: true,
        ..impatient()
    });
    let mut connection = server.connect();
    let [hanging, other] = [0, 1].map(|_| connection.start(&json!({})));
    let begin = Instant::now();
    let hang = connection.order(&hanging, "hang 3");
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
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!(server.places(), 1, "the thread is still there");
    until("the thread ended", || server.places() == 0);
}

#[test]
fn a_worker_that_hangs_is_passed_over_until_it_is_back() {
    let server = Running::odd(impatient());
    let (mut hanging, mut other) = (server.connect(), server.connect());
    let stuck = hanging.start(&json!({}));
    let fine = other.start(&json!({}));
    let step = thread::spawn(move || hanging.order(&stuck, "hang 4").status);
    until("the worker counts as stuck", || {
        other.get("/healthz").status == 503
    });
    assert_eq!(other.order(&fine, "go").status, 200);
    // What needs the worker is refused, what does not is served; newcomers don't come to it.
    for _ in 0..4 {
        let mut newcomer = server.connect();
        assert_eq!(newcomer.get("/info").status, 200);
        newcomer.start(&json!({}));
    }
    assert!(
        other
            .get("/metrics")
            .body
            .contains("volary_workers_stuck 1")
    );
    step.join().unwrap();
    until("the worker is back", || other.get("/healthz").status == 200);
    assert_eq!(server.places(), 6);
}

#[test]
fn what_waits_for_a_worker_that_hangs_is_turned_away() {
    let server = Running::odd(impatient());
    let (mut hanging, mut other) = (server.connect(), server.connect());
    let [stuck, beside] = [0, 1].map(|_| hanging.start(&json!({})));
    let step = thread::spawn(move || hanging.order(&stuck, "hang 4").status);
    thread::sleep(Duration::from_millis(200));
    let refused = other.order(&beside, "go");
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    step.join().unwrap();
}
