//! The signals that the page shows of an open evaluation.

use leptos::prelude::*;
use volary_agent::evaluation::{EvaluationPhase, Plan, Progress, Table};
use volary_app::evaluation::Evaluation;
use volary_core::quantity::plural;

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

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::plan::Pace;
    use volary_agent::evaluation::schedule::PauseReason;
    use volary_agent::evaluation::{Actor, PlannedPolicy, PlannedTask};
    use volary_app::evaluation::{Event, Head, Wait};
    use volary_core::json::Object;

    use super::*;

    /// An evaluation with two cells of a model, as it starts.
    fn running() -> Evaluation<()> {
        let task = |id: &str| PlannedTask {
            id: id.into(),
            title: id.into(),
            environment: "counter".into(),
            configuration: Object::new(),
        };
        let actor = Actor::Model {
            connection: "mine".into(),
            settings: Object::new(),
        };
        let plan = Plan {
            name: "A plan".into(),
            dataset: None,
            tasks: vec![task("a"), task("b")],
            policies: vec![PlannedPolicy {
                name: "mine".into(),
                actor,
                max_steps: 5,
            }],
            trials: 1,
            seed: 1,
            success: 1.0,
            pace: Pace::default(),
        };
        let head = Head {
            id: "run".into(),
            name: "A plan".into(),
            made: 0.0,
            total: 2,
            finished: 0,
            failed: 0,
            source: None,
            policies: Vec::new(),
        };
        let mut evaluation = Evaluation::new(head, plan);
        evaluation.update(0.0, Event::Resume);
        evaluation
    }

    #[test]
    fn the_first_wait_to_end_is_counted_down() {
        let mut evaluation = running();
        assert_eq!(waiting_text(0.0, &evaluation), "");
        let wait = |until: f64, why: &str| Wait {
            until,
            why: why.into(),
        };
        evaluation.wait(0, wait(12.5, " to stay within the rate limits."));
        let text = |evaluation: &Evaluation<()>, now: f64| waiting_text(now, evaluation);
        assert_eq!(
            text(&evaluation, 10.0),
            "Waiting 3 s to stay within the rate limits."
        );
        // The last second, and the moment after it, until the episode continues.
        for now in [11.9, 12.5, 13.0] {
            assert!(text(&evaluation, now).starts_with("Waiting 1 s"), "{now}");
        }
        evaluation.wait(1, wait(11.0, ", then retrying."));
        assert_eq!(
            text(&evaluation, 10.0),
            "Waiting 1 s (2 episodes wait), then retrying."
        );
        evaluation.update(10.0, Event::Pause(PauseReason::Asked));
        assert_eq!(text(&evaluation, 10.0), "");
    }
}
