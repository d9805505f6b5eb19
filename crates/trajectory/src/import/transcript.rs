//! Turns messages into steps: an action begins a step, and the messages after it are its result.

use volary_core::json::{Object, Text};
use volary_core::{AnyMessage, Message, Role, ToolCall, ToolResponseMessage};

use crate::episode::{Ending, Episode, Outcome, StepDetails, StepError, StepRecord, call_id};
use crate::time;

/// A message of a file, with what the file says about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ImportedMessage {
    /// The message. An answer whose call is not known has an empty id.
    pub message: AnyMessage,
    /// Its metadata. For anything but an action, only time and errors are preserved.
    pub details: StepDetails,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// What else belongs to the step.
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

/// How many calls may be unanswered; earlier ones are given up, since every reply searches all of them.
const MOST_UNANSWERED: usize = 4096;

/// Steps in the making.
///
/// Invariants: every call has an id; every answer has the id and name of a call, as far as one of the
/// calls before it fits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    start: Vec<AnyMessage>,
    steps: Vec<StepRecord>,
    /// The calls of the last steps that are not answered, oldest first: id and name.
    unanswered: Vec<(Text, Text)>,
}

impl Transcript {
    /// How many steps there are so far.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The last step, to add to it.
    pub fn last_mut(&mut self) -> Option<&mut StepRecord> {
        self.steps.last_mut()
    }

    /// Whether a call is not answered yet.
    pub fn expects_answer(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// All calls in order, with the places of their steps.
    pub fn requests(&self) -> impl Iterator<Item = (usize, &ToolCall)> {
        let steps = self.steps.iter().enumerate();
        steps.flat_map(|(place, step)| {
            let calls = match &step.action {
                AnyMessage::Request(request) => request.tool_calls.as_slice(),
                _ => &[],
            };
            calls.iter().map(move |call| (place, call))
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

    /// Whether the call of this id is not answered yet.
    pub fn is_unanswered(&self, id: &str) -> bool {
        self.unanswered.iter().any(|(known, _)| **known == *id)
    }

    /// Appends a message.
    pub fn push(&mut self, said: ImportedMessage) {
        match said.message.role() {
            Role::Assistant => self.act(said),
            _ => self.observe(said),
        }
    }

    fn act(&mut self, said: ImportedMessage) {
        let mut message = said.message;
        if let AnyMessage::Request(request) = &mut message {
            for (place, call) in request.tool_calls.iter_mut().enumerate() {
                if call.id.is_empty() {
                    call.id = call_id(self.steps.len(), place);
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

    /// One more call of the last step, if that is a request.
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
        // What came of an action ends it, unless a person wrote it some time later.
        if let (Some(start), Some(end)) = (step.details.started, said.details.started)
            && call.is_some()
        {
            let so_far = step.seconds.unwrap_or_default();
            step.seconds = Some(so_far.max(time::between(start, end)));
        }
        step.extras.extend_missing(said.extras);
    }

    /// Finds the call that is answered: by its id, else by its name, else the oldest.
    fn link(&mut self, mut response: ToolResponseMessage) -> AnyMessage {
        let calls = &self.unanswered;
        let place = match &*response.tool_call_id {
            "" => calls
                .iter()
                .position(|(_, name)| *name == response.name)
                .or_else(|| (response.name.is_empty() && !calls.is_empty()).then_some(0)),
            id => calls.iter().rposition(|(known, _)| **known == *id),
        };
        if let Some(place) = place {
            let (id, name) = self.unanswered.remove(place);
            response.tool_call_id = id;
            if response.name.is_empty() {
                response.name = name;
            }
        }
        AnyMessage::Response(response)
    }

    /// Puts start and steps into an episode. If the episode has ended, its last step is marked accordingly.
    /// Start and duration are derived from the steps if the source does not record them for the whole.
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

/// What came of an action of which nothing is known yet.
pub(crate) fn observed() -> Outcome {
    Outcome::Observed {
        messages: Vec::new(),
        reward: 0.0,
        done: false,
        truncated: false,
    }
}
