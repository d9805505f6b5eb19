//! The state machine that asks a question about many trajectories: an event in, effects out.
//!
//! The caller loads and renders trajectories, sends requests, checks replies, and appends records to the cache. Times are in seconds of a
//! monotonic clock, except for [`AskRun::clock`].
//!
//! - `event`, `effect`: its data. `row`: a trajectory that is being asked about. `settings`: model, limits, budget.
//!
//! Invariants:
//! - No request is sent if the budget could not pay for it and for all others under way: input by estimate, output at the
//!   maximum. A budget in money needs a known price.
//! - A row is done once its answer is stored, or found in the cache. Stopping returns all other rows to the queue, and loses
//!   no answer.
//! - Each reply that was received is counted and checked, also if the run was paused or stopped meanwhile. What was sent and
//!   lost counts with its estimated input.
//! - A reply is asked for again at most once. Of equal trajectories, one is asked about.

mod effect;
mod event;
mod row;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use volary_agent::model::limits::{Budget, Exhausted, Spent};
use volary_agent::model::retry::Next;
use volary_agent::model::{ModelError, ModelRequest, Usage};
use volary_core::json::Text;

use crate::cache::{self, AnswerCache, AnswerRecord};
use crate::merge::merged;
use crate::rates::QuoteRates;
use crate::render::Rendered;

pub use effect::AskEffect;
pub use event::{AskEvent, CheckedReply, ModelReply, RequestId};
pub use settings::{AskSettings, SettingsError};

use row::{Asking, PartState};

/// The number of rows that may fail in a row before the run pauses.
const MOST_FAILURES: usize = 3;

/// What the run is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum AskPhase {
    Paused(AskPause),
    Running,
    /// All rows are done, or failed.
    Done,
}

/// Why the run is paused.
#[derive(Clone, Debug, PartialEq)]
pub enum AskPause {
    /// By the user, or not started yet.
    Asked,
    Budget(Exhausted),
    /// What concerns all rows: a rejected key, no credit, repeated failures.
    Problem(Text),
}

/// The state of one row.
#[derive(Clone, Debug)]
enum RowState {
    Waiting,
    Loading,
    Asking(Box<Asking>),
    Done { key: Text, from_cache: bool },
    Failed { message: Text },
}

/// A row as it is displayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowView<'a> {
    Waiting,
    Asking,
    Answered {
        record: &'a AnswerRecord,
        from_cache: bool,
    },
    Failed(&'a Text),
}

/// The numbers of rows by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskProgress {
    pub waiting: usize,
    pub asking: usize,
    /// Answered now.
    pub answered: usize,
    pub from_cache: usize,
    pub failed: usize,
}

/// A run of one question over rows `0..n`.
#[derive(Clone, Debug)]
pub struct AskRun {
    settings: AskSettings,
    rows: Vec<RowState>,
    /// The next row that may be waiting.
    next: usize,
    cache: AnswerCache,
    phase: AskPhase,
    spent: Spent,
    /// The estimated costs of the requests under way.
    reserved: BTreeMap<RequestId, Spent>,
    sent: u64,
    failures: usize,
    rates: QuoteRates,
    /// Seconds since 1970, as given with the last event.
    clock: f64,
}

impl AskRun {
    /// A paused run. The cache has the answers that were paid for before.
    pub fn new(
        settings: AskSettings,
        rows: usize,
        cache: AnswerCache,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(AskRun {
            settings,
            rows: vec![RowState::Waiting; rows],
            next: 0,
            cache,
            phase: AskPhase::Paused(AskPause::Asked),
            spent: Spent::default(),
            reserved: BTreeMap::new(),
            sent: 0,
            failures: 0,
            rates: QuoteRates::default(),
            clock: 0.0,
        })
    }

    /// With what was spent on it before, which the budget includes.
    #[must_use]
    pub fn with_spent(mut self, spent: Spent) -> Self {
        self.spent = spent;
        self
    }

