//! Evaluations: the state after each event, and its effects.

use std::collections::BTreeSet;

use proptest::prelude::*;
use volary_agent::evaluation::{Actor, PlannedPolicy, PlannedTask, Status};
use volary_agent::model::limits::Budget;
use volary_core::object;

use super::*;

/// An episode as the page stores it.
type Episode = &'static str;

pub(super) fn plan(tasks: usize, actor: &Actor) -> Plan {
    let task = |number: usize| PlannedTask {
        id: number.to_string().into(),
        title: format!("Task {number}").into(),
        environment: "dummy".into(),
        configuration: object!({}),
    };
    Plan {
        name: "A plan".into(),
        dataset: None,
        tasks: (0..tasks).map(task).collect(),
        policies: vec![PlannedPolicy {
            name: "policy".into(),
            actor: actor.clone(),
            max_steps: 5,
        }],
        trials: 1,
        seed: 1,
        success: 1.0,
        pace: Pace::default(),
    }
}

fn model() -> Actor {
    Actor::Model {
        connection: "mine".into(),
        settings: object!({}),
    }
}

pub(super) fn head() -> Head {
    Head {
        id: "0abc".into(),
        name: "A plan".into(),
        ..Head::default()
    }
}

fn stored(plan: Plan, results: Vec<CellResult>) -> Kept {
    Kept {
        head: head(),
        plan,
        results,
        drafts: Vec::new(),
    }
}

pub(super) fn finished(cell: usize) -> CellResult {
    CellResult {
        cell,
        status: Status::Finished {
            ending: "done".into(),
        },
        reward: 1.0,
        spent: Spent::default(),
        attempts: 1,
        model: None,
    }
}

pub(super) fn failed(cell: usize, kind: FailureKind) -> CellResult {
    let failure = Failure {
        kind,
        message: "It failed.".into(),
    };
    CellResult::failed(cell, failure, 0.0, Spent::default(), 1)
}

fn done(result: CellResult) -> Done<Episode> {
    Done {
        result,
        episode: Some("an episode"),
        draft: None,
    }
}

/// An evaluation, and the effects of its events, without the effects that every event has.
struct Machine {
    evaluation: Evaluation<Episode>,
    now: f64,
}

impl Machine {
    /// An evaluation with `cells` cells that need no model, played by this tab.
    fn running(cells: usize) -> Machine {
        let mut machine = Machine::of(Evaluation::stored(stored(
            plan(cells, &Actor::Random),
            Vec::new(),
        )));
        machine.run();
        machine
    }

    fn of(evaluation: Evaluation<Episode>) -> Machine {
        Machine {
            evaluation,
            now: 0.0,
        }
    }

    fn run(&mut self) {
        let plan = self.evaluation.plan.clone();
        let results = self.evaluation.results.values().cloned().collect();
        assert_eq!(self.update(Event::Resume), [Effect::RequestLock]);
        assert_eq!(self.update(Event::LockGranted), [Effect::Reload]);
        let kept = Reloaded::Found(Box::new(stored(plan, results)));
        self.update(Event::Reloaded(kept));
        assert_eq!(*self.evaluation.phase(), EvaluationPhase::Running);
    }

    fn update(&mut self, event: Event<Episode>) -> Vec<Effect<Episode>> {
        self.now += 1.0;
        let mut effects = self.evaluation.update(self.now, event);
        effects.retain(|effect| !matches!(effect, Effect::FillWorkers | Effect::Changed));
        effects
    }

    /// The cells of the jobs that workers get.
    fn begin(&mut self, most: usize) -> Vec<usize> {
        let jobs = self.evaluation.begin_local(most);
        jobs.into_iter().map(|job| job.cell).collect()
    }

    fn played(&mut self, done: Vec<Done<Episode>>) -> Vec<Effect<Episode>> {
        let generation = self.evaluation.generation;
        self.update(Event::Played { generation, done })
    }

    fn lost(&mut self, cells: Vec<usize>) -> Vec<Effect<Episode>> {
        self.update(Event::WorkerLost {
            generation: self.evaluation.generation,
            cells,
            message: "The worker crashed.".into(),
        })
    }

    fn result_cells(&self) -> Vec<usize> {
        self.evaluation.results().keys().copied().collect()
    }
}

fn storing(effects: &[Effect<Episode>]) -> Vec<usize> {
    let results = effects.iter().filter_map(|effect| match effect {
        Effect::StoreResults(results) => Some(results),
        _ => None,
    });
    results.flatten().map(|stored| stored.result.cell).collect()
}

