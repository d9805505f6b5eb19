//! Goals of checks. Whether a goal is met is a pure function of the episode, and of the step that the reader selected.

use volary_app::school::SchoolFact;
use volary_core::AnyMessage;
use volary_episode::{Ending, Episode, Outcome, StepRecord};

use crate::block::{Field, Fields};
use crate::lesson::Problem;
use crate::school_block;

/// A goal of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// All conditions hold for the episode.
    All(Vec<Condition>),
    /// The reader selects this step, counted from 1.
    Step(usize),
    /// All of it happened in a task of the school.
    School(Vec<SchoolFact>),
}

/// A condition on an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The sum of the rewards.
    Reward(Bound, f64),
    /// The number of steps.
    Steps(Bound, u64),
    /// The number of calls of a tool, or of all tools.
    Calls {
        /// The tool whose calls are counted; `None` for all tools.
        tool: Option<String>,
        /// The comparison with `count`.
        bound: Bound,
        count: u64,
    },
    /// The number of steps that failed or were noted as a fault.
    Failures(Bound, u64),
    /// The episode is done.
    Done,
    /// The episode was truncated.
    Truncated,
}

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At least the number.
    AtLeast,
    /// At most the number.
    AtMost,
    /// Equal to the number.
    Exactly,
}

/// The keys of conditions.
pub const KEYS: [&str; 11] = [
    "reward",
    "steps",
    "calls",
    "calls of <tool>",
    "failures",
    "ends",
    "find step",
    "success",
    "finds",
    "repairs",
    "does",
];

impl Goal {
    /// Takes the fields of a goal.
    pub fn take(fields: &mut Fields) -> Result<Goal, Problem> {
        if let Some(step) = fields.number("find step")? {
            return match step {
                0 => Err(Problem::new(fields.line(), "steps are counted from 1")),
                step => Ok(Goal::Step(step as usize)),
            };
        }
        let facts = school_block::take_facts(fields)?;
        if !facts.is_empty() {
            return Ok(Goal::School(facts));
        }
        let is_condition = |key: &str| {
            ["reward", "steps", "calls", "failures", "ends"].contains(&key)
                || key.starts_with("calls of ")
        };
        let mut conditions = Vec::new();
        while let Some(field) = fields.take_next(is_condition) {
            conditions.push(condition(&field)?);
        }
        if conditions.is_empty() {
            Err(Problem::new(
                fields.line(),
                format!("the check asks for nothing; use one of {}", KEYS.join(", ")),
            ))
        } else {
            Ok(Goal::All(conditions))
        }
    }

    /// Whether an episode, and the step that the reader selected, meet the goal.
    pub fn is_met(&self, episode: &Episode, named: Option<usize>) -> bool {
        match self {
            // No goal is met before the first step.
            Goal::All(conditions) => {
                !episode.steps.is_empty()
                    && conditions.iter().all(|condition| condition.holds(episode))
            }
            Goal::Step(step) => named == Some(*step),
            // No episode shows it.
            Goal::School(_) => false,
        }
    }

    /// The default description of the goal.
    pub fn describe(&self) -> String {
        match self {
            Goal::Step(_) => "Find the step where it goes wrong".to_owned(),
            Goal::All(conditions) => sentence(
                &conditions
                    .iter()
                    .map(Condition::describe)
                    .collect::<Vec<_>>(),
            ),
            Goal::School(facts) => {
                sentence(&facts.iter().map(|fact| fact.describe()).collect::<Vec<_>>())
            }
        }
    }
}

impl Condition {
    /// Whether an episode meets the condition.
    pub fn holds(&self, episode: &Episode) -> bool {
        match self {
            Condition::Reward(bound, reward) => {
                // Rewards are sums of decimal fractions.
                let total = (episode.total_reward() * 1e9).round() / 1e9;
                bound.holds(total, *reward)
            }
            Condition::Steps(bound, steps) => bound.holds(episode.steps.len() as u64, *steps),
            Condition::Calls { tool, bound, count } => {
                bound.holds(calls(episode, tool.as_deref()), *count)
            }
            Condition::Failures(bound, count) => {
                let failed = episode.steps.iter().filter(|step| is_failed(step)).count();
                bound.holds(failed as u64, *count)
            }
            Condition::Done => episode.ending == Ending::Done,
            Condition::Truncated => matches!(episode.ending, Ending::Truncated { .. }),
        }
    }

