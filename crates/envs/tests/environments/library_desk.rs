//! The library desk from a player's perspective.

use volary_core::view::Tone;
use volary_core::{Json, object};
use volary_core::{json, message::Message};
use volary_envs::library_desk::TASKS;

use crate::player::Player;

#[test]
fn the_oracle_solves_every_task() {
    for task in &*TASKS {
        let mut player = Player::new("library_desk", object!({"task": (task.id.clone())}));
        let last = player.solve().unwrap();
        assert!(last.done, "{}", task.id);
        assert_eq!(last.reward, 1.0, "{}", task.id);
        assert_eq!(player.verdicts()[0].0, Tone::Good, "{}", task.id);
    }
}

#[test]
fn a_message_without_calls_is_for_the_customer() {
    let mut player = Player::new("library_desk", object!({}));
    let opening: Vec<String> = player.messages.iter().map(crate::player::content).collect();
    assert!(opening[0].contains("public library"));
    assert!(opening[1].starts_with("Hello, I am "));
    let mut request = crate::player::request(&[]);
    request.body.content = Some("Shall I do that?".into());
    let said = player.act(request.into()).unwrap();
    assert_eq!(said.contents, ["Yes, please go ahead."]);
    let ended = player
        .step(&[("1", "respond", json!({"content": "Done."}))])
        .unwrap();
    assert_eq!(
        (ended.contents[0].as_str(), ended.done, ended.reward),
        ("###STOP###", true, 0.0)
    );
}

#[test]
fn the_instruction_is_hidden_until_the_end() {
    let mut player = Player::new("library_desk", object!({}));
    let _ = player.act(Message::user("x").into());
    assert_eq!(player.frame().info, Json::Null);
    let mut say = || {
        player
            .step(&[("1", "respond", json!({"content": "x"}))])
            .unwrap()
    };
    say();
    assert!(say().done);
    let info = player.frame().info;
    for key in [
        "instruction",
        "gold_actions",
        "differences",
        "outputs",
        "data_is_right",
    ] {
        assert!(info.get(key).is_some(), "{key}");
    }
    assert_eq!(info.get("data_is_right"), Some(&json!(false)));
}

#[test]
fn errors_are_replies_in_python_s_words() {
    let mut player = Player::new("library_desk", object!({}));
    let replies = player
        .step(&[
            ("1", "renew_loan", json!({"member_id": "M101"})),
            ("2", "pay_fees", json!({"member_id": ["M101"], "amount": 1})),
            ("3", "pay_fees", json!({"member_id": "M102", "amount": "1"})),
        ])
        .unwrap();
    assert_eq!(
        replies.contents,
        [
            "Error: RenewLoan.invoke() missing 1 required positional argument: 'book_id'",
            "Error: unhashable type: 'list'",
            "Error: '<' not supported between instances of 'int' and 'str'",
        ]
    );
}

#[test]
fn a_recorded_conversation_needs_no_customer() {
    let configuration = object!({"customer": "llm", "replies": ["Hi.", "Bye. ###STOP###"]});
    let mut player = Player::new("library_desk", configuration);
    let said = player
        .step(&[("1", "respond", json!({"content": "Hello."}))])
        .unwrap();
    assert_eq!(
        (said.contents[0].as_str(), said.done),
        ("Bye. ###STOP###", true)
    );
    let recorded = player.environment.recorded();
    assert_eq!(recorded, object!({"replies": ["Hi.", "Bye. ###STOP###"]}));
    // After the recorded replies the customer would be asked, and there is none.
    let error = player.step(&[("2", "respond", json!({"content": "Hello?"}))]);
    let error = error.map(|step| step.contents).unwrap_err();
    assert_eq!(
        error,
        "The customer failed: There is no model here to be the customer."
    );
}
