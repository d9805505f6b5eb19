//! Tests of the test: obstacles, late results, and what follows from a failure.

use volary_agent::model::connection::PRESETS;

use super::*;

fn with_key() -> Connection {
    let preset = PRESETS.iter().find(|preset| preset.key_url.is_some());
    let preset = preset.expect("some provider requires a key");
    Connection {
        model: "m".into(),
        ..Connection::of(preset)
    }
}

fn start(connection: Connection, has_key: bool) -> Event {
    Event::Start {
        connection,
        has_key,
    }
}

fn works(test: TestNumber) -> Event {
    Event::Ended {
        test,
        ended: TestEnd::Answered(vec!["It works.".to_owned()]),
    }
}

fn fails(test: TestNumber, problem: ModelProblem) -> Event {
    let found = Diagnosis {
        problem,
        what: "It failed.".to_owned(),
        why: "No.".to_owned(),
        remedy: "Try.".to_owned(),
    };
    Event::Ended {
        test,
        ended: TestEnd::Failed(Box::new(found)),
    }
}

fn failure(test: &ConnectionTest) -> &Notice {
    match test.outcome() {
        TestOutcome::Failed(notice) => notice,
        other => panic!("it did not fail: {other:?}"),
    }
}

#[test]
fn a_model_that_answers_works() {
    let mut test = ConnectionTest::default();
    assert_eq!(test.update(start(with_key(), true)), [Effect::Ask(1)]);
    assert!(test.is_running());
    assert_eq!(test.update(works(1)), []);
    assert_eq!(
        test.outcome(),
        &TestOutcome::Works(vec!["It works.".to_owned()])
    );
}

#[test]
fn nothing_is_sent_without_a_required_key() {
    let mut test = ConnectionTest::default();
    assert_eq!(test.update(start(with_key(), false)), []);
    assert_eq!(failure(&test).what, "The API key is missing.");
    assert!(!test.is_running());
}

#[test]
fn a_server_of_the_user_needs_no_key() {
    let own = Connection {
        base_url: "http://127.0.0.1:8000".into(),
        ..with_key()
    };
    let mut test = ConnectionTest::default();
    assert_eq!(test.update(start(own, false)), [Effect::Ask(1)]);
}

#[test]
fn nothing_is_sent_for_an_incomplete_form() {
    let mut test = ConnectionTest::default();
    let incomplete = Connection {
        model: " ".into(),
        ..with_key()
    };
    let error = incomplete.check().expect_err("it has no model").to_string();
    assert_eq!(test.update(start(incomplete, true)), []);
    assert_eq!(failure(&test).advice, error);
}

#[test]
fn a_failure_is_shown_and_a_wrong_model_lists_the_right_ones() {
    let mut test = ConnectionTest::default();
    test.update(start(with_key(), true));
    assert_eq!(test.update(fails(1, ModelProblem::WrongKey)), []);
    assert_eq!(failure(&test), &Notice::new("It failed.", "No.", "Try."));

    test.update(start(with_key(), true));
    let effects = test.update(fails(2, ModelProblem::WrongModel));
    assert_eq!(effects, [Effect::ListModels]);
}

#[test]
fn an_edit_cancels_the_test_and_its_late_result_is_dropped() {
    let mut test = ConnectionTest::default();
    test.update(start(with_key(), true));
    assert_eq!(test.update(Event::Forget), [Effect::Cancel]);
    assert_eq!(test.update(works(1)), []);
    assert_eq!(test.outcome(), &TestOutcome::NotYet);
    assert_eq!(test.update(fails(1, ModelProblem::WrongModel)), []);
    assert_eq!(test.outcome(), &TestOutcome::NotYet);
    assert_eq!(test.update(Event::Forget), [], "nothing runs");
}

#[test]
fn a_second_test_replaces_the_first() {
    let mut test = ConnectionTest::default();
    test.update(start(with_key(), true));
    let effects = test.update(start(with_key(), true));
    assert_eq!(effects, [Effect::Cancel, Effect::Ask(2)]);
    assert_eq!(test.update(fails(1, ModelProblem::WrongModel)), []);
    assert!(test.is_running());
    test.update(works(2));
    assert!(matches!(test.outcome(), TestOutcome::Works(_)));
}

#[test]
fn an_edit_removes_the_old_result() {
    let mut test = ConnectionTest::default();
    test.update(start(with_key(), false));
    assert_eq!(test.update(Event::Forget), []);
    assert_eq!(test.outcome(), &TestOutcome::NotYet);
}
