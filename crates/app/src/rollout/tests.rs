//! Rollouts: prompts, replies and recorded tokens.

use proptest::prelude::*;
use volary_core::{json, object};

use super::*;

fn setup() -> RolloutSetup {
    RolloutSetup {
        template: "qwen2.5".into(),
        mask: "fixed".into(),
        tokenizer: None,
        send_tokens: false,
        temperature: Some(0.5),
        max_tokens: None,
    }
}

fn reply(text: &str) -> Json {
    json!({"text": text, "meta_info": {"finish_reason": {"type": "stop"}}})
}

fn conversation(replies: &[&str]) -> Object {
    let turns = replies
        .iter()
        .map(|text| json!({"reply": (reply(text)), "observation": "x", "reward": 0.0}));
    object!({
        "system": "SYS",
        "opening": "hi",
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "has_respond": true,
        "turns": (Json::List(turns.collect()))
    })
}

fn ask(rollouts: &mut Rollouts, setup: RolloutSetup, replies: &[&str], task: RolloutTask) -> Event {
    rollouts.handle(Request {
        setup,
        conversation: conversation(replies),
        task,
    })
}

fn tokens(event: &Event) -> usize {
    let Event::Recorded { members } = event else {
        panic!("{event:?}");
    };
    let length = |key: &str| members.get(key).and_then(Json::as_list).unwrap().len();
    assert!(length("tokens") > length("loss_mask"));
    length("tokens")
}

const CALL: &str =
    "Yes.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>";

#[test]
fn a_turn_is_asked_for_read_and_recorded() {
    let mut rollouts = Rollouts::default();
    let Event::Body { body } = ask(&mut rollouts, setup(), &[], RolloutTask::Next) else {
        panic!("no body");
    };
    let text = body.get("text").and_then(Json::as_text).unwrap();
    assert!(text.starts_with("<|im_start|>system\nSYS") && text.ends_with("assistant\n"));
    let temperature = body.get("sampling_params").unwrap().get("temperature");
    assert_eq!(temperature, Some(&0.5.into()));

    let task = RolloutTask::Read {
        reply: reply(CALL).as_object().unwrap().clone(),
    };
    let call = RolloutCall {
        name: "f".into(),
        arguments: "{\"a\": 1}".into(),
    };
    assert_eq!(
        ask(&mut rollouts, setup(), &[], task),
        Event::Said {
            text: "Yes.".into(),
            call: Some(call)
        }
    );
    let task = |text: &str| RolloutTask::Read {
        reply: reply(text).as_object().unwrap().clone(),
    };
    // Without a call, the model answers the user.
    let call = RolloutCall {
        name: "respond".into(),
        arguments: "{\"content\": \"Bye\"}".into(),
    };
    assert_eq!(
        ask(&mut rollouts, setup(), &[], task("Bye<|im_end|>")),
        Event::Said {
            text: "".into(),
            call: Some(call)
        }
    );
    let nothing = ask(&mut rollouts, setup(), &[], task("<|im_end|>"));
    assert!(matches!(nothing, Event::Failed { reason } if reason.contains("empty reply")));
    let record = || RolloutTask::Record { is_over: false };
    let first = tokens(&ask(&mut rollouts, setup(), &[CALL], record()));
    let both = tokens(&ask(&mut rollouts, setup(), &[CALL, "Bye"], record()));
    assert!(both > first);
    // Neither the worker's cache nor going back changes the result.
    assert_eq!(
        tokens(&ask(&mut rollouts, setup(), &[CALL], record())),
        first
    );
    let fresh = &mut Rollouts::default();
    assert_eq!(tokens(&ask(fresh, setup(), &[CALL, "Bye"], record())), both);
    let ended = RolloutTask::Record { is_over: true };
    assert_eq!(tokens(&ask(fresh, setup(), &[CALL, "Bye"], ended)), both);
}

#[test]
fn in_token_in_the_end_of_an_episode_begins_no_turn() {
    let mut rollouts = Rollouts::default();
    let setup = RolloutSetup {
        mask: "token_in".into(),
        ..setup()
    };
    let open = RolloutTask::Record { is_over: false };
    let open = tokens(&ask(&mut rollouts, setup.clone(), &["Bye"], open));
    let ended = RolloutTask::Record { is_over: true };
    let ended = tokens(&ask(&mut rollouts, setup, &["Bye"], ended));
    assert_eq!(open - ended, "\u{100}assistant\n".chars().count());
}

