//! The work of a class as examples to imitate: what pupils handed in teaches the policy before it is trained.
//!
//! An episode fits if it was played in the policy's environment, was rewarded, and can be written in the policy's grammar.
//! Every other one is left out, with the reason.
//!
//! Invariant: what an episode says of itself is not believed. Its calls are played again in the real environment, and that
//! decides.

use serde::{Deserialize, Serialize};
use volary_core::json::Object;
use volary_core::random::Random;
use volary_core::{AnyMessage, Text};
use volary_episode::Episode;
use volary_policy::Weights;
use volary_policy::file::{read_8_bit, write_8_bit};

use crate::learnable::{Behaviour, Exercise, Learnable, Turn};
use crate::play::{AttemptEnding, Play, SchoolError};
use crate::run::RunError;
use crate::warm_start::{EXAMPLES, Example, WarmStart, demonstrate};

/// The number of batches that imitate a class.
pub const BATCHES: u32 = 60;
/// The number of examples of the class in a batch. The others are of the built-in student: of those the policy learns to
/// write any task, of the class how to go about it.
const OF_CLASS: usize = 24;
/// The seed of the drawing of examples. It is fixed, so that the same class teaches the same.
const SEED: u64 = 1;
/// The largest number of calls that are played again.
const MOST_STEPS: usize = 200;

/// An episode that a pupil handed in.
#[derive(Clone, Debug, PartialEq)]
pub struct PupilWork {
    pub pupil: String,
    /// The title of the task that the pupil played.
    pub title: String,
    pub episode: Episode,
}

/// Why an episode teaches nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkMisfit {
    #[error("It has no environment, so it cannot be played again.")]
    NoRecipe,
    #[error("It was played in `{found}`; the agent learns `{expected}`.")]
    OtherEnvironment {
        found: String,
        expected: &'static str,
    },
    #[error("Nothing was played.")]
    Unplayed,
    #[error("It has more than {MOST_STEPS} steps.")]
    TooManySteps,
    #[error("It did not solve its task: played again, it gets the reward {reward}.")]
    Unsolved { reward: String },
    #[error(
        "The agent cannot write it: it knows {alphabet} only, and one calculation of two numbers at a time."
    )]
    Unwritable { alphabet: &'static str },
    #[error("It is longer than the {limit} characters that the agent reads.")]
    TooLong { limit: usize },
    #[error("It could not be played again: {0}")]
    Unplayable(String),
}

/// An episode that is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub pupil: String,
    pub title: String,
    pub reason: String,
}

/// What a class hands in, as far as it fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classwork {
    examples: Vec<(String, Example)>,
    pub left_out: Vec<LeftOut>,
}

impl Classwork {
    /// Reads episodes: those that fit become examples.
    pub fn read(learnable: &dyn Learnable, works: &[PupilWork]) -> Self {
        let mut classwork = Classwork::default();
        for work in works {
            match example(learnable, &work.episode) {
                Ok(example) => classwork.examples.push((work.pupil.clone(), example)),
                Err(misfit) => classwork.left_out.push(LeftOut {
                    pupil: work.pupil.clone(),
                    title: work.title.clone(),
                    reason: misfit.to_string(),
                }),
            }
        }
        classwork
    }

    /// The pupils with examples, in the order of their first one, and the number of these.
    pub fn pupils(&self) -> Vec<(String, usize)> {
        let mut pupils: Vec<(String, usize)> = Vec::new();
        for (pupil, _) in &self.examples {
            match pupils.iter_mut().find(|(known, _)| known == pupil) {
                Some((_, count)) => *count += 1,
                None => pupils.push((pupil.clone(), 1)),
            }
        }
        pupils
    }

    /// The number of examples, without those of a pupil.
    pub fn count(&self, without: Option<&str>) -> usize {
        self.of(without).count()
    }

    fn of(&self, without: Option<&str>) -> impl Iterator<Item = &Example> {
        let examples = self.examples.iter();
        let chosen = examples.filter(move |(pupil, _)| Some(&**pupil) != without);
        chosen.map(|(_, example)| example)
    }

