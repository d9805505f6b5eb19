//! A trajectory that is being asked about, in one or more parts.

use std::sync::Arc;

use volary_agent::model::retry::Attempts;
use volary_agent::model::{ModelRequest, Usage};
use volary_core::json::Text;
use volary_core::{Message, Role};

use super::{AskSettings, Rendered, RequestId, Used};
use crate::answer::Answer;
use crate::parts::{SMALLEST_PART, key_of, part_texts};
use crate::plan::room;
use crate::prompt::{self, PartNumber, Retry};
use crate::quotes::QuoteState;

/// The trajectory and the requests about it.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    pub(super) rendered: Arc<Rendered>,
    pub(super) key: Text,
    pub(super) parts: Vec<Part>,
    pub(super) used: Used,
    row: usize,
    context: u64,
}

/// One part of the trajectory.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) request: ModelRequest,
    pub(super) attempts: Attempts,
    pub(super) state: PartState,
    /// The answer of the first reply, if it was asked for again.
    first: Option<Answer>,
}

#[derive(Clone, Debug)]
pub(super) enum PartState {
    Queued,
    /// After a failure, in seconds.
    WaitingUntil(f64),
    Sent,
    /// The reply is being checked.
    Checking(RequestId, Text),
    Done(Answer),
}

impl Asking {
    pub(super) fn new(rendered: Arc<Rendered>, row: usize, settings: &AskSettings) -> Self {
        let context = settings.context;
        let texts = part_texts(&rendered, room(context, &settings.question));
        let (question, sampling) = (&settings.question, settings.sampling());
        let key = key_of(&rendered, &texts, question, &settings.model, &sampling);
        let mut asking = Asking {
            parts: Vec::new(),
            rendered,
            key,
            used: Used {
                input: 0,
                output: 0,
                cost: Some(0.0),
            },
            row,
            context,
        };
        asking.divide(&texts, settings);
        asking
    }

    fn divide(&mut self, texts: &[String], settings: &AskSettings) {
        let of = texts.len();
        let parts = texts.iter().enumerate().map(|(index, text)| {
            let part = PartNumber {
                number: index + 1,
                of,
            };
            let messages = prompt::messages(&self.rendered, text, part, &settings.question);
            // A position in memory fits. The seed only spreads retries.
            let seed = (self.row as u64) << 16 | index as u64;
            Part {
                request: settings.request(messages),
                attempts: Attempts::new(settings.backoff, seed),
                state: PartState::Queued,
                first: None,
            }
        });
        self.parts = parts.collect();
    }

    /// Divides the trajectory into smaller parts, because the model's context is smaller than assumed. False if that is not
    /// possible. The key stays: it is what the answer will be looked up by.
    pub(super) fn halve(&mut self, settings: &AskSettings) -> bool {
        self.context /= 2;
        if self.context < SMALLEST_PART {
            return false;
        }
        let before = self.parts.len();
        let texts = part_texts(&self.rendered, room(self.context, &settings.question));
        self.divide(&texts, settings);
        // A trajectory that is far below the context takes several divisions; one that cannot be divided fails.
        self.parts.len() > before || self.context > SMALLEST_PART * 4
    }

    /// What the model replied to a request, while that is checked.
    pub(super) fn said(&self, request: RequestId) -> Option<Text> {
        match &self.parts.get(request.part)?.state {
            PartState::Checking(id, said) if *id == request => Some(said.clone()),
            _ => None,
        }
    }

    /// Whether there is a reply that was paid for, but not checked yet.
    pub(super) fn is_being_checked(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part.state, PartState::Checking(..)))
    }

    /// Queues the requests that were aborted.
    pub(super) fn requeue(&mut self) {
        for part in &mut self.parts {
            if matches!(part.state, PartState::Sent) {
                part.state = PartState::Queued;
            }
        }
    }

    pub(super) fn part_mut(&mut self, part: usize, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.parts.get_mut(part) {
            change(part);
        }
    }

    pub(super) fn count(&mut self, usage: Option<Usage>, cost: Option<f64>) {
        self.used.add(usage, cost);
    }

    /// Handles the checked reply for a part: it is the answer, or is asked for once more.
    pub(super) fn answered(
        &mut self,
        part: usize,
        said: &str,
        answer: Answer,
        retry: Option<Retry>,
    ) {
        self.part_mut(part, |part| match (retry, part.first.take()) {
            (Some(retry), None) => {
                let messages = &mut part.request.messages;
                messages.push(Message::new(Role::Assistant, said).into());
                messages.push(prompt::retry_message(&retry));
                part.first = Some(answer);
                part.state = PartState::Queued;
            }
            // A second reply that cannot be read is worth less than a first one that could.
            (Some(Retry::NoJson | Retry::Label { .. }), Some(first)) => {
                part.state = PartState::Done(first.clone());
                part.first = Some(first);
            }
            (_, first) => {
                part.first = first;
                part.state = PartState::Done(answer);
            }
        });
    }

    pub(super) fn is_done(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.all(|part| matches!(part.state, PartState::Done(_)))
    }

    /// The states of the first replies' quotes, if a part was asked for again.
    pub(super) fn first_states(&self) -> Option<Vec<QuoteState>> {
        if self.parts.iter().all(|part| part.first.is_none()) {
            return None;
        }
        let states = self.parts.iter().flat_map(|part| {
            let first = part.first.as_ref().or(match &part.state {
                PartState::Done(answer) => Some(answer),
                _ => None,
            });
            first.into_iter().flat_map(|answer| &answer.evidence)
        });
        Some(states.map(|evidence| evidence.state).collect())
    }

    pub(super) fn into_answers(self) -> Vec<Answer> {
        let answers = self.parts.into_iter().filter_map(|part| match part.state {
            PartState::Done(answer) => Some(answer),
            _ => None,
        });
        answers.collect()
    }
}