    /// Handles an event. `now` is in seconds of a monotonic clock, `clock` in seconds since 1970.
    pub fn update(&mut self, now: f64, clock: f64, event: AskEvent) -> Vec<AskEffect> {
        self.clock = clock;
        let mut effects = Vec::new();
        match event {
            AskEvent::Resume => self.resume(),
            AskEvent::Pause => self.pause(AskPause::Asked),
            AskEvent::Stop => self.stop(&mut effects),
            AskEvent::SetBudget(budget) => self.settings.budget = budget,
            AskEvent::Loaded { row, rendered } => self.loaded(row, rendered, &mut effects),
            AskEvent::Replied { request, reply } => {
                self.replied(now, request, reply, &mut effects);
            }
            AskEvent::Checked { request, checked } => self.checked(request, checked, &mut effects),
            AskEvent::Tick => {}
        }
        self.advance(now, &mut effects);
        effects.push(AskEffect::Changed);
        effects
    }

    fn resume(&mut self) {
        for row in &mut self.rows {
            if matches!(row, RowState::Failed { .. }) {
                *row = RowState::Waiting;
            }
        }
        self.next = 0;
        self.failures = 0;
        self.phase = AskPhase::Running;
    }

    fn pause(&mut self, why: AskPause) {
        if self.phase != AskPhase::Done {
            self.phase = AskPhase::Paused(why);
        }
    }

    /// Aborts what is under way.
    fn stop(&mut self, effects: &mut Vec<AskEffect>) {
        self.pause(AskPause::Asked);
        let aborted: Vec<RequestId> = self.reserved.keys().copied().collect();
        for request in &aborted {
            self.lost(*request);
        }
        if !aborted.is_empty() {
            effects.push(AskEffect::Abort(aborted));
        }
        for row in &mut self.rows {
            match row {
                RowState::Asking(asking) if asking.is_being_checked() => asking.requeue(),
                RowState::Loading | RowState::Asking(_) => *row = RowState::Waiting,
                _ => {}
            }
        }
        self.next = 0;
    }

    fn loaded(
        &mut self,
        row: usize,
        rendered: Result<Arc<Rendered>, Text>,
        effects: &mut Vec<AskEffect>,
    ) {
        let Some(state @ RowState::Loading) = self.rows.get_mut(row) else {
            return;
        };
        let rendered = match rendered {
            Ok(rendered) => rendered,
            Err(message) => {
                *state = RowState::Failed { message };
                effects.push(AskEffect::Finished { row });
                return;
            }
        };
        let asking = Asking::new(rendered, row, &self.settings);
        if self.cache.get(&asking.key).is_some() {
            *state = RowState::Done {
                key: asking.key,
                from_cache: true,
            };
            effects.push(AskEffect::Finished { row });
        } else {
            *state = RowState::Asking(Box::new(asking));
        }
    }

    fn replied(
        &mut self,
        now: f64,
        request: RequestId,
        reply: Result<ModelReply, ModelError>,
        effects: &mut Vec<AskEffect>,
    ) {
        let Some(reserved) = self.reserved.remove(&request) else {
            // An aborted request.
            return;
        };
        let row = request.row;
        let price = self.settings.price;
        match &reply {
            Ok(reply) => {
                let usage = reply.usage;
                let cost =
                    usage.and_then(|usage| usage.charged.or_else(|| Some(price?.cost(&usage))));
                let mut spent = Spent::default();
                match usage {
                    Some(_) => spent.add_answer(usage.as_ref(), cost),
                    // The provider reports no tokens.
                    None => spent = reserved,
                }
                self.spent.add(&spent);
                if let Some(RowState::Asking(asking)) = self.rows.get_mut(row) {
                    asking.count(usage, spent.cost);
                }
            }
            // The provider may charge for what it had begun to answer.
            Err(ModelError::Cut | ModelError::Silent { .. }) => self.spent.add(&reserved),
            Err(_) => {}
        }
        let Some(RowState::Asking(asking)) = self.rows.get_mut(row) else {
            return;
        };
        match reply {
            Ok(reply) => {
                self.failures = 0;
                let said = Text::from(reply.text);
                asking.part_mut(request.part, |part| {
                    part.state = PartState::Checking(request, said.clone());
                });
                effects.push(AskEffect::Check { request, said });
            }
            Err(error) => self.failed(now, request, error, effects),
        }
    }

