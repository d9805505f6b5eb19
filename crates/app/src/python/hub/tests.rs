//! Tests of the hub: its replies, its workers, its timeouts and its status.

use proptest::prelude::*;

use super::*;

/// A question that loads the file of a source.
fn load(from: PythonAsker, number: u32, source: &str) -> Event {
    question(from, number, source, true)
}

/// A question about the loaded file of a source.
fn ask(from: PythonAsker, number: u32, source: &str) -> Event {
    question(from, number, source, false)
}

fn question(from: PythonAsker, number: u32, source: &str, loads: bool) -> Event {
    Event::Ask {
        from,
        number,
        question: PythonQuestion {
            source: source.to_owned(),
            loads,
            text: "{}".to_owned(),
        },
        limit: 5.0,
    }
}

fn answer(text: &str) -> Result<PythonAnswer, String> {
    Ok(PythonAnswer {
        text: text.to_owned(),
        output: String::new(),
    })
}

fn answered(id: u32) -> Event {
    Event::Answer {
        id,
        result: answer("x"),
    }
}

fn send(id: u32, source: &str) -> Effect {
    Effect::Send {
        id,
        source: source.to_owned(),
        text: "{}".to_owned(),
    }
}

fn end(source: &str) -> Effect {
    Effect::End {
        source: source.to_owned(),
    }
}

fn limit(id: u32) -> Effect {
    Effect::Limit { id, seconds: 5.0 }
}

fn failed(to: PythonAsker, number: u32, reason: &str) -> Effect {
    Effect::Reply {
        to,
        number,
        result: Err(reason.to_owned()),
    }
}

/// Whether the only effect is a reply that the file is not loaded.
fn is_not_loaded(effects: &[Effect]) -> bool {
    match effects {
        [
            Effect::Reply {
                result: Ok(answer), ..
            },
        ] => answer.text.contains("\"status\":409"),
        _ => false,
    }
}

/// A hub with Python and these sources, loaded in this order by questions that were answered.
fn loaded(sources: &[&str]) -> PythonHub {
    let mut hub = PythonHub::default();
    hub.update(Event::WarmUp);
    hub.update(Event::Ready);
    for source in sources {
        hub.update(load(1, 0, source));
        let id = hub.last;
        hub.update(answered(id));
    }
    hub
}

#[test]
fn the_first_file_loads_python_and_its_timeout_begins_in_the_worker() {
    let mut hub = PythonHub::default();
    assert_eq!(hub.update(load(1, 7, "a")), [Effect::Start, send(1, "a")]);
    assert_eq!(hub.update(ask(2, 7, "a")), [send(2, "a")]);
    assert_eq!(hub.update(Event::Ready), []);
    assert_eq!(hub.update(Event::Received { id: 1 }), [limit(1)]);
    assert_eq!(hub.update(Event::Received { id: 2 }), [limit(2)]);
    let reply = Effect::Reply {
        to: 2,
        number: 7,
        result: answer("x"),
    };
    assert_eq!(hub.update(answered(2)), [reply]);
    assert_eq!(hub.status(), PythonStatus::Busy);
    assert_eq!(hub.update(Event::Received { id: 2 }), [], "it was answered");
}

#[test]
fn a_question_about_a_file_that_is_not_loaded_starts_nothing() {
    let mut hub = PythonHub::default();
    assert!(is_not_loaded(&hub.update(ask(1, 1, "a"))));
    assert_eq!(hub.status(), PythonStatus::Absent);
    let mut hub = loaded(&["a"]);
    assert!(is_not_loaded(&hub.update(ask(1, 1, "b"))));
    assert_eq!(hub.status(), PythonStatus::Idle);
}

#[test]
fn one_source_too_many_ends_the_worker_that_was_not_used_for_the_longest_time() {
    let mut hub = loaded(&["a", "b", "c"]);
    // The first one is used again.
    hub.update(ask(1, 1, "a"));
    hub.update(answered(4));
    assert_eq!(hub.update(load(1, 2, "d")), [end("b"), send(5, "d")]);
    assert!(is_not_loaded(&hub.update(ask(1, 3, "b"))));
    assert_eq!(hub.update(ask(1, 4, "a")), [send(6, "a")]);
}

