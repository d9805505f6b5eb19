//! Hand-ins as files, for the board and for Review.

use proptest::prelude::*;
use volary_core::{Message, Role};
use volary_episode::native;
use volary_episode::{Ending, Outcome, StepRecord};

use super::*;
use crate::assignment::{AssignedTask, TaskStart};
use crate::board::TaskState;

fn assignment(tasks: usize) -> Assignment {
    let task = |number| AssignedTask {
        title: Name::new(&format!("Task {number}")),
        start: TaskStart::Named {
            environment: "dummy".into(),
            task: None,
            seed: 0,
        },
    };
    Assignment {
        id: "a1".into(),
        title: "Sums".into(),
        tasks: (1..=tasks).map(task).collect(),
        ..Assignment::default()
    }
}

fn episode(rewards: &[f64], ending: Ending) -> Episode {
    let step = |reward: &f64| {
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward: *reward,
            done: false,
            truncated: false,
        };
        StepRecord::new(Message::new(Role::Assistant, "Go on.").into(), outcome)
    };
    Episode {
        id: "e".into(),
        steps: rewards.iter().map(step).collect(),
        ending,
        ..Episode::default()
    }
}

fn ada() -> HandIn {
    let episodes = [Some(episode(&[0.0, 1.0], Ending::Done)), None];
    HandIn::new(&assignment(2), "Ada".into(), 1_700_000_000.0, episodes).unwrap()
}

#[test]
fn a_file_is_a_hand_in_and_a_list_of_episodes() {
    let text = ada().to_text();
    assert_eq!(HandIn::read(&text), Ok(ada()));
    // Review reads the same file.
    let [read] = &native::read(&text).unwrap().episodes[..] else {
        panic!("one episode");
    };
    assert_eq!(&*read.name, "Ada · Task 1");
    assert_eq!(read.policy.as_deref(), Some("Ada"));
    assert_eq!(read.metadata.get("task"), Some(&Json::from("1 Task 1")));
}

#[test]
fn the_board_shows_what_was_reached() {
    let row = ada().row("h".into(), 5.0, 1);
    let states: Vec<TaskState> = row.tasks.iter().map(|task| task.state).collect();
    assert_eq!(states, [TaskState::Done, TaskState::Untouched]);
    assert_eq!((row.tasks[0].steps, row.tasks[0].reward), (2, Some(1.0)));
    assert_eq!((row.solved(), ada().played()), (1, 1));
    let endless = Standing::of("x".into(), Some(&episode(&[f64::NAN], Ending::Open)));
    assert_eq!((endless.state, endless.reward), (TaskState::Started, None));
}

#[test]
fn a_hand_in_under_another_name_does_not_have_the_old_one() {
    let hidden = ada().under_name(Name::new("Pupil 1"));
    assert!(!hidden.to_text().contains("Ada"), "{}", hidden.to_text());
    let episode = hidden.tasks[0].episode.as_ref().unwrap();
    assert_eq!(&*episode.name, "Pupil 1 · Task 1");
    assert_eq!(episode.policy.as_deref(), Some("Pupil 1"));
    assert_eq!(episode.metadata.get("pupil"), Some(&Json::from("Pupil 1")));
}

#[test]
fn episodes_of_one_hand_in_keep_their_ids() {
    let ids = |hand_in: HandIn| -> Vec<Option<String>> {
        let episodes = hand_in.into_episodes("h7").into_iter();
        episodes
            .map(|episode| episode.map(|episode| episode.id.to_string()))
            .collect()
    };
    assert_eq!(ids(ada()), [Some("class-h7-1".to_owned()), None]);
}

#[test]
fn a_malformed_hand_in_is_rejected() {
    let nameless = HandIn::new(&assignment(1), Name::default(), 0.0, [None]);
    assert_eq!(nameless, Err(HandInError::NoName));
    let text = ada().to_text();
    for (from, to, error) in [
        ("volary-hand-in", "volary-hat", HandInError::Damaged),
        (
            "\"version\": 1, \"assignment\"",
            "\"version\": 9, \"assignment\"",
            HandInError::Newer,
        ),
        (
            "\"pupil\": \"Ada\", \"handed",
            "\"pupil\": \" \", \"handed",
            HandInError::NoName,
        ),
        ("\"episode\": 0", "\"episode\": 7", HandInError::Damaged),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        assert_eq!(HandIn::read(&text.replace(from, to)), Err(error), "{from}");
    }
    let tasks = text.replace("{\"title\": \"Task 2\", \"episode\": null}", "7");
    assert!(matches!(
        HandIn::read(&tasks),
        Err(HandInError::Misfit { .. })
    ));
}

#[test]
fn an_episode_has_the_labels_of_its_hand_in() {
    let text = ada().to_text();
    let forged = text
        .replace("\"policy\": \"Ada\"", "\"policy\": \"Bo\"")
        .replace("Ada · Task 1", "Bo · Task 7")
        .replace("Ada \\u00b7 Task 1", "Bo \\u00b7 Task 7")
        .replace("{\"pupil\": \"Ada\"", "{\"pupil\": \"Bo\"")
        .replace("1 Task 1", "7 Task 7");
    assert!(
        forged.contains("Bo") && forged.contains("7 Task 7"),
        "{forged}"
    );
    assert_eq!(HandIn::read(&forged), Ok(ada()));
}

#[test]
fn an_episode_belongs_to_one_task() {
    let text = ada().to_text();
    let twice = text.replace("\"episode\": null", "\"episode\": 0");
    assert_ne!(twice, text);
    let error = HandIn::read(&twice).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The hand-in cannot be used: two of its tasks have episode 0."
    );
}

proptest! {
    #[test]
    fn a_file_holds_the_same_hand_in(
        pupil in "[a-zé]{1,10}.{0,20}",
        rewards in proptest::collection::vec(
            proptest::option::of(proptest::collection::vec(-5.0..5.0, 0..4)), 1..5),
    ) {
        let episodes = rewards.iter().map(|rewards| {
            rewards.as_ref().map(|rewards| episode(rewards, Ending::Open))
        });
        let made = HandIn::new(&assignment(rewards.len()), Name::new(&pupil), 1.5, episodes);
        let made = made.unwrap();
        prop_assert_eq!(HandIn::read(&made.to_text()), Ok(made));
    }
}
