//! What the page is told of an evaluation, a few times a second.

use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use volary_agent::evaluation::{Lane, Phase, Table};

use super::{Run, State};
use crate::browser::{self, timers};
use crate::projection::text::plural;
use crate::storage;
use crate::storage::evaluations::{self as kept, Head};

/// The least time between two notifications, in seconds.
const REST: f64 = 0.2;
/// Telling takes at most one part of so many of the time: tables of many thousand results take their time.
const SHARE: f64 = 10.0;

/// When the page is told next.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Due {
    /// Nothing is to be told.
    No,
    /// After a rest.
    Soon,
    /// At once: what a person waits for, and it comes but once.
    Now,
}

impl Run {
    /// Tells the page soon.
    pub(in crate::evaluate) fn tell(self: &Rc<Self>) {
        let (due, rest) = match self.state.borrow().schedule.phase() {
            Phase::Running => (Due::Soon, self.rest.get()),
            _ => (Due::Now, 0.0),
        };
        if self.due.get() >= due {
            return;
        }
        self.due.set(due);
        let wait = (self.told.get() + rest - timers::now()).clamp(0.0, rest);
        let run = Rc::clone(self);
        browser::spawn(async move {
            if wait > 0.0 {
                timers::sleep(Duration::try_from_secs_f64(wait).unwrap_or_default()).await;
            }
            if run.due.get() != due {
                // It was told at once meanwhile, or is about to be.
                return;
            }
            run.due.set(Due::No);
            let before = timers::now();
            run.tell_now();
            run.told.set(timers::now());
            run.rest
                .set(((timers::now() - before) * SHARE).clamp(REST, 10.0));
        });
    }

    fn tell_now(&self) {
        let state = self.state.borrow();
        let progress = state.schedule.progress(timers::now());
        let phase = state.schedule.phase().clone();
        let table = Table::new(&self.plan, state.results.values());
        let waiting = waiting_text(&state);
        let head = Head {
            total: progress.total,
            finished: progress.finished,
            failed: progress.failed,
            ..state.head.clone()
        };
        drop(state);
        self.shown.progress.set(progress);
        if self.shown.table.with_untracked(|known| *known != table) {
            self.shown.table.set(table);
        }
        if self.shown.waiting.with_untracked(|known| *known != waiting) {
            self.shown.waiting.set(waiting);
        }
        if self.shown.phase.with_untracked(|known| *known != phase) {
            self.shown.phase.set(phase);
        }
        self.keep_head(head);
    }

    /// The list of evaluations shows it. Without the claim another tab knows better.
    fn keep_head(&self, head: Head) {
        let mut state = self.state.borrow_mut();
        if state.claim.is_none() {
            return;
        }
        if state.head != head {
            state.head = head.clone();
            browser::spawn(async move {
                // Refused storage is told by `storage::trouble`.
                let _ = storage::write(vec![kept::keeping_head(&head)]).await;
            });
        }
        if state.is_quiet() {
            state.claim = None;
            self.pool.borrow().rest();
        }
    }
}

impl State {
    /// Whether nothing is under way, and nothing will be by itself.
    fn is_quiet(&self) -> bool {
        let lanes = [Lane::Local, Lane::Model];
        let under_way = lanes.map(|lane| self.schedule.under_way(lane));
        *self.schedule.phase() != Phase::Running
            && under_way == [0, 0]
            && self.keeping.is_empty()
            && !self.is_claiming
    }
}

/// What is waited for: the one that is over first, and how many there are.
fn waiting_text(state: &State) -> String {
    if *state.schedule.phase() != Phase::Running {
        return String::new();
    }
    let now = timers::now();
    let waits = state.waits.values();
    let first = waits.min_by(|one, other| one.until.total_cmp(&other.until));
    let Some(first) = first else {
        return String::new();
    };
    let seconds = (first.until - now).ceil().max(1.0);
    let count = match state.waits.len() {
        1 => String::new(),
        count => format!(" ({} wait)", plural(count, "episode")),
    };
    format!("Waiting {seconds:.0} s{count}{}", first.why)
}
