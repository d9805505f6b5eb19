//! Groups messages into steps: an action starts a step, and the following messages are its result.

use volary_core::json::{Object, Text};
use volary_core::{AnyMessage, Message, Role, ToolCall, ToolResponseMessage};
use volary_episode::episode::{
    Ending, Episode, Outcome, StepDetails, StepError, StepRecord, call_id,
};
use volary_episode::time;

/// A message of a file, with its metadata.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ImportedMessage {
    /// A response to an unknown call has an empty id.
    pub message: AnyMessage,
    /// Only the time and errors are preserved, except for actions.
    pub details: StepDetails,
    /// The duration in seconds.
    pub seconds: Option<f64>,
    /// Other members of the step.
    pub extras: Object,
}

impl From<AnyMessage> for ImportedMessage {
    fn from(message: AnyMessage) -> Self {
        ImportedMessage {
            message,
            details: StepDetails::default(),
            seconds: None,
            extras: Object::new(),
        }
    }
}

impl From<Message> for ImportedMessage {
    fn from(message: Message) -> Self {
        AnyMessage::Plain(message).into()
    }
}

/// The maximum number of unanswered calls; older ones are dropped, since every response searches all of them.
const MOST_UNANSWERED: usize = 4096;

/// Builds the steps of an episode from messages.
///
/// Invariants: every call has an id; every response has the id and name of a call, if an earlier call matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    start: Vec<AnyMessage>,
    steps: Vec<StepRecord>,
    /// The unanswered calls of the last steps, oldest first: id and name.
    unanswered: Vec<(Text, Text)>,
}