fn pauses(machine: &Machine) -> Option<&PauseReason> {
    match machine.evaluation.phase() {
        EvaluationPhase::Paused(why) => Some(why),
        EvaluationPhase::Running | EvaluationPhase::Finished => None,
    }
}

#[test]
fn a_new_evaluation_starts_before_the_lock_and_is_stored_after_its_plan() {
    let mut machine = Machine::of(Evaluation::new(head(), plan(2, &Actor::Random)));
    assert_eq!(machine.update(Event::Resume), [Effect::RequestLock]);
    assert_eq!(machine.begin(9), [0, 1]);
    assert!(!machine.evaluation.has_lock());
    assert_eq!(machine.played(vec![done(finished(0))]), []);
    assert_eq!(machine.update(Event::LockGranted), []);
    assert!(machine.evaluation.has_lock());
    assert_eq!(storing(&machine.update(Event::PlanStored)), [0]);
    assert_eq!(machine.result_cells(), [0; 0], "it is not stored yet");
    machine.update(Event::Stored(Ok(())));
    assert_eq!(machine.result_cells(), [0]);
}

#[test]
fn results_that_arrive_while_others_are_stored_are_stored_together() {
    let mut machine = Machine::running(4);
    machine.begin(9);
    assert_eq!(storing(&machine.played(vec![done(finished(0))])), [0]);
    assert_eq!(machine.played(vec![done(finished(1))]), []);
    assert_eq!(machine.played(vec![done(finished(2))]), []);
    assert_eq!(storing(&machine.update(Event::Stored(Ok(())))), [1, 2]);
    assert_eq!(machine.update(Event::Stored(Ok(()))), []);
    assert_eq!(machine.result_cells(), [0, 1, 2]);
    machine.played(vec![done(finished(3))]);
    machine.update(Event::Stored(Ok(())));
    assert_eq!(*machine.evaluation.phase(), EvaluationPhase::Finished);
    let quiet = machine.update(Event::Shown);
    assert!(matches!(
        quiet.as_slice(),
        [Effect::StoreHead(Head { finished: 4, .. }), Effect::Release]
    ));
    assert_eq!(machine.update(Event::Shown), []);
}

#[test]
fn pausing_begins_nothing_and_resuming_continues() {
    let mut machine = Machine::running(3);
    assert_eq!(machine.begin(1), [0]);
    machine.update(Event::Pause(PauseReason::Asked));
    assert_eq!(machine.begin(9), [0; 0]);
    // Running cells are stored nevertheless, and the lock is held until then.
    assert!(!machine.update(Event::Shown).contains(&Effect::Release));
    assert_eq!(storing(&machine.played(vec![done(finished(0))])), [0]);
    assert!(!machine.update(Event::Shown).contains(&Effect::Release));
    machine.update(Event::Stored(Ok(())));
    assert!(machine.update(Event::Shown).contains(&Effect::Release));
    machine.run();
    assert_eq!(machine.begin(9), [1, 2]);
}

#[test]
fn pausing_withdraws_a_start_that_waits_for_the_lock() {
    for (pause, is_again) in [
        (Event::Pause(PauseReason::Asked), false),
        (Event::Leave, false),
        (Event::Cancel, false),
        (Event::Pause(PauseReason::Asked), true),
    ] {
        let kept = stored(plan(1, &Actor::Random), vec![]);
        let mut machine = Machine::of(Evaluation::stored(kept.clone()));
        machine.update(Event::Resume);
        machine.update(pause);
        if is_again {
            assert_eq!(machine.update(Event::Resume), [], "the lock was requested");
        }
        assert_eq!(machine.update(Event::LockGranted), [Effect::Reload]);
        machine.update(Event::Reloaded(Reloaded::Found(Box::new(kept))));
        assert_eq!(
            *machine.evaluation.phase() == EvaluationPhase::Running,
            is_again
        );
        assert_eq!(
            machine.update(Event::Shown).contains(&Effect::Release),
            !is_again
        );
    }
}

