//! What an evaluation keeps of its cells, and when a cell counts as done.

use std::rc::Rc;

use volary_agent::evaluation::schedule::Why;
use volary_agent::evaluation::{CellResult, episode_id};
use volary_trajectory::table::Row;

use super::{Run, trouble};
use crate::browser::database::{Change, KeptText, Parcel};
use crate::browser::{self, timers};
use crate::storage::evaluations::{self as kept, Draft};
use crate::storage::origin::EVALUATED;
use crate::storage::{self, episodes, write_ahead_log};

/// What came of a cell.
pub(in crate::evaluate) struct Done {
    /// The result.
    pub(in crate::evaluate) result: CellResult,
    /// Its episode, if there is one that stands in no parcel.
    pub(in crate::evaluate) episode: Option<(Row, KeptText)>,
    /// From where it goes on if it is tried again.
    pub(in crate::evaluate) draft: Option<Draft>,
}

impl Run {
    /// Keeps what came of cells, and marks them as done; whoever cancels meanwhile changes nothing of that. What
    /// is in the parcel need not be made of it again.
    pub(in crate::evaluate) fn keep(self: &Rc<Self>, done: Vec<Done>, parcel: Option<Parcel>) {
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
        let Some(parcel) = parcel else {
            browser::spawn(async move { run.kept(done, Vec::new()).await });
            return;
        };
        let mut state = self.state.borrow_mut();
        state.queue.push((done, parcel));
        if !std::mem::replace(&mut state.is_serving, true) {
            browser::spawn(async move { run.serve().await });
        }
    }

    /// Keeps what is in the queue. What comes while the browser keeps something is kept together after that: each
    /// transaction takes its time.
    async fn serve(self: &Rc<Self>) {
        loop {
            self.planned().await;
            let queue = std::mem::take(&mut self.state.borrow_mut().queue);
            if queue.is_empty() {
                break;
            }
            let (done, parcels): (Vec<_>, Vec<_>) = queue.into_iter().unzip();
            self.kept(done.into_iter().flatten().collect(), parcels)
                .await;
        }
        self.state.borrow_mut().is_serving = false;
    }

    /// What keeps it, if it does not stand in a parcel.
    fn keeping(&self, done: &Done) -> Vec<Change> {
        let result = &done.result;
        let mut changes = match &done.episode {
            Some((row, text)) if result.tries <= 1 => episodes::keeping_new(row, text, EVALUATED),
            Some((row, text)) => episodes::keeping(row, text, EVALUATED),
            None => Vec::new(),
        };
        changes.push(kept::keeping_result(&self.id, result));
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

    async fn kept(self: &Rc<Self>, done: Vec<Done>, parcels: Vec<Parcel>) {
        let drafts: Vec<Change> = done.iter().flat_map(|done| self.redrafting(done)).collect();
        self.planned().await;
        let kept = match (parcels.is_empty(), drafts.is_empty()) {
            (false, true) => write_ahead_log::keep(parcels).await,
            (false, false) => {
                // What former tries left goes first.
                let cells = done.iter().map(|done| done.result.cell);
                let former =
                    cells.map(|cell| episodes::forgetting_text(&episode_id(&self.id, cell)));
                match write_ahead_log::changes(&parcels) {
                    Ok(puts) => storage::write(former.chain(puts).chain(drafts).collect()).await,
                    Err(error) => Err(error),
                }
            }
            (true, _) => {
                let changes = done.iter().flat_map(|done| self.keeping(done));
                storage::write(changes.chain(drafts).collect()).await
            }
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
