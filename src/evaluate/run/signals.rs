//! The signals that the page shows of an open evaluation.

use leptos::prelude::*;
use volary_agent::evaluation::{EvaluationPhase, Plan, Progress, Table};
use volary_app::evaluation::Evaluation;

use crate::projection::text::plural;

/// Signals of an open evaluation, updated a few times a second.
#[derive(Clone, Copy)]
pub struct RunSignals {
    pub phase: RwSignal<EvaluationPhase>,
    pub progress: RwSignal<Progress>,
    /// The table of results.
    pub table: RwSignal<Table>,
    /// The time until the next model call and the reason, as text; empty if no call is delayed.
    pub waiting: RwSignal<String>,
}

impl RunSignals {
    pub(super) fn new<E>(evaluation: &Evaluation<E>, plan: &Plan) -> RunSignals {
        // The signals have their own root owner: an evaluation continues while other pages are shown, and views may
        // briefly outlive it.
        let owner = Owner::new_root(None);
        let shown = owner.with(|| RunSignals {
            phase: RwSignal::new(evaluation.phase().clone()),
            progress: RwSignal::new(evaluation.progress(0.0)),
            table: RwSignal::new(Table::new(plan, evaluation.results().values())),
            waiting: RwSignal::new(String::new()),
        });
        std::mem::forget(owner);
        shown
    }

    pub(super) fn update<E>(&self, now: f64, evaluation: &Evaluation<E>, plan: &Plan) -> Update {
        Update {
            shown: *self,
            phase: evaluation.phase().clone(),
            progress: evaluation.progress(now),
            table: Table::new(plan, evaluation.results().values()),
            waiting: waiting_text(now, evaluation),
        }
    }
}

/// A snapshot for the signals. It is computed first and set when the evaluation is no longer borrowed, because effects
/// of the signals may access it.
pub(super) struct Update {
    shown: RunSignals,
    phase: EvaluationPhase,
    progress: Progress,
    table: Table,
    waiting: String,
}

impl Update {
    pub(super) fn set(self) {
        let shown = self.shown;
        shown.progress.set(self.progress);
        set_if_changed(shown.table, self.table);
        set_if_changed(shown.waiting, self.waiting);
        set_if_changed(shown.phase, self.phase);
    }
}

fn set_if_changed<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|known| *known != value) {
        signal.set(value);
    }
}

/// The wait that ends first, and the number of waiting episodes.
fn waiting_text<E>(now: f64, evaluation: &Evaluation<E>) -> String {
    let Some((first, waiting)) = evaluation.first_wait() else {
        return String::new();
    };
    let seconds = (first.until - now).ceil().max(1.0);
    let count = match waiting {
        1 => String::new(),
        count => format!(" ({} wait)", plural(count, "episode")),
    };
    format!("Waiting {seconds:.0} s{count}{}", first.why)
}
