//! What an episode is: a recipe (environment, configuration, seed) and the ordered actions with
//! all that came of them. [`details`]: what else is known of it.

pub mod details;

pub use details::{Link, Relation, Rewards, Score, Source, StepDetails, StepError, Usage};

use volary_core::json::{Object, Text};
use volary_core::random::Random;
use volary_core::{AnyMessage, Tool};

use crate::frames::{FrameHistory, FramePatch};
use crate::patch::PatchError;

/// What makes the environment of an episode again. Local environments are deterministic: a
/// recipe and the actions give the same observations, bit for bit (timings in infos aside).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// The name of the environment in the registry.
    pub environment: Text,
    pub configuration: Object,
    /// The seed of all randomness in it. Below 2^53, so that every JSON reader preserves it.
    pub seed: u64,
    /// The task that it came from, if it came from a dataset. For people; not needed to run.
    pub task: Option<TaskReference>,
}

/// The id of a call that was made here, derived from its step and its position in the action: nine letters and
/// digits, the form that the strictest providers require. Because it is derived, links do not contain it.
pub fn call_id(step: usize, call: usize) -> Text {
    // Both are counts of things in memory, so they fit.
    let mut random = Random::new(step as u64).fork(&call.to_string());
    format!("{:09x}", random.below(1 << 36)).into()
}

/// Which task of which dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReference {
    /// The name of the dataset.
    pub dataset: Text,
    /// The id of the task within it.
    pub id: Text,
}

/// What came of one action.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The environment answered.
    Observed {
        /// The observations.
        messages: Vec<AnyMessage>,
        /// The reward of this step.
        reward: f64,
        /// Whether the environment says that the episode is over.
        done: bool,
        /// Whether the environment says that the episode was cut off.
        truncated: bool,
    },
    /// The step failed; the environment may go on.
    Failed {
        /// What failed and why, for people.
        message: Text,
    },
}

/// One action and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    pub action: AnyMessage,
    /// Its observations, reward and end.
    pub outcome: Outcome,
    /// How long the step took in seconds, where known.
    pub seconds: Option<f64>,
    /// What is known of it in terms that all sources share.
    pub details: StepDetails,
    /// What else is known of the step (by the policy or the source).
    pub extras: Object,
}

/// The state of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// It can go on.
    #[default]
    Open,
    /// The environment reported `done`.
    Done,
    /// The environment or a limit cut it off.
    Truncated {
        /// By what, for people.
        reason: Text,
    },
    /// The environment crashed (a panic); the steps so far are preserved.
    Crashed {
        /// What is known of it.
        message: Text,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Episode {
    /// Its id, unique among those of a person.
    pub id: Text,
    /// What a person calls it.
    pub name: Text,
    /// What makes its environment again; `None` where the source did not say.
    pub recipe: Option<Recipe>,
    /// The policy that acted ("manual", "random", the name of an agent), if known.
    pub policy: Option<Text>,
    /// The model that acted, where known.
    pub model: Option<Text>,
    /// The environment, where known but not such that it can be made again (else see the recipe).
    pub environment: Option<Text>,
    /// The task, where known but without a recipe.
    pub task: Option<TaskReference>,
    /// The tools on offer.
    pub tools: Vec<Tool>,
    /// The observations of the reset.
    pub start: Vec<AnyMessage>,
    /// The steps in order.
    pub steps: Vec<StepRecord>,
    /// Frame 0 is after the reset, frame `i` after step `i`. May hold fewer (or none) where the
    /// source had none.
    pub frames: FrameHistory,
    /// Its state.
    pub ending: Ending,
    /// How it ended in the source's own word ("submitted", "user_stop"), where it has one.
    pub outcome: Option<Text>,
    /// How its rewards are known.
    pub rewards: Rewards,
    /// How it was judged.
    pub scores: Vec<Score>,
    /// The usage of the whole episode, if the source recorded it; otherwise see [`Episode::usage`], which adds
    /// up the steps.
    pub total_usage: Option<Usage>,
    /// When it began, in seconds since 1970 (UTC).
    pub started: Option<f64>,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// What went wrong with the whole.
    pub errors: Vec<Text>,
    /// Other episodes that belong to it.
    pub links: Vec<Link>,
    /// What it was read from; `None` if it was made here.
    pub source: Option<Source>,
    /// Other data of the source, as the source names it.
    pub metadata: Object,
    /// What else the source had, as it was.
    pub raw: Object,
}

impl Episode {
    /// The sum of all rewards, 0 where they are unknown.
    pub fn total_reward(&self) -> f64 {
        self.reward().unwrap_or_default()
    }

    /// The reward of the whole, where known.
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

    /// What all of it cost: as the source says, else the sum of the steps.
    pub fn usage(&self) -> Usage {
        let steps = self.steps.iter().filter_map(|step| step.details.usage);
        self.total_usage
            .unwrap_or_else(|| steps.fold(Usage::default(), Usage::plus))
    }

    /// The task that it was about, where known.
    pub fn task(&self) -> Option<&TaskReference> {
        let recipe = self.recipe.as_ref();
        recipe
            .and_then(|recipe| recipe.task.as_ref())
            .or(self.task.as_ref())
    }

    /// The name of the environment, where known.
    pub fn environment(&self) -> Option<&Text> {
        let recipe = self.recipe.as_ref();
        recipe
            .map(|recipe| &recipe.environment)
            .or(self.environment.as_ref())
    }

    /// How many tools were called.
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

    /// Whether it came to an end.
    pub fn is_over(&self) -> bool {
        self.ending != Ending::Open
    }

    /// Appends a step and the frame after it; the ending follows from the step. An episode that began
    /// without a frame stays without. On an error nothing changes.
    pub fn record(&mut self, step: StepRecord, frame: FramePatch) -> Result<(), PatchError> {
        if !self.frames.is_empty() {
            self.frames.push_patch(frame)?;
        }
        self.ending = step.ending();
        self.steps.push(step);
        Ok(())
    }

    /// Goes back to after the first `steps` steps: what came later is gone, and the episode is
    /// open, unless one of the steps that stay ended it.
    pub fn rewind(&mut self, steps: usize) {
        self.steps.truncate(steps);
        self.frames.truncate(steps + 1);
        self.ending = self.steps.last().map_or(Ending::Open, StepRecord::ending);
    }
}

impl StepRecord {
    /// A step of which nothing else is known.
    pub fn new(action: AnyMessage, outcome: Outcome) -> Self {
        StepRecord {
            action,
            outcome,
            seconds: None,
            details: StepDetails::default(),
            extras: Object::new(),
        }
    }

    /// The reward, if the step did not fail.
    pub fn reward(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Observed { reward, .. } => Some(reward),
            Outcome::Failed { .. } => None,
        }
    }

    /// The observations; none if the step failed.
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
