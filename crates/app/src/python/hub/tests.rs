//! Tests of the hub: its replies, its timeouts and its status.

use proptest::prelude::*;

use super::*;

fn ask(from: PythonAsker, number: u32) -> Event {
    Event::Ask {
        from,
        number,
        question: "{}".to_owned(),
        limit: 5.0,
    }
}

fn answer(text: &str) -> Result<PythonAnswer, String> {
    Ok(PythonAnswer {
        text: text.to_owned(),
        output: String::new(),
    })
}

fn send(id: u32) -> Effect {
    Effect::Send {
        id,
        question: "{}".to_owned(),
    }
}

#[test]
fn the_first_question_loads_python() {
    let mut hub = PythonHub::default();
    assert_eq!(hub.update(ask(1, 7)), [Effect::Start, send(1)]);
    assert_eq!(hub.update(ask(2, 7)), [send(2)]);
    let limit = |id| Effect::Limit { id, seconds: 5.0 };
    assert_eq!(hub.update(Event::Ready), [limit(1), limit(2)]);
    assert_eq!(hub.update(ask(1, 8)), [send(3), limit(3)]);
    let reply = Effect::Reply {
        to: 2,
        number: 7,
        result: answer("x"),
    };
    let event = Event::Answer {
        id: 2,
        result: answer("x"),
    };
    assert_eq!(hub.update(event), [reply]);
    assert_eq!(hub.status(), PythonStatus::Busy);
}

#[test]
fn a_question_that_takes_too_long_stops_python_and_all_questions_hear_of_it() {
    let mut hub = PythonHub::default();
    hub.update(ask(1, 1));
    hub.update(Event::Ready);
    hub.update(ask(2, 1));
    let effects = hub.update(Event::TimedOut { id: 1 });
    assert_eq!(effects.first(), Some(&Effect::Stop));
    assert_eq!(effects.len(), 3);
    assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
    // The answer of the stopped worker is too late.
    let late = Event::Answer {
        id: 2,
        result: answer("x"),
    };
    assert_eq!(hub.update(late), []);
    assert_eq!(hub.update(Event::TimedOut { id: 2 }), []);
}

#[test]
fn after_a_failure_the_next_question_loads_python_again() {
    let mut hub = PythonHub::default();
    hub.update(ask(1, 1));
    let reason = "no file".to_owned();
    let effects = hub.update(Event::Failed { reason });
    assert!(matches!(&*effects, [Effect::Discard, Effect::Reply { .. }]));
    let failed = PythonStatus::Failed("no file".to_owned());
    assert_eq!(hub.status(), failed);
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
        assert_eq!(hub.status(), failed);
    }
    assert_eq!(hub.update(ask(1, 2)), [Effect::Start, send(2)]);
    assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
}

#[test]
fn the_status_follows_the_start() {
    let mut hub = PythonHub::default();
    assert_eq!(hub.status(), PythonStatus::Absent);
    hub.update(ask(1, 1));
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
    // What is known of the start stays, also if the question is no longer needed.
    hub.update(Event::Stop);
    assert_eq!(hub.status(), PythonStatus::Starting("Importing fhaviary"));
    hub.update(Event::Stopped);
    hub.update(Event::Ready);
    assert_eq!(hub.status(), PythonStatus::Idle);
    hub.update(ask(1, 2));
    assert_eq!(hub.status(), PythonStatus::Busy);
    hub.update(Event::Answer {
        id: 2,
        result: answer("x"),
    });
    assert_eq!(hub.status(), PythonStatus::Idle);
}