    /// Teaches a policy by the examples, without those of a pupil. The result has 8 bits a weight, as the warm starts that
    /// come with the program. It depends on the weights and the examples only.
    ///
    /// # Errors
    ///
    /// If the weights are of another network, or an environment fails.
    pub fn teach(
        &self,
        learnable: &dyn Learnable,
        start: Weights,
        without: Option<&str>,
    ) -> Result<Weights, RunError> {
        let examples: Vec<&Example> = self.of(without).collect();
        if examples.is_empty() {
            return Ok(start);
        }
        let mut warm_start = WarmStart::from_weights(learnable, start, BATCHES)?;
        let random = Random::new(SEED);
        let (mut drawn, mut students) = (random.fork("class"), random.fork("students"));
        for _ in 0..BATCHES {
            let mut batch = Vec::with_capacity(EXAMPLES);
            for _ in 0..OF_CLASS {
                batch.extend(drawn.pick(&examples).map(|example| (*example).clone()));
            }
            while batch.len() < EXAMPLES {
                batch.extend(demonstrate(learnable, &mut students)?);
            }
            warm_start.imitate(&batch)?;
        }
        Ok(read_8_bit(&write_8_bit(warm_start.network().weights()))?)
    }
}

/// An episode as an example.
fn example(learnable: &dyn Learnable, episode: &Episode) -> Result<Example, WorkMisfit> {
    let recipe = episode.recipe.as_ref().ok_or(WorkMisfit::NoRecipe)?;
    if *recipe.environment != *learnable.environment() {
        return Err(WorkMisfit::OtherEnvironment {
            found: recipe.environment.to_string(),
            expected: learnable.environment(),
        });
    }
    if episode.steps.is_empty() {
        return Err(WorkMisfit::Unplayed);
    }
    if episode.steps.len() > MOST_STEPS {
        return Err(WorkMisfit::TooManySteps);
    }
    let unplayable = |error: SchoolError| WorkMisfit::Unplayable(error.to_string());
    let reward = replayed(
        learnable,
        recipe.configuration.clone(),
        recipe.seed,
        episode,
    );
    let reward = reward.map_err(unplayable)?;
    if reward <= 0.5 {
        return Err(WorkMisfit::Unsolved {
            reward: reward.to_string(),
        });
    }
    let unwritable = || WorkMisfit::Unwritable {
        alphabet: learnable.alphabet().characters(),
    };
    let steps: Vec<Vec<(Text, Object)>> = episode.actions().map(calls).collect();
    let written = learnable.transcribe(&recipe.configuration, &steps);
    let (exercise, turns) = written.ok_or_else(unwritable)?;
    let mut play = Play::start(learnable, &exercise, recipe.seed).map_err(unplayable)?;
    for turn in &turns {
        let Turn::Calls(calls) = learnable.read_turn(turn) else {
            return Err(unwritable());
        };
        if play.attempt().ending == AttemptEnding::Open {
            play.act(turn, calls).map_err(unplayable)?;
        }
    }
    let attempt = play.into_attempt();
    if learnable.judge(&exercise, &attempt) != Behaviour::Right {
        return Err(unwritable());
    }
    let limit = learnable.context();
    let length = exercise.prompt.len()
        + attempt
            .turns
            .iter()
            .map(|turn| turn.text.len())
            .sum::<usize>()
        + attempt
            .turns
            .iter()
            .rev()
            .skip(1)
            .map(|turn| turn.reply.len())
            .sum::<usize>();
    if length > limit {
        return Err(WorkMisfit::TooLong { limit });
    }
    Example::of(learnable, &exercise, &attempt).ok_or_else(unwritable)
}

fn calls(action: &AnyMessage) -> Vec<(Text, Object)> {
    match action {
        AnyMessage::Request(request) => {
            let calls = request.tool_calls.iter();
            calls
                .map(|call| (call.function.name.clone(), call.function.arguments.clone()))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The reward of an episode's actions, played again; 0 unless the environment ends it.
fn replayed(
    learnable: &dyn Learnable,
    configuration: Object,
    seed: u64,
    episode: &Episode,
) -> Result<f64, SchoolError> {
    let exercise = Exercise {
        prompt: String::new(),
        configuration,
    };
    let mut play = Play::start(learnable, &exercise, seed)?;
    for action in episode.actions() {
        if play.attempt().ending != AttemptEnding::Open {
            break;
        }
        play.replay(action.clone())?;
    }
    let attempt = play.into_attempt();
    Ok(if attempt.is_done() {
        attempt.reward()
    } else {
        0.0
    })
}

#[cfg(test)]
mod tests;
