//! One environment: its work, one piece after the other, in order of arrival.
//!
//! What always holds: at most one future of an environment exists at a time, and while it does, the
//! environment is inside it. A panic or a timeout costs this environment alone.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot;
use volary_core::json::{Json, Text};
use volary_core::{AnyMessage, Environment};
use volary_remote::reply;

use crate::refusal::Refusal;

/// What an environment shall do.
#[derive(Debug)]
pub enum Work {
    /// Start a new episode.
    Reset,
    /// Take an action.
    Step(AnyMessage),
    /// Show its frame (an extension).
    Frame,
    /// Free what it holds; nothing comes after.
    Close,
}

/// The body of the reply, or why there is none.
pub type Outcome = Result<Json, Refusal>;

struct Job {
    work: Work,
    reply: oneshot::Sender<Outcome>,
}

enum State {
    /// Waits for work.
    Idle(Box<dyn Environment>),
    /// Its future has the environment.
    Busy,
    /// Panicked or ran out of time; what is left is the reason.
    Lost(Text),
}

/// An environment and the work that waits for it.
pub struct Slot {
    state: RefCell<State>,
    waiting: RefCell<VecDeque<Job>>,
    /// When it was last used, in seconds.
    pub last_used: Cell<f64>,
    /// Its place in the order of all starts.
    pub order: u64,
}

impl Slot {
    /// A slot for an environment that was just made.
    pub fn new(environment: Box<dyn Environment>, order: u64, now: f64) -> Rc<Self> {
        Rc::new(Slot {
            state: RefCell::new(State::Idle(environment)),
            waiting: RefCell::new(VecDeque::new()),
            last_used: Cell::new(now),
            order,
        })
    }

    /// Takes in work; `reply` gets its outcome. With `limit` pieces waiting, more is refused.
    pub fn submit(
        self: &Rc<Self>,
        work: Work,
        reply: oneshot::Sender<Outcome>,
        limit: usize,
        timeout: Duration,
    ) {
        let job = Job { work, reply };
        match self.state.replace(State::Busy) {
            State::Idle(environment) => {
                let slot = Rc::clone(self);
                tokio::task::spawn_local(async move { slot.work(environment, job, timeout).await });
            }
            State::Busy => {
                let mut waiting = self.waiting.borrow_mut();
                // Closing always finds its place, or nothing could be freed.
                if waiting.len() < limit || matches!(job.work, Work::Close) {
                    waiting.push_back(job);
                } else {
                    answer(
                        job.reply,
                        Err(Refusal::Busy(
                            "Too many requests wait for this environment.",
                        )),
                    );
                }
            }
            State::Lost(reason) => {
                answer(job.reply, lost(&job.work, &reason));
                self.state.replace(State::Lost(reason));
            }
        }
    }

    /// Does a job and then all that came in meanwhile.
    async fn work(&self, mut environment: Box<dyn Environment>, mut job: Job, timeout: Duration) {
        loop {
            match guarded(environment, job.work, timeout).await {
                Ok((kept, outcome)) => {
                    answer(job.reply, outcome);
                    environment = kept;
                }
                Err(reason) => {
                    tracing::error!(%reason, "environment lost");
                    self.state.replace(State::Lost(reason.clone()));
                    answer(job.reply, Err(Refusal::Failed(reason.to_string())));
                    for job in self.waiting.take() {
                        answer(job.reply, lost(&job.work, &reason));
                    }
                    return;
                }
            }
            match self.waiting.borrow_mut().pop_front() {
                Some(next) => job = next,
                None => {
                    self.state.replace(State::Idle(environment));
                    return;
                }
            }
        }
    }
}

/// Does one piece of work. A panic or a timeout gives the reason why the environment is lost.
async fn guarded(
    environment: Box<dyn Environment>,
    work: Work,
    timeout: Duration,
) -> Result<(Box<dyn Environment>, Outcome), Text> {
    let done = AssertUnwindSafe(perform(environment, work)).catch_unwind();
    match tokio::time::timeout(timeout, done).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => Err(format!(
            "The environment panicked and is lost; start a new one. It said: {}",
            panic_text(&*panic)
        )
        .into()),
        Err(_) => Err(format!(
            "The environment did not answer within {} seconds and is lost; start a new one.",
            timeout.as_secs_f64()
        )
        .into()),
    }
}

/// What a lost environment answers: closing it is fine, all else is not.
fn lost(work: &Work, reason: &str) -> Outcome {
    match work {
        Work::Close => Ok(Json::Null),
        _ => Err(Refusal::Failed(reason.to_owned())),
    }
}

async fn perform(
    mut environment: Box<dyn Environment>,
    work: Work,
) -> (Box<dyn Environment>, Outcome) {
    let outcome = match work {
        Work::Reset => match environment.reset().await {
            Ok(reset) => reply::reset_to_json(&reset).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        },
        Work::Step(action) => match environment.step(action).await {
            Ok(step) => reply::step_to_json(&step).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        },
        Work::Frame => Ok(Json::Object(environment.export_frame().dump())),
        Work::Close => match environment.close().await {
            Ok(()) => Ok(Json::Null),
            Err(error) => Err(error.to_string()),
        },
    };
    (environment, outcome.map_err(Refusal::Failed))
}

/// A client that hung up needs no answer.
fn answer(reply: oneshot::Sender<Outcome>, outcome: Outcome) {
    let _ = reply.send(outcome);
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "nothing"
    }
}