    fn checked(
        &mut self,
        request: RequestId,
        checked: Result<CheckedReply, Text>,
        effects: &mut Vec<AskEffect>,
    ) {
        let row = request.row;
        let Some(RowState::Asking(asking)) = self.rows.get_mut(row) else {
            return;
        };
        // Another division of the trajectory has taken its place.
        let Some(said) = asking.said(request) else {
            return;
        };
        match checked {
            Ok(CheckedReply { answer, retry }) => {
                asking.answered(request.part, &said, answer, retry);
                if asking.is_done() {
                    self.finish(row, effects);
                }
            }
            Err(message) => self.give_up(row, message, effects),
        }
    }

    fn failed(
        &mut self,
        now: f64,
        request: RequestId,
        error: ModelError,
        effects: &mut Vec<AskEffect>,
    ) {
        let row = request.row;
        let Some(RowState::Asking(asking)) = self.rows.get_mut(row) else {
            return;
        };
        if is_too_long(&error) && asking.halve(&self.settings) {
            // The other parts of the former division are no longer wanted.
            let old: Vec<RequestId> = self
                .reserved
                .keys()
                .filter(|id| id.row == row)
                .copied()
                .collect();
            for request in &old {
                self.lost(*request);
            }
            if !old.is_empty() {
                effects.push(AskEffect::Abort(old));
            }
            return;
        }
        if let Some(problem) = problem_of(&error) {
            asking.part_mut(request.part, |part| part.state = PartState::Queued);
            self.pause(AskPause::Problem(problem));
            return;
        }
        let kind = self.settings.kind;
        let mut next = Next::GiveUp;
        let mut fallbacks = self.settings.fallbacks;
        asking.part_mut(request.part, |part| {
            next = part.attempts.after(kind, &mut part.request, &error);
            fallbacks = part.request.fallbacks;
            part.state = match next {
                Next::FallBack(_) => PartState::Queued,
                Next::Wait(seconds) => PartState::WaitingUntil(now + seconds),
                Next::GiveUp => PartState::Queued,
            };
        });
        // What one request taught holds for later rows too.
        for fallback in fallbacks.iter() {
            self.settings.fallbacks = self.settings.fallbacks.with(fallback);
        }
        if next == Next::GiveUp {
            self.give_up(row, error.to_string().into(), effects);
        }
    }

