//! Metadata of an episode and its steps: usage, times, scores, origin, and related episodes.
//!
//! All fields are optional. Episodes played here have few of them; imported ones have what their source recorded.

use volary_core::json::{Json, Object, Text};

/// Metadata of a step besides its action and result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepDetails {
    /// The reasoning of the model before the action.
    pub reasoning: Option<Text>,
    /// The model that acted, if steps differ or the source records it per step.
    pub model: Option<Text>,
    /// The tokens and cost of the step.
    pub usage: Option<Usage>,
    /// The start time, in seconds since 1970 (UTC).
    pub started: Option<f64>,
    /// Errors within the step, although the step as a whole has a result.
    pub errors: Vec<StepError>,
}

/// An error within a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepError {
    /// The id of the failed call; `None` if the error is not of a call.
    pub call: Option<Text>,
    /// The error message of the source.
    pub message: Text,
}

/// Tokens and cost. `None` is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Input tokens of the model, cached ones included.
    pub input: Option<u64>,
    /// Output tokens of the model, reasoning included.
    pub output: Option<u64>,
    /// Input tokens that were read from a cache.
    pub cached: Option<u64>,
    /// Output tokens of reasoning.
    pub reasoning: Option<u64>,
    /// The cost in US dollars.
    pub cost: Option<f64>,
}

impl Usage {
    /// Whether every field is unknown.
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }

    /// The sum. A field that only one of both has keeps its value.
    pub fn plus(self, other: Usage) -> Usage {
        fn sum<T: Copy>(a: Option<T>, b: Option<T>, add: fn(T, T) -> T) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(add(a, b)),
                (a, b) => a.or(b),
            }
        }
        Usage {
            input: sum(self.input, other.input, u64::saturating_add),
            output: sum(self.output, other.output, u64::saturating_add),
            cached: sum(self.cached, other.cached, u64::saturating_add),
            reasoning: sum(self.reasoning, other.reasoning, u64::saturating_add),
            cost: sum(self.cost, other.cost, |a, b| a + b),
        }
    }
}

/// The granularity of an episode's rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rewards {
    /// Each step has a reward; the episode's reward is their sum.
    #[default]
    Steps,
    /// The source has one reward for the whole episode; those of the steps are 0 and meaningless.
    Whole(f64),
    /// The source has no rewards; those of the steps are 0 and meaningless.
    Unknown,
}

/// A score of the whole episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// The scorer or the metric.
    pub name: Text,
    /// Usually a number, a text or a boolean.
    pub value: Json,
    pub explanation: Option<Text>,
    /// Other members of the source.
    pub extras: Object,
}

/// The file and format that an episode was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The format's name as its reader defines it ("atif").
    pub format: Text,
    /// The version of the format, if the source records it.
    pub version: Option<Text>,
    /// The path of the file; empty if it has none.
    pub file: Text,
}

/// A link to a related episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The relation of the other episode to this one.
    pub relation: Relation,
    /// The id of the other episode. It may not exist, and links may form cycles.
    pub episode: Text,
    /// The step (from 0) of this episode at which the link applies, if known.
    pub step: Option<usize>,
}

/// The relation of another episode to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The other episode started this one.
    Parent,
    /// This episode started the other one.
    Subagent,
    /// This episode continues the other one.
    Predecessor,
    /// The other episode continues this one.
    Continuation,
    /// Both share their first steps, up to the step of the link.
    Branch,
}

impl Relation {
    pub const ALL: [Relation; 5] = [
        Relation::Parent,
        Relation::Subagent,
        Relation::Predecessor,
        Relation::Continuation,
        Relation::Branch,
    ];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Relation::Parent => "parent",
            Relation::Subagent => "subagent",
            Relation::Predecessor => "predecessor",
            Relation::Continuation => "continuation",
            Relation::Branch => "branch",
        }
    }
}
