//! One environment: its work, one piece after the other, in order of arrival.
//!
//! What always holds: at most one piece of work is done at a time. A panic or a timeout costs this
//! environment alone.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use tokio::sync::oneshot;
use volary_core::json::{Json, Text};

use crate::error::ApiError;
use crate::executor::{Executor, Outcome, Work};
use crate::server::{Place, Server};
use crate::worker::Started;

struct Job {
    work: Work,
    reply: oneshot::Sender<Outcome>,
}

enum State {
    /// Waits for work.
    Idle(Executor),
    /// Somebody works with it.
    Busy,
    /// Panicked or ran out of time, for this reason.
    Lost(Text),
}

/// An environment and the work that waits for it.
pub struct Mailbox {
    server: Arc<Server>,
    state: RefCell<State>,
    waiting: RefCell<VecDeque<Job>>,
    place: RefCell<Option<Arc<Place>>>,
    /// When it was last asked for, in seconds.
    pub last_used: Cell<f64>,
    /// When it last finished work, in seconds.
    pub last_done: Cell<f64>,
    /// When it was started, and its id.
    pub started: Started,
}

impl Mailbox {
    /// A slot for an environment that was just made.
    pub fn new(
        server: Arc<Server>,
        executor: Executor,
        place: Arc<Place>,
        started: Started,
    ) -> Rc<Self> {
        let now = (server.seconds)();
        Rc::new(Mailbox {
            server,
            state: RefCell::new(State::Idle(executor)),
            waiting: RefCell::default(),
            place: RefCell::new(Some(place)),
            last_used: Cell::new(now),
            last_done: Cell::new(now),
            started,
        })
    }

    /// Whether it is at work.
    pub fn is_busy(&self) -> bool {
        matches!(*self.state.borrow(), State::Busy)
    }

    /// Takes in work; `reply` gets its outcome. With too much waiting, more is refused.
    pub fn submit(self: &Rc<Self>, work: Work, reply: oneshot::Sender<Outcome>) {
        let job = Job { work, reply };
        match self.state.replace(State::Busy) {
            State::Idle(executor) => {
                let slot = Rc::clone(self);
                begin(async move { slot.work(executor, job).await });
            }
            State::Busy => {
                let mut waiting = self.waiting.borrow_mut();
                // Closing always finds its place, or nothing could be freed.
                if waiting.len() < self.server.options.queue || job.work == Work::Close {
                    waiting.push_back(job);
                } else {
                    let reason = "Too many requests wait for this environment; try again.";
                    answer(job.reply, Err(ApiError::Busy(reason.into())));
                }
            }
            State::Lost(reason) => {
                self.state.replace(State::Lost(Text::clone(&reason)));
                self.turn_down(job, &reason);
            }
        }
    }

    /// Does a job and then all that came in meanwhile.
    async fn work(&self, mut executor: Executor, mut job: Job) {
        loop {
            let last = job.work == Work::Close;
            let performed = self.in_time(executor.perform(job.work)).await;
            self.last_done.set((self.server.seconds)());
            match performed {
                Ok(outcome) if last => {
                    // Whoever hears that it is closed finds its place free.
                    drop(executor);
                    self.place.take();
                    return answer(job.reply, outcome);
                }
                Ok(outcome) => answer(job.reply, outcome),
                Err(reason) => {
                    drop(executor);
                    return self.lose(job.reply, last, reason);
                }
            }
            match self.waiting.borrow_mut().pop_front() {
                Some(next) => job = next,
                None => {
                    self.state.replace(State::Idle(executor));
                    return;
                }
            }
        }
    }

    async fn in_time(
        &self,
        work: impl Future<Output = Result<Outcome, Text>>,
    ) -> Result<Outcome, Text> {
        let Some(limit) = self.server.options.step_timeout else {
            return work.await;
        };
        tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            let reason = format!(
                "The environment did not answer within {seconds} seconds and is lost; start a new one."
            );
            Err(reason.into())
        })
    }

    fn lose(&self, reply: oneshot::Sender<Outcome>, closing: bool, reason: Text) {
        tracing::error!(id = %self.started.id, %reason, "environment lost");
        self.server.metrics.lost.inc();
        self.state.replace(State::Lost(Text::clone(&reason)));
        if closing {
            self.place.take();
        }
        answer(reply, Err(ApiError::Failed(Text::clone(&reason))));
        for job in self.waiting.take() {
            self.turn_down(job, &reason);
        }
    }

    /// What a lost environment answers: closing it is fine, all else is not.
    fn turn_down(&self, job: Job, reason: &Text) {
        let outcome = match job.work {
            Work::Close => {
                self.place.take();
                Ok(Json::Null)
            }
            _ => Err(ApiError::Failed(Text::clone(reason))),
        };
        answer(job.reply, outcome);
    }
}

/// Works as far as that goes without waiting, which is mostly to the end; a task is made only for
/// the rest.
fn begin(work: impl Future<Output = ()> + 'static) {
    let mut work = Box::pin(work);
    // Whoever is waited for is told again whom to wake when the task polls.
    let mut nobody = Context::from_waker(Waker::noop());
    if work.as_mut().poll(&mut nobody).is_pending() {
        tokio::task::spawn_local(work);
    }
}

/// A client that hung up needs no answer.
fn answer(reply: oneshot::Sender<Outcome>, outcome: Outcome) {
    let _ = reply.send(outcome);
}
