//! Tests of the conversation with the surrounding page, and of what it may ask for.

use volary_core::json::{Json, to_json};
use volary_core::message::Message;
use volary_core::{json, object};
use volary_episode::{Outcome, StepRecord};

use super::message::TaskOfLoad;
use super::source::{EmbedSource, SourceError};
use super::*;
use crate::playground::tasks;

const PARENT: &str = "https://blog.example";

fn from_parent(data: Json) -> Arrived {
    Arrived {
        is_from_parent: true,
        origin: PARENT.into(),
        data: Some(data),
    }
}

/// The messages that are sent, with the origins that they are sent to.
fn sent(effects: Vec<Effect>) -> Vec<(Text, Json)> {
    let effects = effects.into_iter();
    effects
        .map(|effect| match effect {
            Effect::Send { origin, message } => (origin, to_json(&message).unwrap()),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn to_parent(message: Json) -> (Text, Json) {
    (PARENT.into(), message)
}

fn episode(steps: usize) -> Episode {
    let step = StepRecord::new(
        Message::user("act").into(),
        Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        },
    );
    Episode {
        name: "A sum".into(),
        steps: vec![step; steps],
        ..Episode::default()
    }
}

#[test]
fn only_the_parent_is_heard_and_only_the_origin_of_its_first_message() {
    let mut conversation = EmbedConversation::default();
    let hello = || json!({"volary": "hello"});
    let stranger = Arrived {
        is_from_parent: false,
        ..from_parent(hello())
    };
    assert_eq!(conversation.handle(stranger), []);
    // Messages that are not for the view do not decide about the origin.
    for other in [json!({"type": "resize"}), json!("volary"), json!(null)] {
        let arrived = Arrived {
            origin: "https://other.example".into(),
            ..from_parent(other)
        };
        assert_eq!(conversation.handle(arrived), []);
    }
    let ready = to_parent(json!({"volary": "ready", "version": 1}));
    assert_eq!(sent(conversation.handle(from_parent(hello()))), [ready]);
    let navigated = Arrived {
        origin: "https://other.example".into(),
        ..from_parent(json!({"volary": "step", "step": 1}))
    };
    assert_eq!(conversation.handle(navigated), []);
}

#[test]
fn a_document_without_origin_is_answered_too() {
    let mut conversation = EmbedConversation::default();
    let arrived = Arrived {
        origin: "null".into(),
        ..from_parent(json!({"volary": "hello"}))
    };
    let sent = sent(conversation.handle(arrived));
    assert_eq!(sent.len(), 1);
    assert_eq!(&*sent[0].0, "*");
}

#[test]
fn unknown_messages_are_ignored_and_malformed_ones_answered() {
    let mut conversation = EmbedConversation::default();
    let mut handle = |data: Json| sent(conversation.handle(from_parent(data)));
    assert_eq!(handle(json!({"volary": "zoom", "by": 2})), []);
    assert_eq!(handle(json!({"volary": 7})), []);
    for (kind, message) in [
        ("step", json!({"volary": "step"})),
        ("step", json!({"volary": "step", "step": (-1)})),
        ("theme", json!({"volary": "theme", "theme": "pink"})),
        ("load", json!({"volary": "load", "task": "easy-01"})),
        ("notes", json!({"volary": "notes", "notes": [{"id": "a"}]})),
    ] {
        let answers = handle(message.clone());
        let [(_, answer)] = &answers[..] else {
            panic!("{message:?}: {answers:?}");
        };
        assert_eq!(answer.get("volary"), Some(&"error".into()), "{message:?}");
        assert_eq!(answer.get("about"), Some(&kind.into()), "{message:?}");
    }
}

#[test]
fn steps_and_the_end_are_reported_once() {
    let mut conversation = EmbedConversation::default();
    let recording = |step| EpisodePosition {
        step,
        steps: 2,
        reward: Some(1.0),
        ..EpisodePosition::default()
    };
    // Nobody has asked yet.
    assert_eq!(conversation.loaded(&episode(2)), []);
    assert_eq!(conversation.moved(&recording(0)), []);
    let loaded =
        json!({"volary": "loaded", "title": "A sum", "steps": 2, "environment": (Json::Null)});
    let answers = sent(conversation.handle(from_parent(json!({"volary": "hello"}))));
    assert_eq!(answers[1], to_parent(loaded));

    let mut moved = |position: &EpisodePosition| sent(conversation.moved(position));
    let step =
        |step: i64, steps: i64| to_parent(json!({"volary": "step", "step": step, "steps": steps}));
    assert_eq!(moved(&recording(1)), [step(1, 2)]);
    assert_eq!(moved(&recording(1)), []);
    let done = |ending: &str| {
        to_parent(json!({"volary": "done", "steps": 2, "reward": 1.0, "ending": ending}))
    };
    assert_eq!(moved(&recording(2)), [step(2, 2), done("open")]);
    assert_eq!(moved(&recording(1)), [step(1, 2)]);
    assert_eq!(moved(&recording(2)), [step(2, 2)]);

    // The reader continues: the end is that of the task.
    let playing = |ending| EpisodePosition {
        is_growing: true,
        ending,
        ..recording(2)
    };
    assert_eq!(moved(&playing(Ending::Open)), []);
    assert_eq!(moved(&playing(Ending::Done)), [done("done")]);
}

#[test]
fn a_load_that_cannot_be_shown_is_answered_and_the_former_is_not_reported() {
    let mut conversation = EmbedConversation::default();
    conversation.loaded(&episode(1));
    let load = json!({"volary": "load", "link": "https://x.example/#/run/counter"});
    let effects = conversation.handle(from_parent(load));
    assert!(matches!(&effects[..], [Effect::Load(_)]), "{effects:?}");
    assert_eq!(conversation.moved(&EpisodePosition::default()), []);
    let failed = json!({"volary": "error", "about": "load", "message": "No."});
    assert_eq!(sent(conversation.failed("No.")), [to_parent(failed)]);
}

#[test]
fn notes_come_from_the_surrounding_page_and_go_back_to_it() {
    let mut conversation = EmbedConversation::default();
    let notes =
        json!({"volary": "notes", "notes": [{"id": "a", "step": 1, "text": "Why?", "by": "me"}]});
    let effects = conversation.handle(from_parent(notes));
    let [Effect::Annotate(notes)] = &effects[..] else {
        panic!("{effects:?}");
    };
    let note = notes.list()[0].clone();
    let answer = json!({
        "volary": "note", "id": "a", "step": 1, "text": "Why?", "label": "", "deleted": true
    });
    assert_eq!(sent(conversation.noted(note, true)), [to_parent(answer)]);
}

#[test]
fn selected_text_is_reported_after_a_subscription() {
    let mut conversation = EmbedConversation::default();
    assert_eq!(conversation.selected(1, "336".into()), []);
    conversation.handle(from_parent(json!({"volary": "hello"})));
    let selection = json!({"volary": "selection", "step": 1, "text": "336"});
    let sent = sent(conversation.selected(1, "336".into()));
    assert_eq!(sent, [to_parent(selection)]);
}

#[test]
fn sources() {
    let registry = volary_envs::registry();
    let lists = tasks::built_in(&registry);
    let of = |load: Json| {
        let load = volary_core::json::from_json::<Load>(&load).unwrap();
        EmbedSource::of(&load, &registry, &lists)
    };
    assert_eq!(of(json!({})), Err(SourceError::NotOne));
    assert_eq!(
        of(json!({"episode": {}, "link": "#/"})),
        Err(SourceError::NotOne)
    );
    let file = of(json!({"episode": {"a": [1, 2.5]}, "name": "run.json"}));
    let Ok(EmbedSource::File { name, text }) = file else {
        panic!("{file:?}");
    };
    assert_eq!((&*name, &*text), ("run.json", r#"{"a": [1, 2.5]}"#));
    assert_eq!(
        of(json!({"link": "https://volary.example/#/run/counter"})),
        Ok(EmbedSource::Link {
            hash: "#/run/counter".into()
        })
    );
    assert_eq!(of(json!({"link": "counter"})), Err(SourceError::NoHash));

    let task = of(json!({"task": {"environment": "calculator", "task": "easy-02", "seed": 7}}));
    let Ok(EmbedSource::Replay { recipe, actions }) = task else {
        panic!("{task:?}");
    };
    assert_eq!((recipe.seed, actions.len()), (7, 0));
    assert_eq!(&*recipe.task.unwrap().id, "easy-02");
    let first = of(json!({"task": {"environment": "calculator"}}));
    let Ok(EmbedSource::Replay { recipe, .. }) = first else {
        panic!("{first:?}");
    };
    assert!(recipe.task.is_some());
    for (task, part) in [
        (
            json!({"environment": "calculator", "task": "no"}),
            "no task",
        ),
        (json!({"environment": "tau_retail"}), "no environment"),
        (json!({"environment": "python"}), "no environment"),
        (
            json!({"environment": "counter", "configuration": []}),
            "object",
        ),
    ] {
        let error = of(json!({"task": (task)})).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_packed_episode_needs_an_environment_of_the_page() {
    let registry = volary_envs::registry();
    let pack = |environment: &str| {
        let task = TaskOfLoad {
            environment: environment.into(),
            configuration: Some(object!({}).into()),
            ..TaskOfLoad::default()
        };
        let recipe = volary_episode::Recipe {
            environment: task.environment,
            ..Default::default()
        };
        volary_episode::share::encode(&recipe, &[]).unwrap()
    };
    let known = EmbedSource::of_packed(&pack("counter"), &registry);
    assert!(matches!(known, Ok(EmbedSource::Replay { .. })), "{known:?}");
    let unknown = EmbedSource::of_packed(&pack("python"), &registry);
    assert!(
        matches!(unknown, Err(SourceError::NoEnvironment { .. })),
        "{unknown:?}"
    );
    let damaged = EmbedSource::of_packed("1ab", &registry);
    assert!(
        matches!(damaged, Err(SourceError::Damaged(_))),
        "{damaged:?}"
    );
}
