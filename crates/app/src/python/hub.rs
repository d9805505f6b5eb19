//! The hub assigns the answers of the Python worker to the questions of its clients, and knows how far Python is.
//!
//! Several workers of the page, and the page itself, share one Python. Each asker numbers its own questions; the hub
//! assigns unique numbers, so that every answer reaches its asker and a late one is dropped.
//!
//! Invariants:
//! - Every question gets exactly one reply: an answer or an error.
//! - The timeout of a question runs only while Python is ready; loading has no timeout.
//! - After [`Effect::Stop`] no answer of the stopped worker is passed on, and nothing that it said of its start counts:
//!   the frame confirms with [`Event::Stopped`] before it reports on the replacement.
//! - After [`Event::Failed`] the frame is discarded, because its files may be damaged: the next question starts from the
//!   beginning.

use std::collections::BTreeMap;

/// The id of an asker: the port of a worker, or the page itself.
pub type PythonAsker = usize;

/// An input of the hub.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An asker sent a question.
    Ask {
        from: PythonAsker,
        /// The asker's number of the question.
        number: u32,
        /// The question as JSON, in the format of `public/python/host.py`.
        question: String,
        /// The timeout in seconds.
        limit: f64,
    },
    /// A chunk of Python's files was fetched.
    Fetched {
        /// The bytes fetched so far.
        bytes: f64,
        /// The bytes of all files.
        total: f64,
    },
    /// The worker that is being started has come this far, in its own words.
    Stage(String),
    /// Python accepts questions from now on.
    Ready,
    /// The frame has terminated the worker, as [`Effect::Stop`] demands. Its later reports are about the replacement.
    Stopped,
    /// The frame passed on an answer or an error.
    Answer {
        /// The hub's number of the question.
        id: u32,
        result: Result<PythonAnswer, String>,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonAnswer {
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
        to: PythonAsker,
        /// The asker's number of the question.
        number: u32,
        /// The answer or an error.
        result: Result<PythonAnswer, String>,
    },
    /// Terminate the Python worker; a new one replaces it.
    Stop,
    /// Remove the frame.
    Discard,
    /// Show what was printed.
    Print(String),
}

/// How far Python is, as the user sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PythonStatus {
    /// Not requested yet.
    #[default]
    Absent,
    /// The files are being fetched: bytes received, and all.
    Fetching(f64, f64),
    /// Python is starting; the text names the stage.
    Starting(&'static str),
    /// Python waits for a question.
    Idle,
    /// Python is answering a question.
    Busy,
    /// Python could not be started, or crashed.
    Failed(String),
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Absent,
    Fetching(f64, f64),
    Starting(&'static str),
    Ready,
    Failed(String),
}

/// The stage of a start of which nothing is known yet.
const STARTING: &str = "Starting Python";

/// An open question.
#[derive(Clone, Copy, Debug)]
struct Open {
    from: PythonAsker,
    number: u32,
    limit: f64,
}

/// The state of the hub.
#[derive(Debug, Default)]
pub struct PythonHub {
    phase: Phase,
    /// The number of [`Effect::Stop`] that the frame has not confirmed.
    unconfirmed_stops: u32,
    last: u32,
    open: BTreeMap<u32, Open>,
}

impl PythonHub {
    pub fn status(&self) -> PythonStatus {
        match &self.phase {
            Phase::Absent => PythonStatus::Absent,
            Phase::Fetching(bytes, total) => PythonStatus::Fetching(*bytes, *total),
            Phase::Starting(stage) => PythonStatus::Starting(stage),
            Phase::Ready if self.open.is_empty() => PythonStatus::Idle,
            Phase::Ready => PythonStatus::Busy,
            Phase::Failed(reason) => PythonStatus::Failed(reason.clone()),
        }
    }

    /// Applies an event and returns the effects in order.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Ask {
                from,
                number,
                question,
                limit,
            } => {
                let open = Open {
                    from,
                    number,
                    limit,
                };
                self.ask(open, question)
            }
            Event::Fetched { bytes, total } => {
                if self.is_loading() {
                    self.phase = Phase::Fetching(bytes, total);
                }
                Vec::new()
            }
            Event::Stage(stage) => {
                if self.is_loading() && self.unconfirmed_stops == 0 {
                    self.phase = Phase::Starting(match stage.as_str() {
                        "unpacking" => "Unpacking fhaviary",
                        "importing" => "Importing fhaviary",
                        _ => STARTING,
                    });
                }
                Vec::new()
            }
            Event::Ready => self.ready(),
            Event::Stopped => {
                self.unconfirmed_stops = self.unconfirmed_stops.saturating_sub(1);
                Vec::new()
            }
            Event::Answer { id, result } => self.answer(id, result),
            Event::Failed { reason } => {
                let mut effects = vec![Effect::Discard];
                effects.extend(self.close(&reason));
                self.phase = Phase::Failed(reason);
                // The discarded frame confirms nothing.
                self.unconfirmed_stops = 0;
                effects
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

    fn is_loading(&self) -> bool {
        matches!(self.phase, Phase::Fetching(..) | Phase::Starting(_))
    }

    fn ask(&mut self, open: Open, question: String) -> Vec<Effect> {
        self.last = self.last.wrapping_add(1);
        let id = self.last;
        self.open.insert(id, open);
        let send = Effect::Send { id, question };
        match self.phase {
            Phase::Absent | Phase::Failed(_) => {
                self.phase = Phase::Starting(STARTING);
                vec![Effect::Start, send]
            }
            Phase::Fetching(..) | Phase::Starting(_) => vec![send],
            Phase::Ready => vec![send, open.limited(id)],
        }
    }

    fn ready(&mut self) -> Vec<Effect> {
        // The questions of a worker that was ready already have their timeouts; one without a frame cannot be ready.
        if !self.is_loading() || self.unconfirmed_stops > 0 {
            return Vec::new();
        }
        self.phase = Phase::Ready;
        let open = self.open.iter();
        open.map(|(id, open)| open.limited(*id)).collect()
    }

    fn answer(&mut self, id: u32, result: Result<PythonAnswer, String>) -> Vec<Effect> {
        let printed = result.as_ref().map(|answer| answer.output.clone());
        let printed = printed.unwrap_or_default();
        let print = (!printed.is_empty()).then_some(Effect::Print(printed));
        let reply = self.open.remove(&id).map(|open| open.reply(result));
        print.into_iter().chain(reply).collect()
    }

    fn stop(&mut self, reason: &str) -> Vec<Effect> {
        match self.phase {
            Phase::Absent | Phase::Failed(_) => return Vec::new(),
            // The start goes on.
            Phase::Fetching(..) | Phase::Starting(_) => {}
            // The replacement reports when it is ready.
            Phase::Ready => self.phase = Phase::Starting(STARTING),
        }
        self.unconfirmed_stops += 1;
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
    fn limited(self, id: u32) -> Effect {
        let seconds = self.limit;
        Effect::Limit { id, seconds }
    }

    fn reply(self, result: Result<PythonAnswer, String>) -> Effect {
        Effect::Reply {
            to: self.from,
            number: self.number,
            result,
        }
    }
}

#[cfg(test)]
mod tests;
