//! The state machine of Ask in Review: what a question will cost, asking it, and what was asked before.
//!
//! It wraps [`volary_ask::run::AskRun`], whose rows are numbers, for a table whose rows come and go, and stores each answer as it
//! arrives. Times are in seconds of a monotonic clock, except for `clock`, which is in seconds since 1970.
//!
//! - [`asked`]: a question with its settings. [`history`]: all questions with their answers. [`findings`]: claims over answers.
//! - `event`, `effect`: its data.
//!
//! Invariants:
//! - Nothing is sent before a plan was shown for the same question, model and trajectories, except to go on with a question
//!   that was asked before.
//! - One question is asked at a time.
//! - An answer is stored as soon as it was checked. After a reload, what is stored is not asked for again, and counts
//!   against the budget.

pub mod asked;
mod effect;
mod event;
pub mod findings;
pub mod history;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use volary_agent::model::limits::Spent;
use volary_ask::cache::AnswerRecord;
use volary_ask::plan::{AskPlan, RowSize};
use volary_ask::run::{AskEffect, AskEvent, AskPause, AskPhase, AskProgress, AskRun, RowView};
use volary_core::json::Text;
use volary_protocol::asking::{MeasuredTexts, SaidReply};

use asked::{AskSetup, AskedQuestion, ModelFacts};
pub use effect::Effect;
pub use event::{AskRow, AskScope, Event};
use history::AskHistory;

/// What is known about the cost of the question in the form.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PlanState {
    #[default]
    None,
    /// Trajectories are being rendered. The text says how many.
    Measuring(Text),
    Planned(Box<AskPlanned>),
    Failed(Text),
}

/// A question with what it will send and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct AskPlanned {
    pub setup: AskSetup,
    pub facts: ModelFacts,
    pub rows: Vec<AskRow>,
    pub texts: MeasuredTexts,
    pub plan: AskPlan,
}

/// The question that is being asked, or was asked last in this visit.
#[derive(Clone, Debug)]
struct OpenQuestion {
    id: Text,
    rows: Vec<AskRow>,
    setup: AskSetup,
    scope: AskScope,
    run: AskRun,
}

/// The state of the question that is being asked, as it is displayed.
#[derive(Clone, Debug, PartialEq)]
pub struct RunShown {
    /// The id of the question.
    pub id: Text,
    pub scope: AskScope,
    pub phase: AskPhase,
    pub progress: AskProgress,
    pub spent: Spent,
    /// The reason of the first row that failed.
    pub failure: Option<Text>,
}

/// The plan, the run and the history.
#[derive(Clone, Debug, Default)]
pub struct AskSession {
    history: AskHistory,
    plan: PlanState,
    /// The plan whose trajectories are being measured.
    wanted: Option<(AskSetup, ModelFacts, Vec<AskRow>)>,
    open: Option<OpenQuestion>,
    /// Why the last question could not be asked.
    refused: Option<Text>,
    /// The answers of files that the page does not store. Each reading of what is stored adds them again.
    given: Vec<Arc<AnswerRecord>>,
}

impl AskSession {
    /// The questions that were asked, with their answers.
    pub fn history(&self) -> &AskHistory {
        &self.history
    }

    pub fn plan(&self) -> &PlanState {
        &self.plan
    }

    /// Why the last question could not be asked, for the user.
    pub fn refused(&self) -> Option<&Text> {
        self.refused.as_ref()
    }

    /// The question that is being asked, or was asked last in this visit.
    pub fn shown(&self) -> Option<RunShown> {
        let open = self.open.as_ref()?;
        let failed = (0..open.rows.len()).find_map(|row| match open.run.row(row) {
            Some(RowView::Failed(message)) => Some(message.clone()),
            _ => None,
        });
        Some(RunShown {
            id: open.id.clone(),
            scope: open.scope,
            phase: open.run.phase().clone(),
            progress: open.run.progress(),
            spent: *open.run.spent(),
            failure: failed,
        })
    }