    fn describe(&self) -> String {
        match self {
            Condition::Reward(Bound::AtLeast, reward) => format!("reach reward {reward}"),
            Condition::Reward(bound, reward) => format!("reward {} {reward}", bound.words()),
            Condition::Steps(bound, steps) => {
                format!("{} {}", bound.words(), times(*steps, "step"))
            }
            Condition::Calls {
                tool: Some(tool),
                bound,
                count,
            } => format!("use {tool} {} {}", bound.words(), times(*count, "time")),
            Condition::Calls {
                tool: None,
                bound,
                count,
            } => format!("{} {}", bound.words(), times(*count, "tool call")),
            Condition::Failures(bound, count) => {
                format!("{} {}", bound.words(), times(*count, "failed step"))
            }
            Condition::Done => "the episode is done".to_owned(),
            Condition::Truncated => "the episode is truncated".to_owned(),
        }
    }
}

impl Bound {
    fn holds<T: PartialOrd>(self, value: T, limit: T) -> bool {
        match self {
            Bound::AtLeast => value >= limit,
            Bound::AtMost => value <= limit,
            Bound::Exactly => value == limit,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
            Bound::Exactly => "exactly",
        }
    }

    const ALL: [Bound; 3] = [Bound::AtLeast, Bound::AtMost, Bound::Exactly];
}

/// Joins parts, and begins with a capital letter.
fn sentence(parts: &[String]) -> String {
    let joined = parts.join(", ");
    let mut characters = joined.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), characters.as_str())
}

fn times(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Whether a step failed, or its policy noted a fault.
pub fn is_failed(step: &StepRecord) -> bool {
    matches!(step.outcome, Outcome::Failed { .. }) || !step.details.errors.is_empty()
}

fn calls(episode: &Episode, tool: Option<&str>) -> u64 {
    let requests = episode.actions().filter_map(|action| match action {
        AnyMessage::Request(request) => Some(request),
        _ => None,
    });
    let calls = requests.flat_map(|request| &request.tool_calls);
    let counted = calls.filter(|call| tool.is_none_or(|tool| *call.function.name == *tool));
    counted.count() as u64
}

fn condition(field: &Field) -> Result<Condition, Problem> {
    if field.key == "ends" {
        return match &*field.value.to_lowercase() {
            "done" => Ok(Condition::Done),
            "truncated" => Ok(Condition::Truncated),
            other => Err(Problem::new(
                field.line,
                format!("\"ends\" must be done or truncated, not \"{other}\""),
            )),
        };
    }
    let lower = field.value.to_lowercase();
    let bound = Bound::ALL
        .into_iter()
        .find_map(|bound| Some((bound, lower.strip_prefix(bound.words())?.trim())));
    let wrong = || {
        Problem::new(
            field.line,
            format!(
                "\"{}\" must be \"at least\", \"at most\" or \"exactly\" and a number, not \"{}\"",
                field.key, field.value
            ),
        )
    };
    let (bound, number) = bound.ok_or_else(wrong)?;
    if field.key == "reward" {
        let reward: f64 = number.parse().map_err(|_| wrong())?;
        return if reward.is_finite() {
            Ok(Condition::Reward(bound, reward))
        } else {
            Err(wrong())
        };
    }
    let count: u64 = number.parse().map_err(|_| wrong())?;
    Ok(match &*field.key {
        "steps" => Condition::Steps(bound, count),
        "failures" => Condition::Failures(bound, count),
        key => Condition::Calls {
            tool: key
                .strip_prefix("calls of ")
                .map(|tool| tool.trim().to_owned()),
            bound,
            count,
        },
    })
}

#[cfg(test)]
mod tests;