impl Transcript {
    /// The number of steps so far.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The step and the index of the last message, where 0 is the start, and the action of a step after it; `None` without
    /// messages.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self.steps.last() {
            Some(step) => Some((self.steps.len(), step.messages().len())),
            None => Some((0, self.start.len().checked_sub(1)?)),
        }
    }

    /// The last step, for additions.
    pub fn last_mut(&mut self) -> Option<&mut StepRecord> {
        self.steps.last_mut()
    }

    /// Whether there is an unanswered call.
    pub fn expects_answer(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// All calls in order, with the indices of their steps.
    pub fn requests(&self) -> impl Iterator<Item = (usize, &ToolCall)> {
        self.requests_from(0)
    }

    /// The calls of the steps from this one on, with the indices of the steps.
    pub fn requests_from(&self, first: usize) -> impl Iterator<Item = (usize, &ToolCall)> {
        let steps = self.steps.iter().enumerate().skip(first);
        steps.flat_map(|(index, step)| {
            let calls = match &step.action {
                AnyMessage::Request(request) => request.tool_calls.as_slice(),
                _ => &[],
            };
            calls.iter().map(move |call| (index, call))
        })
    }

    /// Marks a call of a step as failed, unless it is marked already.
    pub fn failed(&mut self, step: usize, call: Text, message: Text) {
        if let Some(step) = self.steps.get_mut(step) {
            let errors = &mut step.details.errors;
            let call = Some(call);
            if !errors.iter().any(|error| error.call == call) {
                errors.push(StepError { call, message });
            }
        }
    }

    /// Whether the call with this id is unanswered.
    pub fn is_unanswered(&self, id: &str) -> bool {
        self.unanswered.iter().any(|(known, _)| **known == *id)
    }

    /// Appends a message, as an action if it has the role `assistant`.
    pub fn push(&mut self, said: ImportedMessage) {
        match said.message.role() {
            Role::Assistant => self.act(said),
            _ => self.observe(said),
        }
    }

    /// Appends an action, whatever its role.
    pub fn act(&mut self, said: ImportedMessage) {
        let mut message = said.message;
        if let AnyMessage::Request(request) = &mut message {
            for (index, call) in request.tool_calls.iter_mut().enumerate() {
                if call.id.is_empty() {
                    call.id = call_id(self.steps.len(), index);
                }
                let name = call.function.name.clone();
                self.unanswered.push((call.id.clone(), name));
            }
            let old = self.unanswered.len().saturating_sub(MOST_UNANSWERED);
            self.unanswered.drain(..old);
        }
        self.steps.push(StepRecord {
            seconds: said.seconds,
            details: said.details,
            extras: said.extras,
            ..StepRecord::new(message, observed())
        });
    }

    /// Adds a call to the last step, if its action is a request.
    pub fn add_call(&mut self, mut call: ToolCall) {
        let step = self.steps.len().saturating_sub(1);
        if let Some(last) = self.steps.last_mut()
            && let AnyMessage::Request(request) = &mut last.action
        {
            if call.id.is_empty() {
                call.id = call_id(step, request.tool_calls.len());
            }
            let name = call.function.name.clone();
            self.unanswered.push((call.id.clone(), name));
            request.tool_calls.push(call);
        }
    }

    /// Appends an input or an observation, whatever its role.
    pub fn observe(&mut self, said: ImportedMessage) {
        let message = match said.message {
            AnyMessage::Response(response) => self.link(response),
            message => message,
        };
        let call = match &message {
            AnyMessage::Response(response) => Some(response.tool_call_id.clone()),
            _ => None,
        };
        let Some(step) = self.steps.last_mut() else {
            return self.start.push(message);
        };
        if let Outcome::Observed { messages, .. } = &mut step.outcome {
            messages.push(message);
        }
        for mut error in said.details.errors {
            error.call = error.call.or_else(|| call.clone());
            step.details.errors.push(error);
        }
        // The response to an action ends the step, but a later message of a person does not.
        if let (Some(start), Some(end)) = (step.details.started, said.details.started)
            && call.is_some()
        {
            let so_far = step.seconds.unwrap_or_default();
            step.seconds = Some(so_far.max(time::between(start, end)));
        }
        step.extras.extend_missing(said.extras);
    }

    /// Matches a response to a call: by id, otherwise by name, otherwise the oldest one.
    fn link(&mut self, mut response: ToolResponseMessage) -> AnyMessage {
        let calls = &self.unanswered;
        let index = match &*response.tool_call_id {
            "" => calls
                .iter()
                .position(|(_, name)| *name == response.name)
                .or_else(|| (response.name.is_empty() && !calls.is_empty()).then_some(0)),
            id => calls.iter().rposition(|(known, _)| **known == *id),
        };
        if let Some(index) = index {
            let (id, name) = self.unanswered.remove(index);
            response.tool_call_id = id;
            if response.name.is_empty() {
                response.name = name;
            }
        }
        AnyMessage::Response(response)
    }

    /// Moves start and steps into an episode. If the episode has ended, its last step is marked accordingly. Start time
    /// and duration are derived from the steps if the source does not record them.
    pub fn finish(mut self, episode: &mut Episode) {
        if let Some(Outcome::Observed {
            done, truncated, ..
        }) = self.steps.last_mut().map(|step| &mut step.outcome)
        {
            *done = *done || episode.ending == Ending::Done;
            *truncated = *truncated || matches!(episode.ending, Ending::Truncated { .. });
        }
        let began = |step: &StepRecord| step.details.started;
        let first = self.steps.iter().find_map(began);
        let last = self.steps.iter().rev().find(|step| began(step).is_some());
        episode.started = episode.started.or(first);
        if let (None, Some(first), Some(last)) = (episode.seconds, first, last)
            && let Some(end) = began(last).map(|began| began + last.seconds.unwrap_or_default())
            && end > first
        {
            episode.seconds = Some(time::between(first, end));
        }
        episode.start = self.start;
        episode.steps = self.steps;
    }
}

/// The outcome of an action without observations yet.
pub(crate) fn observed() -> Outcome {
    Outcome::Observed {
        messages: Vec::new(),
        reward: 0.0,
        done: false,
        truncated: false,
    }
}