    /// Whether a question is being asked.
    pub fn is_running(&self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| *open.run.phase() == AskPhase::Running)
    }

    /// Handles an event.
    pub fn update(&mut self, now: f64, clock: f64, event: Event) -> Vec<Effect> {
        let mut effects = match event {
            Event::Read(history) => {
                self.history = *history;
                self.history.give(&self.given);
                Vec::new()
            }
            Event::Given { records, is_kept } => self.give(records, is_kept),
            Event::Plan { setup, facts, rows } => self.begin_plan(*setup, facts, rows),
            Event::Measuring(text) => {
                if self.wanted.is_some() {
                    self.plan = PlanState::Measuring(text);
                }
                Vec::new()
            }
            Event::Measured(measured) => {
                self.measured(measured);
                Vec::new()
            }
            Event::DropPlan => {
                self.wanted = None;
                self.plan = PlanState::None;
                Vec::new()
            }
            Event::Ask { name, former } => self.ask(now, clock, &name, former.as_deref()),
            Event::Calibrate { name, former, rows } => {
                self.calibrate(clock, &name, former.as_deref(), rows)
            }
            Event::SetCalibration { id, rows } => self.set_calibration(&id, rows),
            Event::Resume {
                id,
                facts,
                scope,
                names,
            } => self.resume(now, clock, &id, facts, scope, &names),
            Event::Pause => self.run(now, clock, AskEvent::Pause),
            Event::Stop => self.run(now, clock, AskEvent::Stop),
            Event::SetBudget { id, budget } => {
                let mut effects = Vec::new();
                if let Some(question) = self.history.question(&id) {
                    let mut question = question.clone();
                    question.setup.most_cost = budget.cost;
                    question.setup.most_tokens = budget.tokens;
                    self.history.put_question(question.clone());
                    effects.push(Effect::StoreQuestion(Box::new(question)));
                }
                if self.open.as_ref().is_some_and(|open| open.id == id) {
                    effects.extend(self.run(now, clock, AskEvent::SetBudget(budget)));
                }
                effects
            }
            Event::Rendered { row, rendered } => {
                self.run(now, clock, AskEvent::Loaded { row, rendered })
            }
            Event::Replied { request, reply } => {
                self.run(now, clock, AskEvent::Replied { request, reply })
            }
            Event::Checked { request, checked } => {
                self.run(now, clock, AskEvent::Checked { request, checked })
            }
            Event::Tick => self.run(now, clock, AskEvent::Tick),
            Event::Label { id, episode, label } => {
                match self.history.question(&id).map(|known| known.labels.clone()) {
                    Some(labels) => {
                        let all = self.history.label(&labels, &episode, label);
                        vec![Effect::StoreLabels { labels, all }]
                    }
                    None => Vec::new(),
                }
            }
            Event::Found { id, findings } => {
                self.history.put_findings(&id, findings.clone());
                let findings = Box::new(findings);
                vec![Effect::StoreFindings { id, findings }]
            }
            Event::Forget(id) => self.forget(now, clock, id),
        };
        effects.push(Effect::Changed);
        effects
    }

    fn give(&mut self, records: Vec<AnswerRecord>, is_kept: bool) -> Vec<Effect> {
        let records: Vec<Arc<AnswerRecord>> = records.into_iter().map(Arc::new).collect();
        let changed = self.history.give(&records);
        if is_kept {
            return vec![Effect::StoreGiven(Box::new(changed))];
        }
        self.given.extend(records);
        Vec::new()
    }

    fn begin_plan(&mut self, setup: AskSetup, facts: ModelFacts, rows: Vec<AskRow>) -> Vec<Effect> {
        self.refused = None;
        if let Err(error) = setup.question.check() {
            self.plan = PlanState::Failed(error.to_string().into());
            return Vec::new();
        }
        if rows.is_empty() {
            self.plan = PlanState::Failed(
                "There is no trajectory to ask about. Remove a filter of the table.".into(),
            );
            return Vec::new();
        }
        self.plan = PlanState::Measuring("Reading trajectories".into());
        let measure = Effect::Measure {
            ids: rows.iter().map(|row| row.id.clone()).collect(),
            terms: Box::new(setup.terms(facts)),
        };
        self.wanted = Some((setup, facts, rows));
        vec![measure]
    }

    fn measured(&mut self, measured: Result<MeasuredTexts, Text>) {
        let Some((setup, facts, rows)) = self.wanted.take() else {
            return;
        };
        self.plan = match measured {
            Err(reason) => PlanState::Failed(reason),
            Ok(texts) => {
                let cache = self.history.cache();
                let mut keys = std::collections::BTreeSet::new();
                let sizes = texts.texts.iter().map(|text| RowSize {
                    tokens: text.tokens,
                    // Equal trajectories are asked about once.
                    is_cached: cache.get(&text.key).is_some() || !keys.insert(&text.key),
                });
                let sizes: Vec<RowSize> = sizes.collect();
                PlanState::Planned(Box::new(AskPlanned {
                    plan: AskPlan::of(&sizes, &setup.question, setup.context),
                    setup,
                    facts,
                    rows,
                    texts,
                }))
            }
        };
    }

    /// Takes the plan and stores its question.
    fn store_planned(
        &mut self,
        clock: f64,
        name: &str,
        former: Option<&str>,
        calibration: Vec<Text>,
    ) -> Option<(AskPlanned, AskedQuestion)> {
        if self.is_running() {
            self.refused =
                Some("Another question is being asked. Stop it, then ask this one.".into());
            return None;
        }
        let PlanState::Planned(planned) = std::mem::take(&mut self.plan) else {
            return None;
        };
        let setup = planned.setup.clone();
        let id = setup.id();
        let known = self.history.question(&id);
        let former = former.and_then(|former| self.history.question(former));
        // A person's labels fit the labels of the question only.
        let former = former.filter(|former| {
            former.setup.question.answer.labels() == setup.question.answer.labels()
        });
        let labels = known.or(former).map(|question| question.labels.clone());
        let calibration = match known.or(former) {
            Some(question) if calibration.is_empty() => question.calibration.clone(),
            _ => calibration,
        };
        let name = self
            .history
            .free_name(name, &id, &setup.question, &setup.model);
        let asked = AskedQuestion {
            labels: labels.unwrap_or_else(|| id.clone()),
            id,
            name,
            setup,
            rows: planned.rows.iter().map(|row| row.id.clone()).collect(),
            calibration,
            time: clock,
        };
        self.history.put_question(asked.clone());
        Some((*planned, asked))
    }

    fn ask(&mut self, now: f64, clock: f64, name: &str, former: Option<&str>) -> Vec<Effect> {
        let Some((planned, asked)) = self.store_planned(clock, name, former, Vec::new()) else {
            return Vec::new();
        };
        let id = asked.id.clone();
        let mut effects = vec![
            Effect::StoreQuestion(Box::new(asked)),
            Effect::Show {
                id: id.clone(),
                scope: AskScope::All,
            },
        ];
        let AskPlanned { facts, rows, .. } = planned;
        effects.extend(self.resume(now, clock, &id, facts, AskScope::All, &rows));
        effects
    }

    fn calibrate(
        &mut self,
        clock: f64,
        name: &str,
        former: Option<&str>,
        rows: Vec<Text>,
    ) -> Vec<Effect> {
        let Some((_, asked)) = self.store_planned(clock, name, former, rows) else {
            return Vec::new();
        };
        let id = asked.id.clone();
        let scope = AskScope::Calibration;
        vec![
            Effect::StoreQuestion(Box::new(asked)),
            Effect::Show { id, scope },
        ]
    }

    fn set_calibration(&mut self, id: &str, rows: Vec<Text>) -> Vec<Effect> {
        let Some(question) = self.history.question(id) else {
            return Vec::new();
        };
        let question = AskedQuestion {
            calibration: rows,
            ..question.clone()
        };
        self.history.put_question(question.clone());
        vec![Effect::StoreQuestion(Box::new(question))]
    }

    fn resume(
        &mut self,
        now: f64,
        clock: f64,
        id: &Text,
        facts: ModelFacts,
        scope: AskScope,
        names: &[AskRow],
    ) -> Vec<Effect> {
        self.refused = None;
        let is_open = |open: &OpenQuestion| {
            open.id == *id && open.scope == scope && *open.run.phase() != AskPhase::Done
        };
        if self.is_running() {
            return Vec::new();
        }
        let Some(asked) = self.history.question(id) else {
            return Vec::new();
        };
        let is_same = self
            .open
            .as_ref()
            .is_some_and(|open| is_open(open) && open.run.settings().price == facts.price);
        if !is_same {
            let ids = match scope {
                AskScope::All => &asked.rows,
                AskScope::Calibration => &asked.calibration,
            };
            let rows: Vec<AskRow> = ids
                .iter()
                .map(|id| {
                    let known = names.iter().find(|row| row.id == *id);
                    known.cloned().unwrap_or_else(|| AskRow {
                        id: id.clone(),
                        name: Text::default(),
                    })
                })
                .collect();
            let settings = asked.setup.settings(facts);
            let run = match AskRun::new(settings, rows.len(), self.history.cache()) {
                Ok(run) => run.with_spent(self.history.spent(id)),
                Err(error) => {
                    self.refused = Some(error.to_string().into());
                    return Vec::new();
                }
            };
            self.open = Some(OpenQuestion {
                id: id.clone(),
                rows,
                setup: asked.setup.clone(),
                scope,
                run,
            });
        }
        self.run(now, clock, AskEvent::Resume)
    }

    fn forget(&mut self, now: f64, clock: f64, id: Text) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.open.as_ref().is_some_and(|open| open.id == id) {
            effects = self.run(now, clock, AskEvent::Stop);
            self.open = None;
        }
        self.given
            .retain(|record| AskSetup::of_record(record).id() != id);
        let labels = self.history.forget(&id);
        effects.push(Effect::Forget { id, labels });
        effects
    }

    /// Passes an event to the run, and turns its effects into those of the page.
    fn run(&mut self, now: f64, clock: f64, event: AskEvent) -> Vec<Effect> {
        let Some(open) = &mut self.open else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        for effect in open.run.update(now, clock, event) {
            match effect {
                AskEffect::Load { row } => {
                    let id = open.rows.get(row).map(|row| row.id.clone());
                    effects.push(Effect::Render {
                        row,
                        id: id.unwrap_or_default(),
                        options: open.setup.options.clone(),
                    });
                }
                AskEffect::Send { id, request } => effects.push(Effect::Send {
                    id,
                    connection: open.setup.connection.clone(),
                    request,
                }),
                AskEffect::Check { request, said } => {
                    let id = open.rows.get(request.row).map(|row| row.id.clone());
                    let reply = SaidReply {
                        id: id.unwrap_or_default(),
                        options: open.setup.options.clone(),
                        question: open.setup.question.clone(),
                        said,
                    };
                    effects.push(Effect::Check {
                        request,
                        reply: Box::new(reply),
                    });
                }
                AskEffect::Abort(requests) => effects.push(Effect::Abort(requests)),
                AskEffect::WakeAt(time) => effects.push(Effect::WakeAt(time)),
                // The answers of all rows that are done are stored below, also those that came from the cache.
                AskEffect::Store { .. } | AskEffect::Changed => {}
                AskEffect::Finished { row } => {
                    let Some(RowView::Answered { record, .. }) = open.run.row(row) else {
                        continue;
                    };
                    let Some(AskRow { id, name }) = open.rows.get(row) else {
                        continue;
                    };
                    let known = self.history.answer(&open.id, id);
                    if known.is_some_and(|known| known.key == record.key) {
                        continue;
                    }
                    let mut record = record.clone();
                    record.episode = id.clone();
                    record.name = name.clone();
                    let record = Arc::new(record);
                    self.history.put_answer(&open.id, Arc::clone(&record));
                    let id = open.id.clone();
                    effects.push(Effect::StoreAnswer { id, record });
                }
            }
        }
        effects
    }
}

/// Why a run is paused, for the user; `None` if the user paused it.
pub fn pause_reason(phase: &AskPhase) -> Option<String> {
    match phase {
        AskPhase::Paused(AskPause::Budget(limit)) => Some(format!(
            "{limit} What is under way could have exceeded it. Raise the limit to continue."
        )),
        AskPhase::Paused(AskPause::Problem(problem)) => Some(problem.to_string()),
        AskPhase::Paused(AskPause::Asked) | AskPhase::Running | AskPhase::Done => None,
    }
}
