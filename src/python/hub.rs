//! Which question of which asker the Python worker answers. Pure: events in, effects out.
//!
//! Several workers of the page, and the page itself, share one Python. Each asker numbers its own questions; the hub
//! gives every question a number of its own, so that an answer finds its asker and a late one finds nobody.
//!
//! What always holds:
//! - Every question gets exactly one reply: an answer, or why there is none.
//! - A question's time runs only while Python does; loading it takes as long as it takes.
//! - After [`Event::Stop`] no answer of the stopped worker is passed on.

use std::collections::BTreeMap;

/// Who asks: the port of a worker, or the page itself.
pub type Asker = usize;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An asker has a question.
    Ask {
        /// The asker.
        from: Asker,
        /// Its own number of the question.
        number: u32,
        /// JSON, as `public/python/host.py` reads it.
        question: String,
        /// How many seconds the answer may take.
        limit: f64,
    },
    /// Python answers questions from now on.
    Ready,
    /// The frame passed on an answer, or says why there is none.
    Answer {
        /// The hub's number of the question.
        id: u32,
        /// The answer.
        result: Result<Answer, String>,
    },
    /// Python could not be started, or broke down.
    Failed {
        /// Why.
        reason: String,
    },
    /// The user stops whatever runs.
    Stop,
    /// The time of a question is over.
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
    /// What was printed meanwhile.
    pub output: String,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Load Python: fetch the files and start the frame.
    Start,
    /// Pass a question to the frame.
    Send {
        /// The hub's number.
        id: u32,
        /// The question.
        question: String,
    },
    /// Send [`Event::TimedOut`] after this time.
    Limit {
        /// The hub's number of the question.
        id: u32,
        /// Seconds.
        seconds: f64,
    },
    /// Reply to an asker.
    Reply {
        /// The asker.
        to: Asker,
        /// Its own number of the question.
        number: u32,
        /// The answer, or why there is none.
        result: Result<Answer, String>,
    },
    /// End the Python worker; a new one takes over.
    Stop,
}

/// How far Python is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nobody has asked for it.
    #[default]
    Absent,
    /// It is being loaded.
    Loading,
    /// It answers.
    Ready,
}

/// A question without an answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    from: Asker,
    number: u32,
    limit: f64,
}

/// The open questions.
#[derive(Debug, Default)]
pub struct Hub {
    status: Status,
    last: u32,
    open: BTreeMap<u32, Open>,
}

impl Hub {
    /// How far Python is.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether a question is open.
    pub fn is_busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes in an event, and gives what is to be done, in order.
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
        // The worker that takes over says when it is ready.
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
        // The stopped worker's answer comes too late.
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
