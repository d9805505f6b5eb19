//! Metadata of an episode and its steps: usage, times, scores, origin, and related episodes.
//!
//! All of it is optional. Episodes played here have little of it; imported ones have what their source recorded.

use volary_core::json::{Json, Object, Text};

/// What is known of a step besides its action and result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepDetails {
    /// What the model thought before it acted.
    pub reasoning: Option<Text>,
    /// The model that acted, where steps differ or the source says it by step.
    pub model: Option<Text>,
    /// What the step cost.
    pub usage: Option<Usage>,
    /// When it began, in seconds since 1970 (UTC).
    pub started: Option<f64>,
    /// What went wrong, although the step as a whole was answered.
    pub errors: Vec<StepError>,
}

/// Something that went wrong within a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepError {
    /// The id of the call that failed; `None` if it was no call.
    pub call: Option<Text>,
    /// What failed, in the words of the source.
    pub message: Text,
}

/// Tokens and money. `None` is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens that the model read, cached ones included.
    pub input: Option<u64>,
    /// Tokens that the model wrote, reasoning included.
    pub output: Option<u64>,
    /// Those of the input that came from a cache.
    pub cached: Option<u64>,
    /// Those of the output that were reasoning.
    pub reasoning: Option<u64>,
    /// The price in US dollars.
    pub cost: Option<f64>,
}

impl Usage {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }

    /// Both together; what only one of them knows counts.
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

/// How the rewards of an episode are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rewards {
    /// Each step has its own; that of the episode is their sum.
    #[default]
    Steps,
    /// The source gives one for the whole; those of the steps are 0 and mean nothing.
    Whole(f64),
    /// The source gives none; those of the steps are 0 and mean nothing.
    Unknown,
}

/// A judgement of the whole episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// The scorer or the metric.
    pub name: Text,
    /// The judgement: mostly a number, a text or true or false.
    pub value: Json,
    /// The explanation, if there is one.
    pub explanation: Option<Text>,
    /// What else the source says of it.
    pub extras: Object,
}

/// What an episode was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The name of the format, as its reader has it ("atif").
    pub format: Text,
    /// The version of the format, where the source says it.
    pub version: Option<Text>,
    /// The path of the file; empty where it has none.
    pub file: Text,
}

/// Another episode that belongs to this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What the other one is to this one.
    pub relation: Relation,
    /// The id of the other one. It need not be there, and links may go in a circle.
    pub episode: Text,
    /// The step (from 0) of this one from which it goes, where known.
    pub step: Option<usize>,
}

/// What another episode is to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// It started this one.
    Parent,
    /// This one started it.
    Subagent,
    /// This episode continues that one.
    Predecessor,
    /// That episode continues this one.
    Continuation,
    /// Both share their first steps, up to the step of the link.
    Branch,
}

impl Relation {
    /// Every relation.
    pub const ALL: [Relation; 5] = [
        Relation::Parent,
        Relation::Subagent,
        Relation::Predecessor,
        Relation::Continuation,
        Relation::Branch,
    ];

    /// Its name in files.
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