#[test]
fn a_worker_that_answers_is_ended_only_if_all_do() {
    let mut hub = loaded(&["a", "b", "c"]);
    hub.update(ask(1, 1, "a"));
    hub.update(ask(1, 2, "c"));
    // The last use of the second one is older.
    assert_eq!(hub.update(load(1, 3, "d")).first(), Some(&end("b")));
    let effects = hub.update(load(1, 4, "e"));
    let reason = "Its Python was ended, because too many other files are run at the same time.";
    assert_eq!(effects, [end("a"), failed(1, 1, reason), send(7, "e")]);
}

#[test]
fn a_question_that_takes_too_long_ends_the_worker_of_its_source_alone() {
    let mut hub = loaded(&["a", "b"]);
    hub.update(ask(1, 1, "a"));
    hub.update(ask(2, 1, "a"));
    hub.update(ask(3, 1, "b"));
    let reason = "Python did not respond within 5 s and was stopped.";
    assert_eq!(
        hub.update(Event::TimedOut { id: 3 }),
        [end("a"), failed(1, 1, reason), failed(2, 1, reason)]
    );
    // The answer of the ended worker is too late.
    assert_eq!(hub.update(answered(4)), []);
    assert_eq!(hub.update(Event::TimedOut { id: 4 }), []);
    assert_eq!(hub.update(answered(5)).len(), 1, "the other worker answers");
}

#[test]
fn stop_ends_all_workers_and_their_questions() {
    let mut hub = loaded(&["a", "b"]);
    hub.update(ask(1, 1, "a"));
    let stopped = failed(1, 1, "Python was stopped.");
    assert_eq!(hub.update(Event::Stop), [end("b"), end("a"), stopped]);
    assert_eq!(hub.update(Event::Stop), []);
    assert!(is_not_loaded(&hub.update(ask(1, 2, "a"))));
    assert_eq!(hub.update(load(1, 3, "a")), [send(4, "a")]);
}

#[test]
fn a_crash_of_one_worker_leaves_the_others() {
    let mut hub = loaded(&["a", "b"]);
    hub.update(ask(1, 1, "a"));
    hub.update(ask(1, 2, "b"));
    let ended = Event::Ended {
        source: "a".to_owned(),
        reason: "crash".to_owned(),
    };
    // A worker that was started again meanwhile is ended too.
    assert_eq!(hub.update(ended.clone()), [end("a"), failed(1, 1, "crash")]);
    assert_eq!(hub.update(ended), []);
    assert!(is_not_loaded(&hub.update(ask(1, 3, "a"))));
    assert_eq!(hub.update(answered(4)).len(), 1);
}

#[test]
fn after_a_failure_the_next_file_loads_python_again() {
    let mut hub = PythonHub::default();
    hub.update(load(1, 1, "a"));
    let reason = "no file".to_owned();
    let effects = hub.update(Event::Failed { reason });
    assert_eq!(effects, [Effect::Discard, failed(1, 1, "no file")]);
    let status = PythonStatus::Failed("no file".to_owned());
    assert_eq!(hub.status(), status);
    assert_eq!(hub.update(Event::Stop), []);
    // Late reports of the discarded frame.
    for event in [
        Event::Ready,
        Event::Stage("unpacking".to_owned()),
        Event::Fetched {
            bytes: 1.0,
            total: 2.0,
        },
    ] {
        assert_eq!(hub.update(event), []);
        assert_eq!(hub.status(), status);
    }
    assert!(is_not_loaded(&hub.update(ask(1, 2, "a"))));
    assert_eq!(hub.update(load(1, 3, "a")), [Effect::Start, send(2, "a")]);
    assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
}

