//! The episode: a recipe (environment, configuration, seed), and the ordered actions with their results. [`details`]:
//! metadata.

pub mod details;
mod ending_kind;

pub use details::{Link, Relation, Rewards, Score, Source, StepDetails, StepError, Usage};
pub use ending_kind::EndingKind;

use std::sync::Arc;

use volary_core::json::{Object, Text};
use volary_core::random::Random;
use volary_core::{AnyMessage, Tool};

use crate::frames::{FrameHistory, FramePatch};
use crate::patch::PatchError;
use crate::token_record::TokenRecord;

/// The input from which the environment of an episode can be recreated. Local environments are deterministic: a recipe
/// and the actions reproduce the same observations bit for bit (except for timings in infos).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// The name of the environment in the registry.
    pub environment: Text,
    pub configuration: Object,
    /// The seed of all randomness in the environment. Below 2^53, so that every JSON reader preserves it.
    pub seed: u64,
    /// The task, if it came from a dataset. For display; not needed to run.
    pub task: Option<TaskReference>,
}

/// The id of a call that was made here, derived from its step and its position in the action: nine letters and
/// digits, the form that the strictest providers require. Because it is derived, links do not contain it.
pub fn call_id(step: usize, call: usize) -> Text {
    // Both are indices into memory, so they fit.
    let mut random = Random::new(step as u64).fork(&call.to_string());
    format!("{:09x}", random.below(1 << 36)).into()
}

/// The text of a request as the model wrote it, with the markup of its calls, if the file has that.
pub fn sampled_text(message: &AnyMessage) -> Option<&Text> {
    let AnyMessage::Request(request) = message else {
        return None;
    };
    request.body.info.as_ref()?.get("text")?.as_text()
}

/// A reference to a task of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReference {
    /// The name of the dataset.
    pub dataset: Text,
    /// The id of the task within it.
    pub id: Text,
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The environment returned observations.
    Observed {
        /// The observations.
        messages: Vec<AnyMessage>,
        /// The reward of this step.
        reward: f64,
        /// Whether the environment reports the end of the episode.
        done: bool,
        /// Whether the environment reports that the episode was truncated.
        truncated: bool,
    },
    /// The step failed; the environment may continue.
    Failed {
        /// The error message for the user.
        message: Text,
    },
}

/// One action and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    pub action: AnyMessage,
    pub outcome: Outcome,
    /// The duration of the step in seconds, if known.
    pub seconds: Option<f64>,
    /// Metadata in fields that all sources share.
    pub details: StepDetails,
    /// Other metadata of the step, from the policy or the source.
    pub extras: Object,
}

