//! What a person does with an evaluation: begins it, pauses it, gives up what is under way, tries again, sets
//! other limits, goes elsewhere.

use std::future::Future;
use std::rc::Rc;

use volary_agent::evaluation::plan::Pace;
use volary_agent::evaluation::schedule::Why;
use volary_agent::evaluation::{CellResult, Plan};

use super::{Run, pool};
use crate::browser::web_lock::{WebLock, acquire};
use crate::browser::{self, timers};
use crate::storage;
use crate::storage::evaluations as kept;

/// The claim on an evaluation; `None` if another tab has it.
pub(in crate::evaluate) async fn claimed(id: &str) -> Option<WebLock> {
    acquire(&format!("evaluation.{id}")).await
}

impl Run {
    /// Begins for the first time, while its plan is kept; what comes of it is kept after that.
    pub fn start(self: &Rc<Self>, kept: impl Future<Output = ()> + 'static) {
        {
            let mut state = self.state.borrow_mut();
            state.is_new = true;
            state.is_planned = false;
        }
        let run = Rc::clone(self);
        browser::spawn(async move {
            kept.await;
            run.state.borrow_mut().is_planned = true;
            run.go_on();
        });
        self.resume();
    }

    /// Begins, or goes on.
    pub fn resume(self: &Rc<Self>) {
        self.begin(false);
    }

    /// Tries again what broke off.
    pub fn retry_failures(self: &Rc<Self>) {
        self.begin(true);
    }

    /// Begins nothing more and sends no request; what is under way waits.
    pub fn pause(self: &Rc<Self>, why: Why) {
        self.state.borrow_mut().schedule.pause(timers::now(), why);
        self.go_on();
    }

    /// Pauses, and lets go what is under way once the answers that models were asked for have come.
    pub fn leave(self: &Rc<Self>) {
        self.state.borrow_mut().is_left = true;
        self.pause(Why::Asked);
    }

    /// Gives up what is under way. Requests are ended; what models did so far is kept as drafts.
    pub fn cancel(self: &Rc<Self>) {
        {
            let mut state = self.state.borrow_mut();
            state.schedule.pause(timers::now(), Why::Cancelled);
            state.waits.clear();
            for handle in std::mem::take(&mut state.models).into_values() {
                handle.abort();
            }
        }
        // Other workers: those may never come to an end.
        let fresh = Rc::new(pool(Rc::downgrade(self), &self.plan));
        drop(self.pool.replace(fresh));
        let mut state = self.state.borrow_mut();
        for cell in 0..self.plan.length() {
            if !state.keeping.contains(&cell) {
                state.schedule.returned(cell);
            }
        }
        drop(state);
        self.go_on();
    }

    /// Whether this tab has the claim on it: something is or may be under way.
    pub fn has_claim(&self) -> bool {
        self.state.borrow().claim.is_some()
    }

    /// The pace and the budget that hold now.
    pub fn pace(&self) -> Pace {
        *self.state.borrow().schedule.pace()
    }

    /// Sets another pace and budget, and keeps them; goes on with them if that is wanted.
    pub fn set_pace(self: &Rc<Self>, pace: Pace, and_resume: bool) {
        self.state.borrow_mut().schedule.set_pace(pace);
        self.go_on();
        let plan = Plan {
            pace,
            ..self.plan.clone()
        };
        let run = Rc::clone(self);
        browser::spawn(async move {
            // Refused storage is told by `storage::trouble`.
            let _ = storage::write(vec![kept::keeping_plan(&run.id, &plan)]).await;
            if and_resume {
                run.resume();
            }
        });
    }

    fn begin(self: &Rc<Self>, with_failures: bool) {
        {
            let mut state = self.state.borrow_mut();
            if std::mem::replace(&mut state.is_claiming, true) {
                return;
            }
            state.is_left = false;
            state.misses = 0;
        }
        // Nobody else knows of a new one: what can be begun is begun before anything is drawn.
        if self.state.borrow().is_new {
            self.state.borrow_mut().schedule.resume(timers::now());
            self.go_on();
        }
        let run = Rc::clone(self);
        browser::spawn(async move {
            let is_ours = run.claim().await;
            if is_ours {
                if with_failures {
                    run.free_failures().await;
                }
                run.state.borrow_mut().schedule.resume(timers::now());
            }
            run.state.borrow_mut().is_claiming = false;
            run.go_on();
        });
    }

    /// Makes sure that no other tab plays it, and learns what others did meanwhile.
    async fn claim(self: &Rc<Self>) -> bool {
        if self.state.borrow().claim.is_some() {
            return true;
        }
        let Some(claim) = claimed(&self.id).await else {
            self.pause(Why::Elsewhere);
            return false;
        };
        if std::mem::take(&mut self.state.borrow_mut().is_new) {
            self.state.borrow_mut().claim = Some(claim);
            return true;
        }
        let loaded = kept::load(&self.id).await;
        let mut state = self.state.borrow_mut();
        match loaded {
            Ok(Some(kept)) => {
                let drafts = kept.drafts.iter().map(|(cell, draft)| (*cell, draft.spent));
                state.schedule = state.schedule.renewed(&kept.plan, &kept.results, drafts);
                let results = kept.results.into_iter().map(|result| (result.cell, result));
                state.results = results.collect();
                state.drafts = kept.drafts.into_iter().collect();
            }
            Ok(None) => {
                let trouble = "This evaluation was deleted in another tab. Set up a new one.";
                let why = Why::Trouble(trouble.into());
                state.schedule.pause(timers::now(), why);
                return false;
            }
            // What stands in memory is all that there is, and the page says so.
            Err(_) => {}
        }
        state.claim = Some(claim);
        true
    }

    /// Lets all that failed wait again.
    async fn free_failures(&self) {
        let mut changes = Vec::new();
        {
            let mut state = self.state.borrow_mut();
            state.schedule.retry_failures();
            let failed = state
                .results
                .values()
                .filter(|result| !result.is_finished());
            let failed: Vec<CellResult> = failed.cloned().collect();
            for result in failed {
                state.results.remove(&result.cell);
                let draft = state.drafts.entry(result.cell).or_default();
                // What was spent counts, whatever came of it.
                draft.spent = result.spent;
                draft.tries = result.tries;
                changes.push(kept::keeping_draft(&self.id, result.cell, draft));
                changes.push(kept::forgetting_result(&self.id, result.cell));
            }
        }
        // Refused storage is told by `storage::trouble`.
        let _ = storage::write(changes).await;
    }
}