#[test]
fn what_a_stopped_worker_said_of_its_start_does_not_count_for_its_replacement() {
    let mut hub = PythonHub::default();
    hub.update(ask(1, 1));
    let effects = hub.update(Event::Stop);
    assert_eq!(effects.first(), Some(&Effect::Stop));
    // These were in flight when the stop was sent.
    for event in [Event::Stage("importing".to_owned()), Event::Ready] {
        assert_eq!(hub.update(event), []);
        assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
    }
    // The timeout of a question does not run while the replacement starts.
    assert_eq!(hub.update(ask(1, 2)), [send(2)]);
    assert_eq!(hub.update(Event::Stopped), []);
    let limit = Effect::Limit {
        id: 2,
        seconds: 5.0,
    };
    assert_eq!(hub.update(Event::Ready), [limit]);
}

#[test]
fn each_stop_is_confirmed_before_the_replacement_counts_as_ready() {
    let mut hub = PythonHub::default();
    hub.update(ask(1, 1));
    hub.update(Event::Ready);
    hub.update(Event::Stop);
    hub.update(Event::Stop);
    hub.update(Event::Stopped);
    // The first replacement was ready, and is stopped as well.
    hub.update(Event::Ready);
    assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
    hub.update(Event::Stopped);
    hub.update(Event::Ready);
    assert_eq!(hub.status(), PythonStatus::Idle);
}

#[test]
fn a_new_frame_owes_no_confirmation_of_the_stops_before_it() {
    let mut hub = PythonHub::default();
    hub.update(ask(1, 1));
    hub.update(Event::Stop);
    hub.update(Event::Failed {
        reason: "crash".to_owned(),
    });
    hub.update(ask(1, 2));
    hub.update(Event::Ready);
    assert_eq!(hub.status(), PythonStatus::Busy);
}

#[test]
fn a_confirmation_that_nobody_waits_for_is_ignored() {
    let mut hub = PythonHub::default();
    assert_eq!(hub.update(Event::Stopped), []);
    hub.update(ask(1, 1));
    hub.update(Event::Stop);
    hub.update(Event::Ready);
    assert_eq!(hub.status(), PythonStatus::Starting(STARTING));
}

#[test]
fn a_ready_worker_that_says_so_again_restarts_no_timeout() {
    let mut hub = PythonHub::default();
    hub.update(ask(1, 1));
    assert_eq!(hub.update(Event::Ready).len(), 1);
    assert_eq!(hub.update(Event::Ready), []);
}

#[test]
fn what_was_printed_is_shown_even_if_nobody_waits_for_the_answer() {
    let mut hub = PythonHub::default();
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
    hub.update(ask(1, 1));
    let result = printed("hello");
    let reply = Effect::Reply {
        to: 1,
        number: 1,
        result: result.clone(),
    };
    assert_eq!(hub.update(Event::Answer { id: 1, result }), [print, reply]);
    let result = Err("crash".to_owned());
    assert_eq!(hub.update(Event::Answer { id: 1, result }), []);
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0usize..3, 0u32..4).prop_map(|(from, number)| ask(from, number)),
        2 => Just(Event::Ready),
        4 => (0u32..12).prop_map(|id| Event::Answer { id, result: answer("x") }),
        1 => Just(Event::Failed { reason: "why".to_owned() }),
        1 => Just(Event::Stop),
        1 => Just(Event::Stopped),
        2 => (0u32..12).prop_map(|id| Event::TimedOut { id }),
    ]
}

proptest! {
    #[test]
    fn every_question_gets_one_reply(events in proptest::collection::vec(events(), 0..60)) {
        let mut hub = PythonHub::default();
        let (mut asked, mut replied) = (Vec::new(), Vec::new());
        for event in events.into_iter().chain([Event::Failed { reason: "the end".to_owned() }]) {
            if let Event::Ask { from, number, .. } = &event {
                asked.push((*from, *number));
            }
            for effect in hub.update(event) {
                if let Effect::Reply { to, number, .. } = effect {
                    replied.push((to, number));
                }
            }
        }
        asked.sort_unstable();
        replied.sort_unstable();
        prop_assert_eq!(asked, replied);
        prop_assert!(hub.open.is_empty());
    }
}
