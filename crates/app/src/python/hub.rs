//! The hub assigns the answers of the Python workers to the questions of their clients, decides which Python workers
//! there are, and knows how far Python is.
//!
//! Several workers of the page, and the page itself, ask. Each asker numbers its own questions; the hub assigns unique
//! numbers, so that every answer reaches its asker and a late one is dropped.
//!
//! Invariants:
//! - Each source of code has a Python worker of its own, because code can change everything in its interpreter: what it
//!   does there changes no result of another source.
//! - There are at most [`MOST_WORKERS`]. One more ends the one that was not used for the longest time; its environments
//!   are gone, and questions about them are answered with [`NOT_LOADED`].
//! - Only loading a file starts a worker, so closing an environment that is gone starts none.
//! - Every question gets exactly one reply: an answer or an error.
//! - The timeout of a question begins when a worker receives it; starting a worker has no timeout.
//! - After [`Effect::End`] no answer of that worker is passed on.
//! - After [`Event::Failed`] the frame is discarded, because its files may be damaged: the next question starts from the
//!   beginning.

use std::collections::BTreeMap;

use volary_core::json;

/// The status of a question about a file that is not loaded, in an answer like those of `public/python/host.py`.
pub const NOT_LOADED: u16 = 409;
/// The maximum number of Python workers with code; each takes about 100 MB. The frame has a spare one in addition.
pub const MOST_WORKERS: usize = 3;

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
        question: PythonQuestion,
        /// The timeout in seconds.
        limit: f64,
    },
    /// Python will be needed soon.
    WarmUp,
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
    /// A worker received a question.
    Received {
        /// The hub's number of the question.
        id: u32,
    },
    /// The frame passed on an answer or an error.
    Answer {
        /// The hub's number of the question.
        id: u32,
        result: Result<PythonAnswer, String>,
    },
    /// The worker of a source crashed.
    Ended { source: String, reason: String },
    /// Python could not be started.
    Failed { reason: String },
    /// The user stopped Python.
    Stop,
    /// The timeout of a question has passed.
    TimedOut {
        /// The hub's number of the question.
        id: u32,
    },
}