#[test]
fn the_status_follows_the_start() {
    let mut hub = PythonHub::default();
    assert_eq!(hub.status(), PythonStatus::Absent);
    assert_eq!(hub.update(Event::WarmUp), [Effect::Start]);
    assert_eq!(hub.update(Event::WarmUp), []);
    assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
    hub.update(Event::Fetched {
        bytes: 1.0,
        total: 2.0,
    });
    assert_eq!(hub.status(), PythonStatus::Fetching(1.0, 2.0));
    for (stage, shown) in [
        ("loading", STARTING),
        ("unpacking", "Unpacking fhaviary"),
        ("importing", "Importing fhaviary"),
    ] {
        hub.update(Event::Stage(stage.to_owned()));
        assert_eq!(hub.status(), PythonStatus::Starting(shown));
    }
    // The start goes on without the question.
    hub.update(load(1, 1, "a"));
    hub.update(Event::Stop);
    assert_eq!(hub.status(), PythonStatus::Starting("Importing fhaviary"));
    hub.update(Event::Ready);
    assert_eq!(hub.status(), PythonStatus::Idle);
    hub.update(load(1, 2, "a"));
    assert_eq!(hub.status(), PythonStatus::Busy);
    // Another worker starts, and Python still is of use.
    hub.update(Event::Stage("unpacking".to_owned()));
    assert_eq!(hub.status(), PythonStatus::Busy);
    hub.update(answered(2));
    assert_eq!(hub.status(), PythonStatus::Idle);
}

#[test]
fn what_was_printed_is_shown_even_if_nobody_waits_for_the_answer() {
    let mut hub = loaded(&["a"]);
    let printed = |text: &str| {
        let mut answer = answer("x");
        if let Ok(answer) = &mut answer {
            answer.output = text.to_owned();
        }
        answer
    };
    let print = Effect::Print("hello".to_owned());
    let late = Event::Answer {
        id: 9,
        result: printed("hello"),
    };
    assert_eq!(hub.update(late), std::slice::from_ref(&print));
    hub.update(ask(1, 1, "a"));
    let result = printed("hello");
    let reply = Effect::Reply {
        to: 1,
        number: 1,
        result: result.clone(),
    };
    assert_eq!(hub.update(Event::Answer { id: 2, result }), [print, reply]);
    let result = Err("crash".to_owned());
    assert_eq!(hub.update(Event::Answer { id: 2, result }), []);
}

fn source() -> impl Strategy<Value = String> {
    (0u8..6).prop_map(|number| format!("source {number}"))
}

fn events() -> impl Strategy<Value = Event> {
    let asked = (0usize..3, 0u32..4, source(), any::<bool>());
    prop_oneof![
        6 => asked.prop_map(|(from, number, source, loads)| question(from, number, &source, loads)),
        2 => Just(Event::Ready),
        1 => Just(Event::WarmUp),
        4 => (0u32..12).prop_map(answered),
        2 => (0u32..12).prop_map(|id| Event::Received { id }),
        1 => source().prop_map(|source| Event::Ended { source, reason: "why".to_owned() }),
        1 => Just(Event::Failed { reason: "why".to_owned() }),
        1 => Just(Event::Stop),
        2 => (0u32..12).prop_map(|id| Event::TimedOut { id }),
    ]
}

proptest! {
    #[test]
    fn every_question_gets_one_reply_and_workers_are_bounded(
        events in proptest::collection::vec(events(), 0..60)
    ) {
        let mut hub = PythonHub::default();
        let (mut asked, mut replied) = (Vec::new(), Vec::new());
        // The workers as the frame has them.
        let mut workers = std::collections::BTreeSet::new();
        for event in events.into_iter().chain([Event::Failed { reason: "the end".to_owned() }]) {
            if let Event::Ask { from, number, .. } = &event {
                asked.push((*from, *number));
            }
            for effect in hub.update(event) {
                match effect {
                    Effect::Reply { to, number, .. } => replied.push((to, number)),
                    Effect::Send { source, .. } => drop(workers.insert(source)),
                    Effect::End { source } => prop_assert!(workers.remove(&source)),
                    Effect::Discard => workers.clear(),
                    Effect::Start | Effect::Limit { .. } | Effect::Print(_) => {}
                }
                prop_assert!(workers.len() <= MOST_WORKERS);
            }
        }
        asked.sort_unstable();
        replied.sort_unstable();
        prop_assert_eq!(asked, replied);
        prop_assert!(hub.open.is_empty());
    }
}