#[test]
fn another_tab_holds_the_lock() {
    let mut machine = Machine::of(Evaluation::stored(stored(plan(1, &Actor::Random), vec![])));
    assert_eq!(machine.update(Event::Resume), [Effect::RequestLock]);
    machine.update(Event::LockRefused);
    assert_eq!(pauses(&machine), Some(&PauseReason::Elsewhere));
    assert!(!machine.evaluation.has_lock());
    assert_eq!(machine.begin(9), [0; 0]);
    // Later the lock may be free, and the other tab has stored results.
    machine.update(Event::Resume);
    machine.update(Event::LockGranted);
    let kept = stored(plan(1, &Actor::Random), vec![finished(0)]);
    machine.update(Event::Reloaded(Reloaded::Found(Box::new(kept))));
    assert_eq!(*machine.evaluation.phase(), EvaluationPhase::Finished);
    assert_eq!(machine.result_cells(), [0]);
}

#[test]
fn an_evaluation_that_was_deleted_elsewhere_stays_paused() {
    let mut machine = Machine::of(Evaluation::stored(stored(plan(1, &Actor::Random), vec![])));
    machine.update(Event::Resume);
    machine.update(Event::LockGranted);
    let effects = machine.update(Event::Reloaded(Reloaded::Deleted));
    assert_eq!(effects, [Effect::Release]);
    assert!(matches!(pauses(&machine), Some(PauseReason::Problem(_))));
    assert!(!machine.evaluation.has_lock());
}

#[test]
fn cells_of_a_lost_worker_are_played_alone_until_the_culprit_is_known() {
    let mut machine = Machine::running(5);
    assert_eq!(machine.begin(3), [0, 1, 2]);
    assert_eq!(machine.lost(vec![0, 1, 2]), []);
    for cell in 0..3 {
        assert!(machine.evaluation.is_careful());
        assert_eq!(machine.begin(1), [cell]);
    }
    assert!(!machine.evaluation.is_careful());
    assert_eq!(storing(&machine.lost(vec![1])), [1]);
    machine.update(Event::Stored(Ok(())));
    let result = &machine.evaluation.results()[&1];
    let is_culprit = |failure: &Failure| failure.kind == FailureKind::Environment;
    assert!(matches!(&result.status, Status::Failed(failure) if is_culprit(failure)));
    // The cell does not start again by itself.
    assert_eq!(machine.begin(9), [3, 4]);
}

#[test]
fn refused_storage_pauses_once_and_results_stay() {
    let mut machine = Machine::running(4);
    machine.begin(9);
    machine.played(vec![done(finished(0))]);
    machine.update(Event::Stored(Err("The disk is full.".into())));
    assert_eq!(
        pauses(&machine),
        Some(&PauseReason::Problem("The disk is full.".into()))
    );
    assert_eq!(machine.result_cells(), [0], "it is in memory");
    machine.update(Event::Resume);
    machine.played(vec![done(finished(1))]);
    machine.update(Event::Stored(Err("The disk is full.".into())));
    assert_eq!(*machine.evaluation.phase(), EvaluationPhase::Running);
    assert_eq!(machine.result_cells(), [0, 1]);
}

