//! What a policy does with one prompt, in an exam, and how probable it finds a text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use volary_core::random::Random;
use volary_policy::{Network, Tape};

use crate::learnable::{Behaviour, Difficulty, Exercise, Learnable};
use crate::play::SchoolError;
use crate::record::SampleRecord;
use crate::rollout::{Rollout, Sampling, rollouts};
use crate::run::sequence_log_probs;

/// The result of an exam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExamRecord {
    pub difficulty: Difficulty,
    pub tasks: usize,
    /// The share of solved tasks.
    pub success: f64,
    pub behaviours: BTreeMap<Behaviour, usize>,
    /// Some of the episodes.
    pub samples: Vec<SampleRecord>,
}

/// The number of episodes of an exam that are shown.
const SHOWN: usize = 12;

/// Lets a policy answer one exercise; a temperature of 0 takes the most likely tokens.
///
/// # Errors
///
/// If the environment fails.
pub fn answer(
    learnable: &dyn Learnable,
    network: &Network,
    exercise: &Exercise,
    temperature: f32,
    seed: u64,
) -> Result<Option<Rollout>, SchoolError> {
    let sampling = Sampling {
        exercises: std::slice::from_ref(exercise),
        group: 1,
        temperature,
    };
    let mut all = rollouts(learnable, network, sampling, &Random::new(seed))?;
    Ok(all.pop())
}

/// Tests a policy on new tasks.
///
/// # Errors
///
/// If the environment fails.
pub fn examine(
    learnable: &dyn Learnable,
    network: &Network,
    difficulty: Difficulty,
    tasks: usize,
    temperature: f32,
    seed: u64,
) -> Result<ExamRecord, SchoolError> {
    let random = Random::new(seed).fork("exam");
    let mut drawn = random.fork("tasks");
    let exercises: Vec<Exercise> = (0..tasks)
        .map(|_| learnable.exercise(difficulty, &mut drawn))
        .collect();
    let sampling = Sampling {
        exercises: &exercises,
        group: 1,
        temperature,
    };
    let all = rollouts(learnable, network, sampling, &random)?;
    let mut behaviours = BTreeMap::new();
    for rollout in &all {
        *behaviours.entry(rollout.behaviour).or_default() += 1;
    }
    let right = behaviours
        .get(&Behaviour::Right)
        .copied()
        .unwrap_or_default();
    Ok(ExamRecord {
        difficulty,
        tasks,
        success: right as f64 / tasks.max(1) as f64,
        behaviours,
        samples: all
            .iter()
            .take(SHOWN)
            .map(|rollout| SampleRecord::of(learnable, rollout))
            .collect(),
    })
}

/// The log probability that a policy gives to each character of a text after those before it; 0 for the first one.
///
/// # Errors
///
/// If a character is not in the alphabet, or the text does not fit the context.
pub fn token_log_probs(
    learnable: &dyn Learnable,
    network: &Network,
    text: &str,
    temperature: f32,
) -> Result<Vec<f32>, SchoolError> {
    let tokens = learnable.alphabet().tokens(text);
    let tokens = tokens.map_err(|character| SchoolError::Character {
        character,
        text: text.to_owned(),
    })?;
    let mut tape = Tape::new(network.shape());
    let all = sequence_log_probs(&mut tape, network, &[&tokens], temperature)?;
    Ok(all.into_iter().next().unwrap_or_default())
}
