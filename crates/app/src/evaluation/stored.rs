//! An evaluation as it is stored, and a cell that was played.

use volary_agent::evaluation::{CellResult, Plan};
use volary_agent::model::limits::Spent;
use volary_core::json::{Object, Text};

use super::summary::PolicySummary;

/// The head of an evaluation: the summary that the list of evaluations shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    pub id: Text,
    pub name: Text,
    /// When it was created, in seconds since 1970.
    pub made: f64,
    pub total: usize,
    /// The number of finished episodes.
    pub finished: usize,
    /// The number of failed episodes.
    pub failed: usize,
    /// The dataset or the environment of the tasks.
    pub source: Option<Text>,
    /// The results of each policy.
    pub policies: Vec<PolicySummary>,
}

/// An unfinished episode of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Tokens and cost of its steps, over all attempts.
    pub spent: Spent,
    /// The number of attempts before this one.
    pub attempts: u32,
    /// Answers that its environment received from outside so far, as members of its configuration.
    pub recorded: Object,
}

/// A stored evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub head: Head,
    pub plan: Plan,
    pub results: Vec<CellResult>,
    /// The unfinished episodes.
    pub drafts: Vec<(usize, Draft)>,
}

/// A cell that was played. `E` is an episode as the page stores it.
#[derive(Clone, Debug, PartialEq)]
pub struct Done<E> {
    pub result: CellResult,
    /// The episode, if one was recorded.
    pub episode: Option<E>,
    /// The draft from which the next attempt continues.
    pub draft: Option<Draft>,
}