    /// Ends a row without an answer.
    fn give_up(&mut self, row: usize, message: Text, effects: &mut Vec<AskEffect>) {
        let others = self.reserved.keys().filter(|id| id.row == row).copied();
        for request in others.collect::<Vec<_>>() {
            self.lost(request);
            effects.push(AskEffect::Abort(vec![request]));
        }
        if let Some(state) = self.rows.get_mut(row) {
            *state = RowState::Failed {
                message: message.clone(),
            };
        }
        effects.push(AskEffect::Finished { row });
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            let text = format!(
                "{} trajectories in a row failed, the last one with: {message}",
                self.failures
            );
            self.pause(AskPause::Problem(text.into()));
        }
    }

    /// Counts a request whose reply will not arrive.
    fn lost(&mut self, request: RequestId) {
        if let Some(reserved) = self.reserved.remove(&request) {
            self.spent.add(&reserved);
        }
    }

    fn finish(&mut self, row: usize, effects: &mut Vec<AskEffect>) {
        let Some(state) = self.rows.get_mut(row) else {
            return;
        };
        let key = match state {
            RowState::Asking(asking) => asking.key.clone(),
            _ => return,
        };
        let done = RowState::Done {
            key: key.clone(),
            from_cache: false,
        };
        let RowState::Asking(asking) = std::mem::replace(state, done) else {
            return;
        };
        let (used, first) = (asking.used, asking.first_states());
        let answer = merged(&self.settings.question.answer, asking.into_answers());
        self.rates
            .add(&self.settings.model, &answer, first.as_deref());
        let record = AnswerRecord {
            format: cache::FORMAT.into(),
            key,
            episode: Text::default(),
            name: Text::default(),
            question: self.settings.question.clone(),
            model: self.settings.model.clone(),
            sampling: self.settings.sampling(),
            time: self.clock,
            answer,
            first,
            input_tokens: used.input,
            output_tokens: used.output,
            cost: used.cost,
        };
        self.cache.insert(record.clone());
        let key = record.key.clone();
        effects.push(AskEffect::Store {
            row,
            record: Box::new(record),
        });
        effects.push(AskEffect::Finished { row });
        // Equal trajectories waited for this answer.
        for (other, state) in self.rows.iter_mut().enumerate() {
            if matches!(state, RowState::Asking(asking) if asking.key == key) {
                *state = RowState::Done {
                    key: key.clone(),
                    from_cache: true,
                };
                effects.push(AskEffect::Finished { row: other });
            }
        }
    }

    /// Whether an earlier row with the same text is being asked about.
    fn is_asked(&self, row: usize, key: &str) -> bool {
        let mut earlier = self.rows.iter().take(row);
        earlier.any(|state| matches!(state, RowState::Asking(asking) if *asking.key == *key))
    }

    /// Loads rows and sends requests, as far as the limits allow.
    fn advance(&mut self, now: f64, effects: &mut Vec<AskEffect>) {
        if self.phase != AskPhase::Running {
            return;
        }
        let mut first_wait: Option<f64> = None;
        for row in 0..self.rows.len() {
            let Some(RowState::Asking(asking)) = self.rows.get(row) else {
                continue;
            };
            if self.is_asked(row, &asking.key) {
                continue;
            }
            for index in 0..asking.parts.len() {
                let Some(RowState::Asking(asking)) = self.rows.get_mut(row) else {
                    break;
                };
                let Some(part) = asking.parts.get_mut(index) else {
                    break;
                };
                match part.state {
                    PartState::Queued => {}
                    PartState::WaitingUntil(until) if until <= now => {}
                    PartState::WaitingUntil(until) => {
                        first_wait = Some(first_wait.map_or(until, |first| first.min(until)));
                        continue;
                    }
                    PartState::Sent | PartState::Checking(..) | PartState::Done(_) => continue,
                }
                if self.reserved.len() >= self.settings.concurrency {
                    continue;
                }
                let estimate = self.settings.estimate(&part.request);
                let mut all = self.spent;
                self.reserved
                    .values()
                    .for_each(|reserved| all.add(reserved));
                if let Some(limit) = exceeded(&self.settings.budget, &all, &estimate) {
                    // What is under way may cost less than its estimate.
                    if self.reserved.is_empty() {
                        self.phase = AskPhase::Paused(AskPause::Budget(limit));
                    }
                    return;
                }
                part.state = PartState::Sent;
                self.sent += 1;
                let id = RequestId {
                    row,
                    part: index,
                    number: self.sent,
                };
                self.reserved.insert(id, estimate);
                effects.push(AskEffect::Send {
                    id,
                    request: Box::new(part.request.clone()),
                });
            }
        }
        let busy = |state: &RowState| matches!(state, RowState::Loading | RowState::Asking(_));
        let mut active = self.rows.iter().filter(|state| busy(state)).count();
        while active < self.settings.concurrency && self.next < self.rows.len() {
            if let Some(state @ RowState::Waiting) = self.rows.get_mut(self.next) {
                *state = RowState::Loading;
                effects.push(AskEffect::Load { row: self.next });
                active += 1;
            }
            self.next += 1;
        }
        if active == 0 {
            self.phase = AskPhase::Done;
        } else if let Some(until) = first_wait {
            effects.push(AskEffect::WakeAt(until));
        }
    }

    pub fn phase(&self) -> &AskPhase {
        &self.phase
    }

    pub fn settings(&self) -> &AskSettings {
        &self.settings
    }

    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The limit that another request, which is not about a row, would exceed.
    pub fn limit_of(&self, request: &ModelRequest) -> Option<Exhausted> {
        let estimate = self.settings.estimate(request);
        exceeded(&self.settings.budget, &self.spent, &estimate)
    }

    /// The quotes of the answers of this run.
    pub fn rates(&self) -> &QuoteRates {
        &self.rates
    }

    /// The answers, also of earlier runs.
    pub fn cache(&self) -> &AnswerCache {
        &self.cache
    }

    /// A row as it is displayed; `None` if there is no such row.
    pub fn row(&self, row: usize) -> Option<RowView<'_>> {
        Some(match self.rows.get(row)? {
            RowState::Waiting => RowView::Waiting,
            RowState::Loading | RowState::Asking(_) => RowView::Asking,
            RowState::Done { key, from_cache } => RowView::Answered {
                record: self.cache.get(key)?,
                from_cache: *from_cache,
            },
            RowState::Failed { message } => RowView::Failed(message),
        })
    }

    pub fn progress(&self) -> AskProgress {
        let mut progress = AskProgress::default();
        for row in &self.rows {
            let count = match row {
                RowState::Waiting => &mut progress.waiting,
                RowState::Loading | RowState::Asking(_) => &mut progress.asking,
                RowState::Done {
                    from_cache: true, ..
                } => &mut progress.from_cache,
                RowState::Done { .. } => &mut progress.answered,
                RowState::Failed { .. } => &mut progress.failed,
            };
            *count += 1;
        }
        progress
    }
}

