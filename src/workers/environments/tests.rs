//! Requests of the page and the replies to them, without a browser.

use futures_util::FutureExt;
use volary_core::message::ToolRequestMessage;
use volary_core::virtual_clock::VirtualClock;

use volary_protocol::episode::EpisodeAssembler;
use volary_trajectory::Episode;

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

#[test]
fn files_give_their_first_episode_or_a_reason() {
    let import = |text: &str| {
        let files = vec![NamedFile {
            name: "a.jsonl".to_owned(),
            bytes: text.as_bytes().to_vec(),
        }];
        handle(&environments(), Request::Import { files })
    };
    let episode = |id: &str| {
        volary_trajectory::native::to_text(&Episode {
            id: id.into(),
            ..Episode::default()
        })
    };
    let text = format!("{}\n{}\n", episode("a"), episode("b"));
    let events = import(&text);
    let Some(Event::Episode(EpisodeChunk::End { notes })) = events.last() else {
        panic!("the end comes last");
    };
    assert!(
        notes.iter().any(|note| note.contains("2 episodes")),
        "{notes:?}"
    );
    assert_eq!(&*assembled(events).id, "a");
    assert!(matches!(&import("no episode")[..], [Event::Refused { .. }]));
}
