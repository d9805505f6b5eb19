//! Tests of diagnostics: each kind, and what is none of it.

use volary_core::message::Body;
use volary_core::tool::ToolCall;
use volary_core::{Message, ToolRequestMessage, ToolResponseMessage, object};
use volary_episode::episode::{Outcome, StepRecord};

use super::*;

/// A step: what is said, the call with its argument, and what is answered; without a call the user answers.
fn step(said: &str, call: Option<(&str, &str)>, answer: &str) -> StepRecord {
    let calls = call.map(|(tool, id)| ToolCall::new("c", tool, object!({"id": (id)})));
    let answer: AnyMessage = match call {
        Some((tool, _)) => ToolResponseMessage {
            body: Body::text(answer),
            name: tool.into(),
            tool_call_id: "c".into(),
        }
        .into(),
        None => Message::user(answer).into(),
    };
    let action = ToolRequestMessage {
        body: Body::text(said),
        tool_calls: calls.into_iter().collect(),
    };
    let outcome = Outcome::Observed {
        messages: vec![answer],
        reward: 0.0,
        done: false,
        truncated: false,
    };
    StepRecord::new(action.into(), outcome)
}

fn found(steps: Vec<StepRecord>) -> Vec<(DiagnosticKind, usize)> {
    let episode = Episode {
        steps,
        ..Episode::default()
    };
    let found = diagnostics(&episode);
    found
        .iter()
        .map(|diagnostic| (diagnostic.kind, diagnostic.step))
        .collect()
}

#[test]
fn a_call_is_repeated_unless_something_changed() {
    assert_eq!(
        found(vec![
            step("", Some(("get_order", "o1")), "{}"),
            step("", Some(("get_order", "o1")), "{}"),
            step("", Some(("update_order", "o1")), "ok"),
            step("", Some(("get_order", "o1")), "{}"),
        ]),
        [(DiagnosticKind::RepeatedCall, 2)]
    );
}

#[test]
fn a_change_needs_a_reading_of_the_same_thing() {
    assert_eq!(
        found(vec![
            step("", Some(("get_order", "order-1")), "order of ada"),
            step("", Some(("cancel_order", "order-1")), "ok"),
            step("", Some(("cancel_order", "order-2")), "ok"),
            step("", Some(("list_orders", "u1")), "order-3"),
            step("", Some(("cancel_order", "order-3")), "ok"),
        ]),
        [(DiagnosticKind::BlindWrite, 3)]
    );
}

#[test]
fn a_claim_needs_a_call() {
    assert_eq!(
        found(vec![
            step("I have cancelled your order.", None, "Really?"),
            step("Once I have cancelled it, you get a mail.", None, "Do it."),
            step("", Some(("cancel_order", "o1")), "ok"),
            step("I have successfully cancelled it.", None, "And the other?"),
            step("I've updated the other one.", None, "Thanks."),
            step(
                "It is cancelled, as I have already cancelled it.",
                None,
                "Bye."
            ),
        ]),
        [
            (DiagnosticKind::UnfoundedClaim, 1),
            (DiagnosticKind::UnfoundedClaim, 5)
        ]
    );
}

#[test]
fn errors_want_a_reaction() {
    assert_eq!(
        found(vec![
            step("", Some(("send_mail", "m1")), "Error: no address"),
            step("", Some(("send_mail", "m1")), "Error: no address"),
            step("I am sorry, it failed.", None, "Try m2."),
            step("", Some(("send_mail", "m2")), "Error: quota"),
            step("All done. Have a nice day!", None, "Bye."),
        ]),
        [
            (DiagnosticKind::RepeatedCall, 2),
            (DiagnosticKind::IgnoredError, 2),
            (DiagnosticKind::IgnoredError, 5),
        ]
    );
}

#[test]
fn garbled_texts_are_found_and_tables_are_none() {
    for (text, is_garbled) in [
        ("Fine — “quoted” é 日本 🙂", false),
        (
            "| a | b |\n|-----------------------------------------------------------------------------------------------------|---|",
            false,
        ),
        ("ok <|im_end|>", true),
        ("caf\u{fffd}", true),
        ("donâ€™t", true),
        (&"I will go. ".repeat(30), true),
        (&"ha ".repeat(15), false),
        // Within other text, with a long unit.
        (
            &format!(
                "First. {}",
                "Let me look at the file again, and then once more. ".repeat(20)
            ),
            true,
        ),
        (&format!("{}{}", "-".repeat(900), "no no no "), false),
        (&format!("{}{}", "-".repeat(901), "no ".repeat(60)), true),
    ] {
        let found = found(vec![step(text, None, "x")]);
        let has = found.contains(&(DiagnosticKind::GarbledText, 1));
        assert_eq!(has, is_garbled, "{text}");
    }
}

#[test]
fn endless_repetition_is_found_wherever_the_samples_are() {
    for before in 0..90 {
        for unit in ["ab", "no, ", "I will look again. "] {
            let text = format!(
                "{}{}",
                "0123456789".repeat(9).split_at(before).0,
                unit.repeat(60)
            );
            let found = found(vec![step(&text, None, "x")]);
            assert!(found.contains(&(DiagnosticKind::GarbledText, 1)), "{text}");
        }
    }
}

#[test]
fn names_of_kinds_come_back() {
    for kind in DiagnosticKind::ALL {
        assert_eq!(DiagnosticKind::read(kind.name()), Some(kind));
        let mut counts = DiagnosticCounts::default();
        counts.set(kind, 3);
        assert_eq!(counts.of_kind(kind), 3);
    }
    assert_eq!(DiagnosticKind::IgnoredError.heading(), "Ignored errors");
}

#[test]
fn extra_steps_are_those_beyond_the_shortest_success() {
    let row = |task, steps, succeeded| TaskSteps {
        task,
        steps,
        succeeded,
    };
    let rows = [
        row(Some("a"), 9, Some(true)),
        row(Some("a"), 5, Some(true)),
        row(Some("a"), 3, Some(false)),
        row(Some("b"), 7, Some(false)),
        row(None, 7, Some(true)),
    ];
    assert_eq!(extra_steps(&rows), [Some(4), Some(0), Some(0), None, None]);
}
