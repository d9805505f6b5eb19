//! Servers with late, repeated, malformed or missing replies, and servers that recover.

use volary_core::{AnyMessage, Environment, Message};
use volary_remote::{ClientError, TransportError};

use crate::scripted::*;

fn action() -> AnyMessage {
    Message::user("go").into()
}

fn late() -> Said {
    Err(TransportError::Timeout)
}

#[test]
fn a_failed_greeting_is_explained() {
    assert!(matches!(
        greeted_with(late()),
        ClientError::Transport(TransportError::Timeout)
    ));
    assert!(
        greeted_with(unreachable())
            .to_string()
            .contains("connection refused")
    );
    let page = greeted_with(ok("<!doctype html><title>It works!</title>"));
    assert!(
        page.to_string().contains("not be a TaskDatasetServer"),
        "{page}"
    );
    for other in [
        "[]",
        "5",
        "null",
        "{}",
        r#"{"dataset_size": "x"}"#,
        r#"{"dataset_size": -1}"#,
    ] {
        let error = greeted_with(ok(other));
        assert!(matches!(error, ClientError::Reply(_)), "{other}: {error:?}");
    }
    let key = greeted_with(answer(403, r#"{"detail": "Invalid or missing API key"}"#));
    assert!(key.to_string().contains("403") && key.to_string().contains("API key"));
    let long = greeted_with(answer(500, &"\u{e9}".repeat(100_000)));
    assert!(long.to_string().len() < 2000);
}

#[test]
fn steps_are_never_sent_twice() {
    for fault in [
        late(),
        unreachable(),
        answer(502, "Bad Gateway"),
        answer(503, "{}"),
        ok("["),
    ] {
        let (transport, mut environment) = playing(|options| options.retries = 5);
        transport.says([fault.clone()]);
        let error = now(environment.try_step(&action())).unwrap_err();
        assert_eq!(transport.paths(), ["/step"], "{fault:?}");
        let refused = matches!(error, ClientError::Status { status: 503, .. });
        assert_eq!(error.is_uncertain(), !refused, "{error:?}");
    }
}

#[test]
fn a_step_that_may_have_been_taken_is_reported_as_such() {
    let (transport, mut environment) = playing(|_| {});
    transport.says([
        late(),
        answer(404, r#"{"detail": "Environment e1 not found"}"#),
    ]);
    let error = now(environment.step(action())).unwrap_err().to_string();
    assert!(error.contains("unknown"), "{error}");
    let error = now(environment.step(action())).unwrap_err().to_string();
    assert!(
        error.contains("not found") && !error.contains("unknown"),
        "{error}"
    );
}

#[test]
fn idempotent_requests_are_retried_with_backoff() {
    let (transport, mut environment) = playing(|options| options.retries = 3);
    transport.says([
        unreachable(),
        answer(503, "{}"),
        ok(STARTED),
        unreachable(),
        ok(RESET),
    ]);
    now(environment.try_reset()).unwrap();
    assert_eq!(
        transport.paths(),
        ["/start", "/start", "/start", "/reset", "/reset"]
    );
    assert_eq!(transport.pauses(), [0.25, 0.5, 0.25]);
    // The number of retries is limited, and permanent errors are not retried.
    transport.says(std::iter::repeat_n(unreachable(), 4));
    assert!(now(environment.try_close()).is_err());
    assert_eq!(transport.paths(), ["/close"; 4]);
    transport.says([answer(404, "{}")]);
    assert!(now(environment.try_close()).is_err());
    transport.says([late()]);
    assert!(now(environment.try_close()).is_err());
    assert_eq!(transport.paths(), ["/close"; 2]);
}

#[test]
fn a_duplicate_answer_does_not_answer_the_next_request() {
    let (transport, mut environment) = playing(|_| {});
    // A repeated reply to /start, then one to /reset, then one to a step.
    for stale in [STARTED, RESET, FRAME] {
        transport.says([ok(stale)]);
        let error = now(environment.try_step(&action())).unwrap_err();
        assert!(matches!(error, ClientError::Reply(_)), "{error:?}");
    }
    transport.says([ok(STEP)]);
    assert!(now(environment.try_step(&action())).is_ok());
}

#[test]
fn malformed_replies_are_errors_and_the_client_continues() {
    let (transport, mut environment) = playing(|_| {});
    let nonsense = [
        "",
        "<html>",
        "null",
        "[]",
        "[[], 0, false]",
        "[[], \"much\", false, false]",
        "[[], 0, 0, 0]",
        "[{}, 0, false, false]",
        "[[5], 0, false, false]",
        "[[{\"role\": \"bogus\"}], 0, false, false]",
        "[[], 0, false, false, false]",
    ];
    for body in nonsense {
        transport.says([ok(body)]);
        let error = now(environment.try_step(&action())).unwrap_err();
        assert!(
            matches!(error, ClientError::NotJson { .. } | ClientError::Reply(_)),
            "{body}"
        );
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    transport.says([ok(&deep), ok(STEP)]);
    assert!(now(environment.try_step(&action())).is_err());
    assert!(now(environment.try_step(&action())).is_ok());
    transport.says([ok(STARTED), ok("[[], [{\"function\": 5}]]")]);
    assert!(now(environment.try_reset()).is_err());
}

#[test]
fn a_server_that_died_and_came_back_knows_nothing_until_the_reset() {
    let (transport, mut environment) = playing(|_| {});
    let gone = || answer(404, r#"{"detail": "Environment e1 not found"}"#);
    transport.says([ok(STEP), unreachable(), gone(), gone()]);
    assert!(now(environment.try_step(&action())).is_ok());
    for _ in 0..2 {
        assert!(now(environment.try_step(&action())).is_err());
    }
    assert!(now(environment.try_close()).is_err());
    transport.says([ok(r#"{"env_id": "e2"}"#), ok(RESET), ok(STEP)]);
    now(environment.try_reset()).unwrap();
    assert!(now(environment.try_step(&action())).is_ok());
    assert_eq!(environment.env_id().map(|id| &**id), Some("e2"));
}

#[test]
fn a_reward_that_is_not_a_number_is_converted() {
    let (transport, mut environment) = playing(|_| {});
    transport.says(
        ["null", "NaN", "true", "1"].map(|reward| ok(&format!("[[], {reward}, true, false]"))),
    );
    let mut rewards = [0.0; 4];
    for reward in &mut rewards {
        *reward = now(environment.try_step(&action())).unwrap().reward;
    }
    assert!(rewards[0].is_nan() && rewards[1].is_nan());
    assert_eq!(rewards[2..], [1.0, 1.0]);
}

#[test]
fn caught_errors_end_the_episode_in_messages() {
    for fault in [late(), answer(500, r#"{"detail": "broken"}"#), ok("<html>")] {
        let (transport, mut environment) = playing(|options| options.catch_http_errors = true);
        transport.says([fault.clone(), ok(STARTED), fault]);
        let step = now(environment.try_step(&action())).unwrap();
        assert!(step.done && step.reward == 0.0 && step.messages.len() == 1);
        let reset = now(environment.try_reset()).unwrap();
        assert!(reset.tools.is_empty() && reset.messages.len() == 1);
    }
}