/// The state of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// The episode can continue.
    #[default]
    Open,
    /// The environment reported `done`.
    Done,
    /// The environment or a limit truncated the episode.
    Truncated {
        /// The cause, for display.
        reason: Text,
    },
    /// The environment crashed (a panic); the steps so far are preserved.
    Crashed {
        /// The panic message, as far as it is known.
        message: Text,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Episode {
    /// The id, unique within a user's episodes.
    pub id: Text,
    /// The display name.
    pub name: Text,
    /// The input to recreate the environment; `None` if the source lacks it.
    pub recipe: Option<Recipe>,
    /// The policy that acted ("manual", "random", the name of an agent), if known.
    pub policy: Option<Text>,
    /// The model that acted, if known.
    pub model: Option<Text>,
    /// The environment, if it is known but cannot be recreated (otherwise see the recipe).
    pub environment: Option<Text>,
    /// The task, if it is known without a recipe.
    pub task: Option<TaskReference>,
    /// The tools available to the agent.
    pub tools: Vec<Tool>,
    /// The observations of the reset.
    pub start: Vec<AnyMessage>,
    /// The steps in order.
    pub steps: Vec<StepRecord>,
    /// Frame 0 is after the reset, frame `i` after step `i`. May contain fewer frames (or none) if the source lacks
    /// them.
    pub frames: FrameHistory,
    pub ending: Ending,
    /// The ending in the source's own term ("submitted", "user_stop"), if there is one.
    pub outcome: Option<Text>,
    pub rewards: Rewards,
    pub scores: Vec<Score>,
    /// The usage of the whole episode, if the source recorded it; otherwise see [`Episode::usage`], which adds
    /// up the steps.
    pub total_usage: Option<Usage>,
    /// The start time, in seconds since 1970 (UTC).
    pub started: Option<f64>,
    /// The duration in seconds.
    pub seconds: Option<f64>,
    /// Errors of the whole episode.
    pub errors: Vec<Text>,
    /// Links to related episodes.
    pub links: Vec<Link>,
    /// The tokens that a trainer recorded, if there are any.
    pub tokens: Option<Arc<TokenRecord>>,
    /// The file it was read from; `None` if it was played here.
    pub source: Option<Source>,
    /// Metadata of the source, under the source's names.
    pub metadata: Object,
    /// Other members of the source, unchanged.
    pub raw: Object,
}

impl Episode {
    /// The sum of all rewards, 0 if they are unknown.
    pub fn total_reward(&self) -> f64 {
        self.reward().unwrap_or_default()
    }

    /// The reward of the whole episode, if known.
    pub fn reward(&self) -> Option<f64> {
        match self.rewards {
            Rewards::Steps => Some(self.steps.iter().filter_map(StepRecord::reward).sum()),
            Rewards::Whole(reward) => Some(reward),
            Rewards::Unknown => None,
        }
    }

    /// Whether this episode is a prefix of another one: all its messages, actions and observations are equal.
    pub fn is_beginning_of(&self, whole: &Episode) -> bool {
        let is_same = |(one, other): (&StepRecord, &StepRecord)| {
            one.action == other.action && one.messages() == other.messages()
        };
        self.start == whole.start
            && self.steps.len() <= whole.steps.len()
            && self.steps.iter().zip(&whole.steps).all(is_same)
    }

    /// The usage of the whole episode: as recorded by the source, otherwise the sum of the steps.
    pub fn usage(&self) -> Usage {
        let steps = self.steps.iter().filter_map(|step| step.details.usage);
        self.total_usage
            .unwrap_or_else(|| steps.fold(Usage::default(), Usage::plus))
    }

    /// The task, if known.
    pub fn task(&self) -> Option<&TaskReference> {
        let recipe = self.recipe.as_ref();
        recipe
            .and_then(|recipe| recipe.task.as_ref())
            .or(self.task.as_ref())
    }

    /// The name of the environment, if known.
    pub fn environment(&self) -> Option<&Text> {
        let recipe = self.recipe.as_ref();
        recipe
            .map(|recipe| &recipe.environment)
            .or(self.environment.as_ref())
    }

    /// The number of tool calls.
    pub fn calls(&self) -> usize {
        let messages = self.messages();
        messages
            .map(|message| match message {
                AnyMessage::Request(request) => request.tool_calls.len(),
                _ => 0,
            })
            .sum()
    }

    /// All messages in order: the start, then each action with its observations.
    pub fn messages(&self) -> impl Iterator<Item = &AnyMessage> {
        self.messages_until(self.steps.len())
    }

    /// The messages up to a frame: 0 is after the reset, `i` after step `i`.
    pub fn messages_until(&self, step: usize) -> impl Iterator<Item = &AnyMessage> {
        let steps = self.steps.iter().take(step);
        let said = steps.flat_map(|step| std::iter::once(&step.action).chain(step.messages()));
        self.start.iter().chain(said)
    }

    /// The actions in order.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = &AnyMessage> {
        self.steps.iter().map(|step| &step.action)
    }

    /// Whether the episode has ended.
    pub fn is_over(&self) -> bool {
        self.ending != Ending::Open
    }

    /// Appends a step and the frame after it; the ending follows from the step. An episode that started without a frame
    /// gets none. On an error nothing changes.
    pub fn record(&mut self, step: StepRecord, frame: FramePatch) -> Result<(), PatchError> {
        if !self.frames.is_empty() {
            self.frames.push_patch(frame)?;
        }
        self.ending = step.ending();
        self.steps.push(step);
        Ok(())
    }

    /// Rewinds to the state after the first `steps` steps: later steps are dropped, and the episode is open unless one
    /// of the remaining steps ended it.
    pub fn rewind(&mut self, steps: usize) {
        self.steps.truncate(steps);
        self.frames.truncate(steps + 1);
        self.ending = self.steps.last().map_or(Ending::Open, StepRecord::ending);
    }
}

impl StepRecord {
    /// Creates a step without metadata.
    pub fn new(action: AnyMessage, outcome: Outcome) -> Self {
        StepRecord {
            action,
            outcome,
            seconds: None,
            details: StepDetails::default(),
            extras: Object::new(),
        }
    }

    /// The reward; `None` if the step failed.
    pub fn reward(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Observed { reward, .. } => Some(reward),
            Outcome::Failed { .. } => None,
        }
    }

    /// The observations; empty if the step failed.
    pub fn messages(&self) -> &[AnyMessage] {
        match &self.outcome {
            Outcome::Observed { messages, .. } => messages,
            Outcome::Failed { .. } => &[],
        }
    }

    /// The state of the episode after the step.
    pub fn ending(&self) -> Ending {
        match self.outcome {
            Outcome::Observed { done: true, .. } => Ending::Done,
            Outcome::Observed {
                truncated: true, ..
            } => Ending::Truncated {
                reason: "The environment truncated the episode.".into(),
            },
            _ => Ending::Open,
        }
    }
}
