//! What is said comes back as it was.

use volary_core::AnyMessage;
use volary_core::Frame;
use volary_core::message::{Message, ToolRequestMessage};
use volary_trace::Outcome;
use volary_trace::frames::FrameHistory;

use super::*;

fn action() -> AnyMessage {
    ToolRequestMessage::default().into()
}

#[test]
fn events_come_back() {
    let mut frames = FrameHistory::default();
    frames.push(Frame::new("x", Json::Null));
    let head = Episode {
        id: "e".into(),
        start: vec![Message::user("</script>\u{2028}").into()],
        frames,
        ..Episode::default()
    };
    let step = StepRecord {
        action: action(),
        outcome: Outcome::Observed {
            messages: vec![],
            reward: -0.5,
            done: true,
            truncated: false,
        },
        seconds: None,
        details: Default::default(),
        extras: Default::default(),
    };
    let patch = FramePatch::between(&Frame::default(), &Frame::new(1, 2));
    for event in [
        Event::Begun {
            token: 1,
            url: "http://a".into(),
            env_id: "e".into(),
        },
        Event::Opened { token: 1, head },
        Event::Stepped {
            token: 1,
            steps: vec![step],
            patches: vec![patch],
        },
        Event::Finished {
            token: 1,
            notes: vec!["so".into()],
        },
        Event::Refused {
            token: 1,
            reason: "no".into(),
            key: Some("answer".into()),
        },
        Event::Lost {
            token: 1,
            reason: "away".into(),
        },
        Event::Gone { token: 1 },
        Event::Panicked {
            message: "oh".into(),
        },
    ] {
        assert_eq!(Event::read(&event.to_text()), Ok(event));
    }
}

#[test]
fn foreign_words_are_refused() {
    for text in [
        "",
        "{",
        "[]",
        "{\"say\": \"open\"}",
        "{\"say\": \"what\", \"token\": 1}",
        "{\"say\": \"step\", \"token\": -1}",
    ] {
        assert!(Event::read(text).is_err(), "{text}");
    }
}