/// The limit that a request would exceed together with what is spent and under way.
fn exceeded(budget: &Budget, all: &Spent, estimate: &Spent) -> Option<Exhausted> {
    if let Some(limit) = budget.exhausted(all) {
        return Some(limit);
    }
    let mut with = *all;
    with.add(estimate);
    if let Some(limit) = budget.tokens.filter(|limit| with.tokens > *limit) {
        let spent = all.tokens;
        return Some(Exhausted::Tokens { limit, spent });
    }
    let limit = budget.cost?;
    match (with.cost, all.cost) {
        (Some(cost), Some(spent)) if cost > limit => Some(Exhausted::Cost { limit, spent }),
        (None, _) => Some(Exhausted::CostUnknown { limit }),
        _ => None,
    }
}

/// Whether the provider says that the request is longer than the model's context.
fn is_too_long(error: &ModelError) -> bool {
    let (message, code) = match error {
        ModelError::Status {
            status: 400 | 413 | 422,
            message,
            code,
            ..
        } => (message, code),
        ModelError::Reported { message, code, .. } => (message, code),
        _ => return false,
    };
    let message = message.to_lowercase();
    code.as_deref() == Some("context_length_exceeded")
        || [
            "context length",
            "context window",
            "maximum context",
            "prompt is too long",
            "too many tokens",
            "exceeds the maximum number of tokens",
            "input is too long",
        ]
        .iter()
        .any(|words| message.contains(words))
}

/// What concerns all rows.
fn problem_of(error: &ModelError) -> Option<Text> {
    let advice = match error {
        _ if error.is_out_of_credit() => "Add credit to the account, then resume.",
        ModelError::Status {
            status: 401 | 403, ..
        } => "Check the API key, then resume.",
        ModelError::Status { status: 404, .. } => {
            "Check the address and the name of the model, then resume."
        }
        _ => return None,
    };
    Some(format!("{error} {advice}").into())
}

/// The tokens and the cost of the replies for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Used {
    input: u64,
    output: u64,
    cost: Option<f64>,
}

impl Used {
    fn add(&mut self, usage: Option<Usage>, cost: Option<f64>) {
        if let Some(usage) = usage {
            self.input += usage.prompt;
            self.output += usage.completion;
        }
        self.cost = self.cost.zip(cost).map(|(known, more)| known + more);
    }
}

#[cfg(test)]
mod tests;
