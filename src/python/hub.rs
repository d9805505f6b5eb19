//! The hub assigns the answers of the Python worker to the questions of its clients. Pure: events in, effects out.
//!
//! Several workers of the page, and the page itself, share one Python. Each asker numbers its own questions; the hub
//! assigns unique numbers, so that every answer reaches its asker and a late one is dropped.
//!
//! Invariants:
//! - Every question gets exactly one reply: an answer or an error.
//! - The timeout of a question runs only while Python is ready; loading has no timeout.
//! - After [`Event::Stop`] no answer of the stopped worker is passed on.

use std::collections::BTreeMap;

/// The id of an asker: the port of a worker, or the page itself.
pub type Asker = usize;

/// An input of the hub.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An asker sent a question.
    Ask {
        from: Asker,
        /// The asker's number of the question.
        number: u32,
        /// The question as JSON, in the format of `public/python/host.py`.
        question: String,
        /// The timeout in seconds.
        limit: f64,
    },
    /// Python accepts questions from now on.
    Ready,
    /// The frame passed on an answer or an error.
    Answer {
        /// The hub's number of the question.
        id: u32,
        result: Result<Answer, String>,
    },
    /// Python could not be started, or crashed.
    Failed { reason: String },
    /// The user stopped Python.
    Stop,
    /// The timeout of a question has passed.
    TimedOut {
        /// The hub's number of the question.
        id: u32,
    },
}

/// An answer of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// JSON: `{"status", "body"}`.
    pub text: String,
    /// The printed output.
    pub output: String,
}

/// An output of the hub, to be carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Load Python: fetch the files and start the frame.
    Start,
    /// Pass a question to the frame.
    Send {
        /// The hub's number.
        id: u32,
        question: String,
    },
    /// Send [`Event::TimedOut`] after this time.
    Limit {
        /// The hub's number of the question.
        id: u32,
        seconds: f64,
    },
    /// Reply to an asker.
    Reply {
        to: Asker,
        /// The asker's number of the question.
        number: u32,
        /// The answer or an error.
        result: Result<Answer, String>,
    },
    /// Terminate the Python worker; a new one replaces it.
    Stop,
}

/// The status of Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Not requested yet.
    #[default]
    Absent,
    /// It is being loaded.
    Loading,
    /// Python accepts questions.
    Ready,
}

/// An open question.
#[derive(Clone, Copy, Debug)]
struct Open {
    from: Asker,
    number: u32,
    limit: f64,
}

/// The state of the hub.
#[derive(Debug, Default)]
pub struct Hub {
    status: Status,
    last: u32,
    open: BTreeMap<u32, Open>,
}

impl Hub {
    /// The status of Python.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether any question is open.
    pub fn is_busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// Applies an event and returns the effects in order.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Ask {
                from,
                number,
                question,
                limit,
            } => self.ask(
                Open {
                    from,
                    number,
                    limit,
                },
                question,
            ),
            Event::Ready => {
                let is_new = self.status != Status::Ready;
                self.status = Status::Ready;
                let open = self.open.iter().filter(|_| is_new);
                open.map(|(id, open)| Effect::Limit {
                    id: *id,
                    seconds: open.limit,
                })
                .collect()
            }
            Event::Answer { id, result } => {
                let open = self.open.remove(&id);
                open.into_iter()
                    .map(|open| open.reply(result.clone()))
                    .collect()
            }
            Event::Failed { reason } => {
                self.status = Status::Absent;
                self.close(&reason)
            }
            Event::Stop => self.stop("Python was stopped."),
            Event::TimedOut { id } => match self.open.get(&id).map(|open| open.limit) {
                Some(limit) => self.stop(&format!(
                    "Python did not respond within {limit} s and was stopped."
                )),
                None => Vec::new(),
            },
        }
    }

    fn ask(&mut self, open: Open, question: String) -> Vec<Effect> {
        self.last = self.last.wrapping_add(1);
        let id = self.last;
        self.open.insert(id, open);
        let send = Effect::Send { id, question };
        match self.status {
            Status::Absent => {
                self.status = Status::Loading;
                vec![Effect::Start, send]
            }
            Status::Loading => vec![send],
            Status::Ready => vec![
                send,
                Effect::Limit {
                    id,
                    seconds: open.limit,
                },
            ],
        }
    }

    fn stop(&mut self, reason: &str) -> Vec<Effect> {
        if self.status == Status::Absent {
            return Vec::new();
        }
        // The replacement reports when it is ready.
        self.status = Status::Loading;
        let mut effects = vec![Effect::Stop];
        effects.extend(self.close(reason));
        effects
    }

    fn close(&mut self, reason: &str) -> Vec<Effect> {
        let open = std::mem::take(&mut self.open);
        open.into_values()
            .map(|open| open.reply(Err(reason.to_owned())))
            .collect()
    }
}

impl Open {
    fn reply(self, result: Result<Answer, String>) -> Effect {
        Effect::Reply {
            to: self.from,
            number: self.number,
            result,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(from: Asker, number: u32) -> Event {
        Event::Ask {
            from,
            number,
            question: "{}".to_owned(),
            limit: 5.0,
        }
    }

    fn answer(text: &str) -> Result<Answer, String> {
        Ok(Answer {
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
        let mut hub = Hub::default();
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
        assert!(hub.is_busy());
    }

    #[test]
    fn a_question_that_takes_too_long_stops_python_and_all_questions_hear_of_it() {
        let mut hub = Hub::default();
        hub.update(ask(1, 1));
        hub.update(Event::Ready);
        hub.update(ask(2, 1));
        let effects = hub.update(Event::TimedOut { id: 1 });
        assert_eq!(effects.first(), Some(&Effect::Stop));
        assert_eq!(effects.len(), 3);
        assert_eq!(hub.status(), Status::Loading);
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
        let mut hub = Hub::default();
        hub.update(ask(1, 1));
        let reason = "no file".to_owned();
        assert_eq!(hub.update(Event::Failed { reason }).len(), 1);
        assert_eq!(hub.status(), Status::Absent);
        assert_eq!(hub.update(Event::Stop), []);
        assert_eq!(hub.update(ask(1, 2)), [Effect::Start, send(2)]);
    }

    fn events() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => (0usize..3, 0u32..4).prop_map(|(from, number)| ask(from, number)),
            2 => Just(Event::Ready),
            4 => (0u32..12).prop_map(|id| Event::Answer { id, result: answer("x") }),
            1 => Just(Event::Failed { reason: "why".to_owned() }),
            1 => Just(Event::Stop),
            2 => (0u32..12).prop_map(|id| Event::TimedOut { id }),
        ]
    }

    proptest! {
        #[test]
        fn every_question_gets_one_reply(events in proptest::collection::vec(events(), 0..60)) {
            let mut hub = Hub::default();
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
            prop_assert!(!hub.is_busy());
        }
    }
}