#[test]
fn what_is_wrong_is_said() {
    let mut rollouts = Rollouts::default();
    let mut fails =
        |setup: RolloutSetup, task: RolloutTask| match ask(&mut rollouts, setup, &[], task) {
            Event::Failed { reason } => reason.to_string(),
            other => panic!("{other:?}"),
        };
    let with_template = |template: &str| RolloutSetup {
        template: template.into(),
        ..setup()
    };
    let broken = fails(with_template("{% if %}"), RolloutTask::Next);
    assert!(
        broken.contains("The chat template can't be used"),
        "{broken}"
    );
    let bare = fails(
        with_template("{{ messages[-1].content }}"),
        RolloutTask::Next,
    );
    assert!(bare.contains("the sentence about tools"), "{bare}");
    let missing = RolloutSetup {
        tokenizer: Some("tokenizer.json 1".into()),
        ..setup()
    };
    assert!(fails(missing.clone(), RolloutTask::Next).contains("missing"));
    assert!(Rollouts::default().lacks_tokenizer(&missing));
    let damaged = Rollouts::default().read_tokenizer(&missing, b"{}");
    assert!(damaged.is_err());
    let reply = reply("<tool_call>\n5\n</tool_call>");
    let reply = reply.as_object().unwrap().clone();
    assert!(!fails(setup(), RolloutTask::Read { reply }).is_empty());
}

#[test]
fn messages_of_no_episode_are_rendered_as_they_are() {
    let event = Rollouts::default().handle(Request {
        setup: setup(),
        conversation: object!({"messages": [{"role": "user", "content": "Say OK."}]}),
        task: RolloutTask::Render,
    });
    let Event::Body { body } = event else {
        panic!("{event:?}");
    };
    let text = body.get("text").and_then(Json::as_text).unwrap();
    assert!(
        text.contains("<|im_start|>user\nSay OK.<|im_end|>"),
        "{text}"
    );
}

#[test]
fn a_tokenizer_is_read_once_and_named_by_its_file() {
    let with_file = |name: &str| RolloutSetup {
        tokenizer: Some(name.into()),
        ..setup()
    };
    let mut rollouts = Rollouts::default();
    assert!(!rollouts.lacks_tokenizer(&setup()));
    assert!(rollouts.lacks_tokenizer(&with_file("a")));
    // Without a file it fails, and does not fall back to other tokens.
    let next = ask(&mut rollouts, with_file("a"), &[], RolloutTask::Next);
    let Event::Failed { reason } = next else {
        panic!("{next:?}");
    };
    assert_eq!(&*reason, "The tokenizer's file is missing.");

    let damaged = rollouts.read_tokenizer(&with_file("a"), b"{}");
    assert!(damaged.is_err());
    assert!(rollouts.lacks_tokenizer(&with_file("a")));
    assert_eq!(rollouts.read_tokenizer(&setup(), b"not read"), Ok(()));
}

#[test]
fn a_reply_without_words_or_calls_is_refused() {
    for text in ["", "  \n"] {
        let reply = reply(text).as_object().unwrap().clone();
        let read = RolloutTask::Read { reply };
        let said = ask(&mut Rollouts::default(), setup(), &[], read);
        let Event::Failed { reason } = said else {
            panic!("{said:?}");
        };
        assert_eq!(&*reason, "The model returned an empty reply");
    }
}

proptest! {
    /// What a worker was asked before changes no answer: episodes take turns, go back, and change their settings.
    #[test]
    fn an_answer_depends_only_on_its_request(
        asked in prop::collection::vec((0..3_usize, 0..4_usize, 0..3_usize, any::<bool>()), 1..12),
    ) {
        let mut rollouts = Rollouts::default();
        for (text, turns, task, send_tokens) in asked {
            let replies = vec![["Yes.", "No, wait.", CALL][text]; turns];
            let setup = RolloutSetup {
                send_tokens,
                ..setup()
            };
            let task = || match task {
                0 => RolloutTask::Next,
                1 => RolloutTask::Record { is_over: false },
                _ => RolloutTask::Record { is_over: true },
            };
            let answer = ask(&mut rollouts, setup.clone(), &replies, task());
            let fresh = ask(&mut Rollouts::default(), setup, &replies, task());
            prop_assert_eq!(answer, fresh);
        }
    }
}