#[test]
fn failures_are_retried_with_what_they_spent() {
    let mut machine = Machine::running(2);
    machine.begin(9);
    let mut lost = failed(0, FailureKind::Network);
    lost.spent.tokens = 7;
    machine.played(vec![done(lost), done(finished(1))]);
    machine.update(Event::Stored(Ok(())));
    assert_eq!(*machine.evaluation.phase(), EvaluationPhase::Finished);
    let effects = machine.update(Event::RetryFailures);
    let [Effect::StoreRetries(drafts)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (drafts[0].0, drafts[0].1.spent.tokens, drafts[0].1.attempts),
        (0, 7, 1)
    );
    assert_eq!(machine.begin(9), [0; 0], "the drafts are not stored yet");
    machine.update(Event::RetriesStored);
    assert_eq!(machine.evaluation.begin_local(9)[0].attempts, 1);
    let effects = machine.played(vec![done(finished(0))]);
    let [Effect::StoreResults(results)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(results[0].draft, DraftChange::Delete);
}

#[test]
fn cancelling_takes_back_all_but_what_is_being_stored() {
    let mut machine = Machine::running(3);
    machine.begin(9);
    machine.played(vec![done(finished(0))]);
    let late = machine.evaluation.generation;
    let effects = machine.update(Event::Cancel);
    let generation = late + 1;
    assert_eq!(
        effects,
        [Effect::AbortModels, Effect::ReplaceWorkers { generation }]
    );
    assert_eq!(pauses(&machine), Some(&PauseReason::Cancelled));
    // Late replies of former workers change nothing.
    for is_resumed in [false, true] {
        if is_resumed {
            machine.update(Event::Resume);
            assert_eq!(machine.begin(1), [1]);
        }
        let done = vec![done(finished(1)), done(finished(2))];
        assert_eq!(
            machine.update(Event::Played {
                generation: late,
                done
            }),
            []
        );
        let cells = vec![1, 2];
        let message = "It was ended.".into();
        machine.update(Event::WorkerLost {
            generation: late,
            cells: cells.clone(),
            message,
        });
        machine.update(Event::NotStarted {
            generation: late,
            cells,
        });
    }
    machine.update(Event::Stored(Ok(())));
    assert_eq!(machine.result_cells(), [0]);
    assert_eq!(machine.begin(9), [2]);
}

#[test]
fn a_server_that_cannot_be_used_pauses() {
    let mut machine = Machine::running(2);
    machine.begin(9);
    machine.played(vec![done(failed(0, FailureKind::Server))]);
    assert!(matches!(pauses(&machine), Some(PauseReason::Problem(_))));
}

#[test]
fn models_that_fail_in_a_row_pause() {
    let mut machine = Machine::of(Evaluation::stored(stored(plan(9, &model()), vec![])));
    let failure = || Failure {
        kind: FailureKind::Provider,
        message: "It failed.".into(),
    };
    machine.run();
    for _ in 0..2 {
        machine.update(Event::ModelEnded(Some(failure())));
        machine.update(Event::ModelEnded(Some(failure())));
        machine.update(Event::ModelEnded(None));
    }
    assert_eq!(*machine.evaluation.phase(), EvaluationPhase::Running);
    for _ in 0..3 {
        machine.update(Event::ModelEnded(Some(failure())));
    }
    assert!(matches!(pauses(&machine), Some(PauseReason::Problem(_))));
}

#[test]
fn leaving_stops_requests_and_the_cell_waits_again() {
    let mut machine = Machine::of(Evaluation::stored(stored(plan(1, &model()), vec![])));
    machine.update(Event::Resume);
    machine.update(Event::LockGranted);
    let kept = stored(plan(1, &model()), vec![]);
    let effects = machine.update(Event::Reloaded(Reloaded::Found(Box::new(kept))));
    assert_eq!(effects, [Effect::PlayModel(0)]);
    assert_eq!(machine.evaluation.permit(1.0, 0, 0), Permit::Go);
    machine.update(Event::Leave);
    assert!(machine.evaluation.is_left());
    assert_eq!(machine.evaluation.permit(2.0, 0, 0), Permit::Hold);
    machine.evaluation.answered(3.0, 0, None, None);
    assert!(
        !machine.update(Event::Shown).contains(&Effect::Release),
        "it is being played"
    );
    machine.update(Event::ModelReturned { cell: 0 });
    assert!(machine.update(Event::Shown).contains(&Effect::Release));
    machine.update(Event::Resume);
    assert!(!machine.evaluation.is_left());
}

#[test]
fn a_spent_budget_pauses_and_another_one_continues() {
    let mut budgeted = plan(1, &model());
    budgeted.pace.budget = Budget {
        tokens: Some(10),
        ..Budget::default()
    };
    let mut machine = Machine::of(Evaluation::stored(stored(budgeted, vec![])));
    machine.run();
    let usage = Usage {
        prompt: 10,
        completion: 10,
        ..Usage::default()
    };
    assert_eq!(machine.evaluation.permit(4.0, 0, 0), Permit::Go);
    machine.evaluation.answered(5.0, 0, Some(&usage), Some(0.1));
    assert_eq!(machine.evaluation.permit(6.0, 0, 0), Permit::Hold);
    assert!(matches!(pauses(&machine), Some(PauseReason::Budget(_))));
    let pace = Pace::default();
    let and_resume = true;
    let effects = machine.update(Event::SetPace { pace, and_resume });
    assert_eq!(effects, [Effect::StorePace { pace, and_resume }]);
    machine.update(Event::Resume);
    assert_eq!(machine.evaluation.permit(99.0, 0, 0), Permit::Go);
}

#[test]
fn the_first_wait_is_shown_while_it_runs() {
    let mut machine = Machine::of(Evaluation::stored(stored(plan(2, &model()), vec![])));
    machine.run();
    for (cell, until) in [(0, 9.0), (1, 7.0)] {
        let why = "later".into();
        machine.evaluation.wait(cell, Wait { until, why });
    }
    let first = machine.evaluation.first_wait();
    assert_eq!(
        first.map(|(wait, count)| (wait.until, count)),
        Some((7.0, 2))
    );
    machine.evaluation.permit(8.0, 1, 0);
    let first = machine.evaluation.first_wait();
    assert_eq!(
        first.map(|(wait, count)| (wait.until, count)),
        Some((9.0, 1))
    );
    machine.update(Event::Pause(PauseReason::Asked));
    assert_eq!(machine.evaluation.first_wait(), None);
}

/// Random events, encoded as numbers.
fn happens() -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop::collection::vec((0_u8..16, 0_usize..6), 0..60)
}

