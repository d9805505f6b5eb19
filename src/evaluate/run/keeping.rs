//! What an evaluation keeps of its cells, and when a cell counts as done.

use std::rc::Rc;

use volary_agent::evaluation::CellResult;
use volary_agent::evaluation::schedule::Why;

use super::{Run, trouble};
use crate::browser::database::{Change, DatabaseError};
use crate::browser::{self, timers};
use crate::storage;
use crate::storage::episodes::{self, StoredEpisode};
use crate::storage::evaluations::{self as kept, Draft};

/// What came of a cell.
pub(in crate::evaluate) struct Done {
    /// The result.
    pub(in crate::evaluate) result: CellResult,
    /// Its episode, if there is one.
    pub(in crate::evaluate) episode: Option<StoredEpisode>,
    /// From where it goes on if it is tried again.
    pub(in crate::evaluate) draft: Option<Draft>,
}

/// Whether the episodes of first tries are expected to be new.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstTries {
    New,
    MayBeThere,
}

impl Run {
    /// Stores what came of cells, and marks them as done; whoever cancels meanwhile changes nothing of that.
    pub(in crate::evaluate) fn keep(self: &Rc<Self>, done: Vec<Done>) {
        {
            let mut state = self.state.borrow_mut();
            for done in &done {
                state.models.remove(&done.result.cell);
                state.keeping.insert(done.result.cell);
            }
        }
        if let Some(trouble) = trouble::of_server(&done) {
            self.pause(Why::Trouble(trouble));
        }
        let run = Rc::clone(self);
        let mut state = self.state.borrow_mut();
        state.queue.extend(done);
        if !std::mem::replace(&mut state.is_serving, true) {
            browser::spawn(async move { run.serve().await });
        }
    }

    /// Stores what is in the queue. What arrives during a transaction is stored together in the next one.
    async fn serve(self: &Rc<Self>) {
        loop {
            self.planned().await;
            let queue = std::mem::take(&mut self.state.borrow_mut().queue);
            if queue.is_empty() {
                break;
            }
            self.kept(queue).await;
        }
        self.state.borrow_mut().is_serving = false;
    }

    /// What stores results and episodes.
    fn storing(&self, done: &[Done], first_tries: FirstTries) -> Vec<Change> {
        let (mut new, mut others) = (Vec::new(), Vec::new());
        for Done {
            result, episode, ..
        } in done
        {
            let is_new = result.tries <= 1 && first_tries == FirstTries::New;
            let episodes = if is_new { &mut new } else { &mut others };
            episodes.extend(episode.clone());
        }
        let mut changes = episodes::storing(new, others);
        changes.extend(
            done.iter()
                .map(|done| kept::keeping_result(&self.id, &done.result)),
        );
        changes.extend(done.iter().flat_map(|done| self.redrafting(done)));
        changes
    }

    /// What keeps or forgets a draft. What was never there need not be forgotten.
    fn redrafting(&self, done: &Done) -> Vec<Change> {
        let cell = done.result.cell;
        match &done.draft {
            Some(draft) => vec![kept::keeping_draft(&self.id, cell, draft)],
            None if self.state.borrow().drafts.contains_key(&cell) => {
                kept::forgetting_draft(&self.id, cell).into()
            }
            None => Vec::new(),
        }
    }

    async fn kept(self: &Rc<Self>, done: Vec<Done>) {
        let kept = match storage::write(self.storing(&done, FirstTries::New)).await {
            Err(DatabaseError::Taken) => {
                storage::write(self.storing(&done, FirstTries::MayBeThere)).await
            }
            kept => kept,
        };
        let was_well = self.state.borrow().is_kept;
        if let Err(error) = kept
            && was_well
        {
            self.state.borrow_mut().is_kept = false;
            self.pause(Why::Trouble(trouble::storage_trouble(&error)));
        }
        {
            let mut state = self.state.borrow_mut();
            let now = timers::now();
            for done in done {
                let (cell, counts) = (done.result.cell, done.result.is_finished());
                state.keeping.remove(&cell);
                match done.draft {
                    Some(draft) => state.drafts.insert(cell, draft),
                    None => state.drafts.remove(&cell),
                };
                state.results.insert(cell, done.result);
                state.schedule.ended(now, cell, counts);
            }
        }
        self.go_on();
    }
}