/// A question to the Python worker of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonQuestion {
    /// The source: the name of the environment, which contains the whole hash of its code and wheels.
    pub source: String,
    /// Whether it loads the file, so that a worker is started for it.
    pub loads: bool,
    /// The question as JSON, in the format of `public/python/host.py`.
    pub text: String,
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
    /// Pass a question to the worker of a source, which is started if there is none.
    Send {
        /// The hub's number.
        id: u32,
        source: String,
        text: String,
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
    /// Terminate the worker of a source.
    End { source: String },
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
    /// Python could not be started.
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
#[derive(Clone, Debug)]
struct Open {
    from: PythonAsker,
    number: u32,
    source: String,
    limit: f64,
}

/// The state of the hub.
#[derive(Debug, Default)]
pub struct PythonHub {
    phase: Phase,
    last: u32,
    open: BTreeMap<u32, Open>,
    /// The sources that have a worker, the least recently used first.
    sources: Vec<String>,
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
                    source: question.source,
                    limit,
                };
                self.ask(open, question.loads, question.text)
            }
            Event::WarmUp => self.start(),
            Event::Fetched { bytes, total } => {
                if self.is_loading() {
                    self.phase = Phase::Fetching(bytes, total);
                }
                Vec::new()
            }
            Event::Stage(stage) => {
                if self.is_loading() {
                    self.phase = Phase::Starting(match stage.as_str() {
                        "unpacking" => "Unpacking fhaviary",
                        "importing" => "Importing fhaviary",
                        _ => STARTING,
                    });
                }
                Vec::new()
            }
            Event::Ready => {
                // Without a frame nothing can be ready.
                if self.is_loading() {
                    self.phase = Phase::Ready;
                }
                Vec::new()
            }
            Event::Received { id } => {
                let limit = self.open.get(&id).map(|open| open.limit);
                let limit = limit.map(|seconds| Effect::Limit { id, seconds });
                limit.into_iter().collect()
            }
            Event::Answer { id, result } => self.answer(id, result),
            Event::Ended { source, reason } => {
                if self.sources.contains(&source) {
                    // A question that was sent meanwhile has started a worker without the file.
                    self.end(source, &reason)
                } else {
                    Vec::new()
                }
            }
            Event::Failed { reason } => {
                self.sources.clear();
                let open = std::mem::take(&mut self.open).into_values();
                let replies = open.map(|open| open.reply(Err(reason.clone())));
                let effects = std::iter::once(Effect::Discard).chain(replies).collect();
                self.phase = Phase::Failed(reason);
                effects
            }
            Event::Stop => {
                let sources = std::mem::take(&mut self.sources).into_iter();
                let ended = sources.flat_map(|source| self.end(source, "Python was stopped."));
                ended.collect()
            }
            Event::TimedOut { id } => {
                let Some(open) = self.open.get(&id) else {
                    return Vec::new();
                };
                let reason = format!(
                    "Python did not respond within {} s and was stopped.",
                    open.limit
                );
                self.end(open.source.clone(), &reason)
            }
        }
    }

    fn is_loading(&self) -> bool {
        matches!(self.phase, Phase::Fetching(..) | Phase::Starting(_))
    }

    /// Loads Python unless it is loaded.
    fn start(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Absent | Phase::Failed(_) => {
                self.phase = Phase::Starting(STARTING);
                vec![Effect::Start]
            }
            Phase::Fetching(..) | Phase::Starting(_) | Phase::Ready => Vec::new(),
        }
    }

    fn ask(&mut self, open: Open, loads: bool, text: String) -> Vec<Effect> {
        let place = self.sources.iter().position(|used| *used == open.source);
        if place.is_none() && !loads {
            return vec![open.reply(Ok(not_loaded()))];
        }
        let mut effects = self.start();
        match place {
            Some(place) => drop(self.sources.remove(place)),
            None if self.sources.len() >= MOST_WORKERS => effects.extend(self.make_room()),
            None => {}
        }
        self.sources.push(open.source.clone());
        self.last = self.last.wrapping_add(1);
        let id = self.last;
        effects.push(Effect::Send {
            id,
            source: open.source.clone(),
            text,
        });
        self.open.insert(id, open);
        effects
    }

    /// Ends the worker that was not used for the longest time, preferably one that answers nothing now.
    fn make_room(&mut self) -> Vec<Effect> {
        let is_idle = |source: &String| self.open.values().all(|open| open.source != *source);
        let idle = self.sources.iter().find(|source| is_idle(source));
        let Some(source) = idle.or(self.sources.first()).cloned() else {
            return Vec::new();
        };
        let reason = "Its Python was ended, because too many other files are run at the same time.";
        self.end(source, reason)
    }

    fn answer(&mut self, id: u32, result: Result<PythonAnswer, String>) -> Vec<Effect> {
        let printed = result.as_ref().map(|answer| answer.output.clone());
        let printed = printed.unwrap_or_default();
        let print = (!printed.is_empty()).then_some(Effect::Print(printed));
        let reply = self.open.remove(&id).map(|open| open.reply(result));
        print.into_iter().chain(reply).collect()
    }

    /// Ends the worker of a source; its open questions fail.
    fn end(&mut self, source: String, reason: &str) -> Vec<Effect> {
        self.sources.retain(|other| *other != source);
        let closed = self.open.extract_if(.., |_, open| open.source == source);
        let replies = closed.map(|(_, open)| open.reply(Err(reason.to_owned())));
        let replies: Vec<Effect> = replies.collect();
        std::iter::once(Effect::End { source })
            .chain(replies)
            .collect()
    }
}

impl Open {
    fn reply(self, result: Result<PythonAnswer, String>) -> Effect {
        Effect::Reply {
            to: self.from,
            number: self.number,
            result,
        }
    }
}

/// The answer to a question about a file that no worker has loaded.
fn not_loaded() -> PythonAnswer {
    let status = i64::from(NOT_LOADED);
    let answer = json!({"status": status, "body": {"detail": "The file is not loaded."}});
    PythonAnswer {
        text: answer.to_compact_text(),
        output: String::new(),
    }
}

#[cfg(test)]
mod tests;
