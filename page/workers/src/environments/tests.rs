//! Requests of the page and the replies to them, without a browser.

use futures_util::FutureExt;
use volary_core::message::ToolRequestMessage;
use volary_core::virtual_clock::VirtualClock;
use volary_episode::Episode;
use volary_protocol::episode::EpisodeAssembler;

use super::*;

fn environments() -> Environments {
    Environments::new(volary_envs::registry(), Rc::new(VirtualClock::default()))
}

fn handle(environments: &Environments, request: Request) -> Vec<Event> {
    let sent = RefCell::new(Vec::new());
    let send = |event| sent.borrow_mut().push(event);
    let handled = environments.handle(request, &send).now_or_never();
    assert_eq!(handled, Some(()), "nothing waits here");
    sent.take()
}

fn open(environment: EnvironmentId, name: &str, actions: usize) -> Request {
    Request::Open {
        environment,
        recipe: Recipe {
            environment: name.into(),
            ..Recipe::default()
        },
        actions: vec![action(); actions],
        servers: Vec::new(),
    }
}

fn step(environment: EnvironmentId) -> Request {
    let action = action();
    Request::Step {
        environment,
        action,
    }
}

/// A message without a tool call: the dummy environment replies that a call is needed.
fn action() -> AnyMessage {
    ToolRequestMessage::default().into()
}

fn assembled(events: Vec<Event>) -> Episode {
    let mut assembler = EpisodeAssembler::default();
    let chunks = events.into_iter().map(|event| match event {
        Event::Episode(chunk) => chunk,
        other => panic!("{other:?} is no chunk"),
    });
    let mut found = None;
    for chunk in chunks {
        found = assembler.push(chunk).unwrap();
    }
    found.unwrap().episode
}

fn is_step(events: &[Event]) -> bool {
    matches!(events, [Event::Episode(EpisodeChunk::Steps(steps))] if steps.records.len() == 1)
}

#[test]
fn an_opened_environment_replays_its_actions_and_is_stepped() {
    let environments = environments();
    let episode = assembled(handle(&environments, open(1, "dummy", 3)));
    assert_eq!(episode.steps.len(), 3);
    assert_eq!(episode.frames.len(), 4);
    assert!(is_step(&handle(&environments, step(1))));
}

#[test]
fn a_replay_comes_in_chunks() {
    let events = handle(&environments(), open(1, "dummy", 2 * CHUNK_STEPS + 1));
    assert_eq!(events.len(), 5, "a head, three chunks, an end");
    assert_eq!(assembled(events).steps.len(), 2 * CHUNK_STEPS + 1);
}

#[test]
fn an_unknown_environment_is_refused_and_leaves_the_others_open() {
    let environments = environments();
    handle(&environments, open(1, "dummy", 0));
    let refused = handle(&environments, open(2, "nowhere", 0));
    assert!(
        matches!(&refused[..], [Event::Refused { .. }]),
        "{refused:?}"
    );
    assert_eq!(handle(&environments, step(2)), [Event::Gone]);
    assert!(is_step(&handle(&environments, step(1))));
}

#[test]
fn a_server_that_was_not_named_is_not_called() {
    let refused = handle(&environments(), open(1, "http://127.0.0.1:1", 0));
    assert!(matches!(
        &refused[..],
        [Event::Refused {
            is_server_lost: true,
            ..
        }]
    ));
}

#[test]
fn a_closed_environment_is_gone() {
    let environments = environments();
    for environment in [1, 2, 3] {
        handle(&environments, open(environment, "dummy", 0));
    }
    assert_eq!(handle(&environments, Request::Close { environment: 1 }), []);
    assert_eq!(handle(&environments, step(1)), [Event::Gone]);
    assert!(is_step(&handle(&environments, step(2))));
    let others = Request::CloseOthers { environment: 3 };
    assert_eq!(handle(&environments, others), []);
    assert_eq!(handle(&environments, step(2)), [Event::Gone]);
    assert!(is_step(&handle(&environments, step(3))));
}

/// The library desk, with a person as the customer.
fn desk(environment: EnvironmentId, replies: Option<&[&str]>) -> Request {
    let mut configuration = volary_core::object!({ "customer": "person" });
    if let Some(replies) = replies {
        let replies: Vec<volary_core::Json> = replies.iter().map(|reply| (*reply).into()).collect();
        configuration.insert("replies", replies);
    }
    Request::Open {
        environment,
        recipe: Recipe {
            environment: "library_desk".into(),
            configuration,
            ..Recipe::default()
        },
        actions: Vec::new(),
        servers: Vec::new(),
    }
}

fn replies(events: &[Event]) -> Vec<String> {
    let recorded = events.iter().rev().find_map(|event| match event {
        Event::Recorded { members } => members.get("replies")?.as_list(),
        _ => None,
    });
    let recorded = recorded.unwrap_or_default().iter();
    recorded
        .filter_map(|reply| reply.as_text().map(|text| text.to_string()))
        .collect()
}

#[test]
fn a_person_is_asked_and_the_answer_is_recorded() {
    let environments = environments();
    let sent = RefCell::new(Vec::new());
    let send = |event| sent.borrow_mut().push(event);
    let mut opening = Box::pin(environments.handle(desk(1, None), &send));
    assert_eq!(opening.as_mut().now_or_never(), None);
    let id = match sent.borrow().last() {
        Some(Event::Question {
            id,
            question: Question::Person { .. },
        }) => *id,
        other => panic!("{other:?} is no question to a person"),
    };
    let answer = Request::Answer {
        question: id,
        answer: Ok("May I keep the atlas?".into()),
    };
    assert_eq!(handle(&environments, answer), []);
    assert_eq!(opening.as_mut().now_or_never(), Some(()));
    drop(opening);
    assert_eq!(replies(&sent.borrow()), ["May I keep the atlas?"]);
}

/// Recorded replies are used instead of questions. The reply to a later step, which was undone, is dropped.
#[test]
fn recorded_replies_are_replayed_and_those_of_undone_steps_dropped() {
    let environments = environments();
    let events = handle(&environments, desk(1, Some(&["May I keep the atlas?"])));
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Question { .. })),
        "{events:?}"
    );
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Recorded { .. })),
        "{events:?}"
    );

    let events = handle(
        &environments,
        desk(2, Some(&["May I keep the atlas?", "Thank you."])),
    );
    assert_eq!(replies(&events), ["May I keep the atlas?"]);
    let said = ToolRequestMessage {
        body: volary_core::message::Body::text("For a week."),
        ..ToolRequestMessage::default()
    };
    let sent = RefCell::new(Vec::new());
    let send = |event| sent.borrow_mut().push(event);
    let step = Request::Step {
        environment: 2,
        action: said.into(),
    };
    assert_eq!(
        environments.handle(step, &send).now_or_never(),
        None,
        "{:?}",
        sent.borrow()
    );
    assert!(matches!(sent.borrow().last(), Some(Event::Question { .. })));
}
