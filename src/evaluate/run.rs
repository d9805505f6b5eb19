//! An evaluation that is open: schedule, workers and storage together. It begins what the schedule says, keeps
//! what comes of it, and tells the page a few times a second.
//!
//! - [`control`]: what a person does with it; [`keeping`]: what is kept of it; [`notice`]: what the page is told;
//!   [`changes`]: who waits for changes.
//!
//! What always holds: a cell counts as done once its episode and its result are kept (or, where the browser
//! keeps nothing, stand in memory); what was begun and is not done waits again. Nothing is under way without
//! the claim on the evaluation, which one tab has at a time.

mod changes;
mod control;
mod keeping;
mod notice;
mod trouble;

pub(super) use control::claimed;
pub(super) use keeping::Done;

use std::cell::{Cell as Counter, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures_util::future::{AbortHandle, abortable};
use leptos::prelude::*;
use volary_agent::evaluation::schedule::Why;
use volary_agent::evaluation::{
    CellResult, Failure, FailureKind, Job, Lane, Phase, Plan, Progress, Schedule, Table, episode_id,
};
use volary_core::json::Text;

use super::model_episode;
use super::pool::{News, Pool};
use super::remote_environments;
use crate::browser;
use crate::browser::web_lock::WebLock;
use crate::storage::episodes::StoredEpisode;
use crate::storage::evaluations::{Draft, Head, Kept};
use changes::Changes;

/// How long an episode without a model may take, in seconds.
const LONGEST_EPISODE: f64 = 120.0;

/// What the page shows of an evaluation that is open.
#[derive(Clone, Copy)]
pub struct Shown {
    /// How it stands.
    pub phase: RwSignal<Phase>,
    /// How far it is.
    pub progress: RwSignal<Progress>,
    /// What the results say.
    pub table: RwSignal<Table>,
    /// What is waited for before more is asked; empty if nothing is.
    pub waiting: RwSignal<String>,
}

/// An evaluation that is open.
pub struct Run {
    /// Its id.
    pub id: Text,
    /// Its plan.
    pub plan: Plan,
    /// What the page shows of it.
    pub shown: Shown,
    pub(super) pool: RefCell<Rc<Pool>>,
    pub(super) state: RefCell<State>,
    changes: Changes,
    /// When the page will be told.
    due: Counter<notice::Due>,
    told: Counter<f64>,
    /// How long the page is left alone between two notifications, in seconds.
    rest: Counter<f64>,
}

pub(super) struct State {
    pub(super) schedule: Schedule,
    pub(super) results: BTreeMap<usize, CellResult>,
    pub(super) drafts: BTreeMap<usize, Draft>,
    head: Head,
    /// So many cells are played alone, since one of them broke a worker.
    careful: usize,
    models: BTreeMap<usize, AbortHandle>,
    /// Cells that are done and on their way into the storage: nothing takes them back.
    keeping: BTreeSet<usize>,
    /// What is kept next, when what is being kept is.
    queue: Vec<Done>,
    is_serving: bool,
    /// Whether the plan is kept: no result is kept before it.
    is_planned: bool,
    /// Whether the browser kept all that it was given.
    is_kept: bool,
    /// While anything may be under way.
    claim: Option<WebLock>,
    is_claiming: bool,
    /// Whether it was just made, so that no other tab can know of it.
    pub(super) is_new: bool,
    /// Whether the person went elsewhere: what models are asked comes to its end, and no more.
    pub(super) is_left: bool,
    /// How many episodes of models failed in a row.
    misses: usize,
    /// What cells wait for before they ask their models.
    pub(super) waits: BTreeMap<usize, Wait>,
}

/// Why a cell waits.
pub(super) struct Wait {
    /// Until when, on the page's clock, in seconds.
    pub(super) until: f64,
    /// For people, as it goes on after "Waiting 3 s".
    pub(super) why: Text,
}

impl Run {
    /// Opens an evaluation as it was left. It is paused.
    pub fn open(kept: Kept) -> Rc<Run> {
        let drafts = kept.drafts.iter().map(|(cell, draft)| (*cell, draft.spent));
        let schedule = Schedule::new(&kept.plan, &kept.results, drafts);
        // Of nobody's: it goes on while other pages are shown, and views may outlive it by a moment.
        let owner = Owner::new_root(None);
        let shown = owner.with(|| Shown {
            phase: RwSignal::new(schedule.phase().clone()),
            progress: RwSignal::new(schedule.progress(0.0)),
            table: RwSignal::new(Table::new(&kept.plan, &kept.results)),
            waiting: RwSignal::new(String::new()),
        });
        std::mem::forget(owner);
        let results = kept.results.into_iter().map(|result| (result.cell, result));
        Rc::new_cyclic(|run: &std::rc::Weak<Run>| Run {
            id: kept.head.id.clone(),
            shown,
            pool: RefCell::new(Rc::new(pool(run.clone(), &kept.plan))),
            plan: kept.plan,
            state: RefCell::new(State {
                schedule,
                results: results.collect(),
                drafts: kept.drafts.into_iter().collect(),
                head: kept.head,
                careful: 0,
                models: BTreeMap::new(),
                keeping: BTreeSet::new(),
                queue: Vec::new(),
                is_serving: false,
                is_planned: true,
                is_kept: true,
                claim: None,
                is_claiming: false,
                is_new: false,
                is_left: false,
                misses: 0,
                waits: BTreeMap::new(),
            }),
            changes: Changes::default(),
            due: Counter::new(notice::Due::No),
            told: Counter::new(0.0),
            rest: Counter::new(0.0),
        })
    }

    /// The names of its policies, in order.
    pub fn policy_names(&self) -> Vec<String> {
        let policies = self.plan.policies.iter();
        policies.map(|policy| policy.name.to_string()).collect()
    }

    /// The results so far, by cell.
    pub fn results(&self) -> Vec<CellResult> {
        self.state.borrow().results.values().cloned().collect()
    }

    /// The result of a cell.
    pub fn result(&self, cell: usize) -> Option<CellResult> {
        self.state.borrow().results.get(&cell).cloned()
    }

    /// Resolves when something has changed.
    pub(super) async fn changed(&self) {
        self.changes.next().await;
    }

    /// Resolves when the plan is kept.
    pub(super) async fn planned(&self) {
        while !self.state.borrow().is_planned {
            self.changed().await;
        }
    }

    /// Begins what can be begun, wakes who waits, tells the page.
    pub(super) fn go_on(self: &Rc<Self>) {
        let pool = Rc::clone(&self.pool.borrow());
        let (careful, waiting) = {
            let state = self.state.borrow();
            (state.careful > 0, state.schedule.waiting(Lane::Local))
        };
        pool.fill(careful, LONGEST_EPISODE, waiting, &mut |most| {
            let mut state = self.state.borrow_mut();
            let cells = state.schedule.begin(Lane::Local, most);
            state.careful = state.careful.saturating_sub(cells.len());
            let jobs = cells.into_iter().filter_map(|cell| {
                let tries = state.drafts.get(&cell).map_or(0, |draft| draft.tries);
                Job::of(&self.id, &self.plan, self.plan.cell(cell)?, tries)
            });
            jobs.collect()
        });
        let models = self
            .state
            .borrow_mut()
            .schedule
            .begin(Lane::Model, usize::MAX);
        for cell in models {
            let (episode, handle) = abortable(model_episode::play(Rc::clone(self), cell));
            self.state.borrow_mut().models.insert(cell, handle);
            browser::spawn(async move {
                // Who aborts it has said so.
                let _ = episode.await;
            });
        }
        self.changes.tell();
        self.tell();
    }

    /// A model's episode is given up for now: its cell waits again, and goes on from the steps that are kept.
    pub(super) fn hand_back(self: &Rc<Self>, cell: usize) {
        let mut state = self.state.borrow_mut();
        state.models.remove(&cell);
        state.waits.remove(&cell);
        state.schedule.returned(cell);
        drop(state);
        self.go_on();
    }

    /// A model's episode came to an end, well or badly. Where one after the other fails, no more are begun.
    pub(super) fn ended(self: &Rc<Self>, failure: Option<&Failure>) {
        let misses = {
            let mut state = self.state.borrow_mut();
            state.misses = match failure {
                None => 0,
                Some(_) => state.misses + 1,
            };
            state.misses
        };
        if let Some(failure) = failure
            && let Some(trouble) = trouble::of_failures(failure, misses)
        {
            self.pause(Why::Trouble(trouble));
        }
    }

    fn hear(self: &Rc<Self>, news: News) {
        match news {
            News::Played { results, texts } => {
                let mut texts = texts.into_iter();
                let done = results.into_iter().map(|result| {
                    let (row, text) = (texts.next(), texts.next());
                    let episode = row.zip(text).filter(|(row, _)| row.length() > 0);
                    let id = episode_id(&self.id, result.cell).to_string();
                    Done {
                        result,
                        episode: episode.map(|(row, text)| StoredEpisode { id, row, text }),
                        draft: None,
                    }
                });
                self.keep(done.collect());
                // The worker may have more to do meanwhile.
                self.go_on();
            }
            News::Left(cells) => {
                let mut state = self.state.borrow_mut();
                cells
                    .into_iter()
                    .for_each(|cell| state.schedule.returned(cell));
                drop(state);
                self.go_on();
            }
            News::Lost { cells, message } => self.lose(cells.into_iter().collect(), &message),
        }
    }

    fn lose(self: &Rc<Self>, cells: Vec<usize>, message: &str) {
        if let [cell] = cells[..] {
            let tries = self
                .state
                .borrow()
                .drafts
                .get(&cell)
                .map_or(0, |draft| draft.tries);
            let failure = Failure {
                kind: FailureKind::Environment,
                message: message.into(),
            };
            let result = CellResult::failed(cell, failure, 0.0, Default::default(), tries + 1);
            let done = Done {
                result,
                episode: None,
                draft: None,
            };
            self.keep(vec![done]);
            return;
        }
        {
            let mut state = self.state.borrow_mut();
            // One of them broke the worker; alone, they tell which.
            state.careful += cells.len();
            for cell in cells {
                state.schedule.returned(cell);
            }
        }
        self.go_on();
    }
}

fn pool(run: std::rc::Weak<Run>, plan: &Plan) -> Pool {
    Pool::new(
        remote_environments::is_meant(plan),
        plan.length(),
        move |news| {
            if let Some(run) = run.upgrade() {
                run.hear(news);
            }
        },
    )
}