proptest! {
    /// In any order of events, each cell runs once at a time, is stored once at a time, and in the end all cells are
    /// done.
    #[test]
    fn no_interleaving_loses_or_repeats_a_cell(happens in happens()) {
        const CELLS: usize = 6;
        let mut machine = Machine::of(Evaluation::new(head(), plan(CELLS, &Actor::Random)));
        // Outstanding replies of the browser and the workers.
        let (mut playing, mut late) = (BTreeSet::new(), Vec::new());
        let (mut is_storing, mut is_requesting, mut is_reloading, mut is_retrying) =
            (false, false, false, false);
        let mut on_disk: BTreeMap<usize, CellResult> = BTreeMap::new();
        let mut in_flight: Vec<CellResult> = Vec::new();
        let end = (0..200).map(|n| ([0, 3, 5, 7, 9, 10, 11, 13][n % 8], n / 8 % CELLS));
        for (what, number) in happens.into_iter().chain(end) {
            let generation = machine.evaluation.generation;
            let effects = match what {
                0 => machine.update(Event::Resume),
                1 => machine.update(Event::Pause(PauseReason::Asked)),
                2 => machine.update(Event::Cancel),
                3 => machine.update(Event::PlanStored),
                4 => machine.update(Event::RetryFailures),
                5 if is_requesting => {
                    is_requesting = false;
                    machine.update(Event::LockGranted)
                }
                6 if is_requesting => {
                    is_requesting = false;
                    machine.update(Event::LockRefused)
                }
                7 => {
                    for cell in machine.begin(number + 1) {
                        prop_assert!(playing.insert(cell), "{cell} is played twice");
                    }
                    continue;
                }
                8 => {
                    let cells: Vec<usize> = playing.iter().copied().take(number).collect();
                    cells.iter().for_each(|cell| { playing.remove(cell); });
                    machine.lost(cells)
                }
                9 => match playing.pop_first() {
                    Some(cell) => machine.played(vec![done(finished(cell))]),
                    None => continue,
                },
                10 if is_storing => {
                    is_storing = false;
                    for result in in_flight.drain(..) {
                        on_disk.insert(result.cell, result);
                    }
                    machine.update(Event::Stored(Ok(())))
                }
                11 if is_reloading => {
                    is_reloading = false;
                    let results = on_disk.values().cloned().collect();
                    let kept = stored(plan(CELLS, &Actor::Random), results);
                    machine.update(Event::Reloaded(Reloaded::Found(Box::new(kept))))
                }
                12 => match late.pop() {
                    Some((generation, cell)) => {
                        let done = vec![done(failed(cell, FailureKind::Time))];
                        machine.update(Event::Played { generation, done })
                    }
                    None => continue,
                },
                13 if is_retrying => {
                    is_retrying = false;
                    machine.update(Event::RetriesStored)
                }
                14 => machine.update(Event::Shown),
                _ => continue,
            };
            for effect in effects {
                match effect {
                    Effect::RequestLock => {
                        prop_assert!(!std::mem::replace(&mut is_requesting, true));
                    }
                    Effect::Reload => is_reloading = true,
                    Effect::StoreRetries(drafts) => {
                        for (cell, _) in drafts {
                            on_disk.remove(&cell);
                        }
                        is_retrying = true;
                    }
                    Effect::StoreResults(results) => {
                        prop_assert!(!std::mem::replace(&mut is_storing, true));
                        in_flight = results.into_iter().map(|stored| stored.result).collect();
                    }
                    Effect::ReplaceWorkers { .. } => {
                        late.extend(playing.iter().map(|cell| (generation, *cell)));
                        playing.clear();
                    }
                    _ => {}
                }
            }
        }
        prop_assert_eq!(machine.evaluation.phase(), &EvaluationPhase::Finished);
        prop_assert_eq!(machine.result_cells(), (0..CELLS).collect::<Vec<_>>());
    }
}
