//! Exchanges of client and server without errors.

use volary_core::json;
use volary_core::{AnyMessage, Environment, Frame, Message};
use volary_remote::Frames;
use volary_remote::Method;
use volary_remote::request::Start;

use crate::scripted::*;

fn action() -> AnyMessage {
    Message::user("go").into()
}

#[test]
fn an_episode_behind_the_trait_of_local_environments() {
    let (transport, dataset) = connected(|options| options.api_key = Some("k".into()));
    let mut environment = dataset.environment_at(-1);
    transport.says([ok(STARTED), ok(RESET), ok(FRAME)]);
    let reset = now(environment.reset()).unwrap();
    assert_eq!(reset.messages.len(), 1);
    assert_eq!(
        environment.export_frame(),
        Frame::new(json!({"n": 1}), json!(null))
    );
    let asked = transport.asked();
    assert_eq!(body(&asked[0]), json!({"task_idx": (-1)}));
    assert!(
        asked
            .iter()
            .all(|request| request.api_key.as_deref() == Some("k"))
    );
    assert!(asked.iter().all(|request| request.method == Method::Post));
    transport.says([ok(STEP), ok(FRAME)]);
    let step = now(environment.step(action())).unwrap();
    assert_eq!((step.reward, step.done), (0.5, false));
    assert_eq!(
        body(&transport.asked()[0]).get("env_id"),
        Some(&json!("e1"))
    );
    transport.says([ok(STARTED)]);
    now(environment.close()).unwrap();
    assert_eq!(transport.paths(), ["/close"]);
}

#[test]
fn tasks_by_arguments_and_by_the_datasets_choice() {
    let (transport, dataset) = connected(|_| {});
    let arguments = json!({"problem": "1 + 1"}).as_object().cloned().unwrap();
    for (start, expected) in [
        (Start::Any, json!({"task_idx": null})),
        (
            Start::Arguments(arguments),
            json!({"task_kwargs": {"problem": "1 + 1"}}),
        ),
    ] {
        transport.says([ok(STARTED), ok(RESET)]);
        now(dataset.environment(start).try_reset()).unwrap();
        assert_eq!(body(&transport.asked()[0]), expected);
    }
}

#[test]
fn a_server_without_frames_is_asked_once() {
    for lacking in [answer(404, r#"{"detail": "Not Found"}"#), answer(405, "")] {
        let (transport, mut environment) = playing(|_| {});
        transport.says([ok(STEP), lacking, ok(STEP)]);
        now(environment.step(action())).unwrap();
        assert_eq!(environment.frames(), Frames::NotShown);
        now(environment.step(action())).unwrap();
        assert_eq!(transport.paths(), ["/step", "/frame", "/step"]);
        assert_eq!(environment.export_frame(), Frame::default());
    }
}

#[test]
fn a_frame_that_does_not_come_is_not_the_former_one() {
    let (transport, mut environment) = playing(|_| {});
    transport.says([
        ok(STEP),
        ok(FRAME),
        ok(STEP),
        unreachable(),
        ok(STEP),
        ok(FRAME),
    ]);
    for shown in [true, false, true] {
        now(environment.step(action())).unwrap();
        assert_eq!(environment.export_frame() != Frame::default(), shown);
    }
    // A missing environment does not mean that frames are not supported.
    transport.says([answer(404, r#"{"detail": "Environment e1 not found"}"#)]);
    assert!(now(environment.fetch_frame()).is_err());
    assert_eq!(environment.frames(), Frames::Shown);
}

#[test]
fn a_reset_closes_what_it_replaces_if_asked_to() {
    let (transport, mut environment) = playing(|options| options.close_replaced = true);
    // An environment that is already gone does not stop the reset.
    transport.says([answer(404, "{}"), ok(r#"{"env_id": "e2"}"#), ok(RESET)]);
    now(environment.try_reset()).unwrap();
    assert_eq!(transport.paths(), ["/close", "/start", "/reset"]);
    assert_eq!(environment.env_id().map(|id| &**id), Some("e2"));
}

#[test]
fn old_environments_are_listed_and_closed() {
    let (transport, dataset) = connected(|_| {});
    transport.says([ok(INFO), ok(r#"{"closed_env_ids": ["a"]}"#)]);
    assert_eq!(now(dataset.info()).unwrap().running_env_ids, ["a".into()]);
    assert_eq!(now(dataset.close_old(60.0)).unwrap(), ["a".into()]);
    assert_eq!(body(&transport.asked()[1]), json!({"last_used": 60.0}));
}

#[test]
fn keys_do_not_show() {
    let (transport, environment) = playing(|options| options.api_key = Some("s3cret".into()));
    drop(environment);
    let mut options = volary_remote::ClientOptions::new("http://server");
    options.api_key = Some("s3cret".into());
    assert!(!format!("{options:?} {:?}", transport.asked()).contains("s3cret"));
}
