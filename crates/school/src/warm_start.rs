//! The policy before reinforcement: it learns to write turns from a faulty student, and its student's faults with them.

use volary_core::random::Random;
use volary_policy::{Adam, Network, ShapeError, Tape, Weights};

use crate::learnable::{Behaviour, Difficulty, Exercise, Learnable, Turn};
use crate::play::{Attempt, AttemptEnding, Play, SchoolError};
use crate::run::{RunError, shape};

/// The number of episodes of a batch.
pub const EXAMPLES: usize = 32;
const LEARNING_RATE: f64 = 3e-3;
/// The learning rate of weights that were trained before.
const CONTINUED_RATE: f64 = 1e-3;
/// No student takes more turns.
const MOST_TURNS: usize = 12;

/// An episode to imitate: its tokens, and those that the student wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    pub tokens: Vec<u8>,
    pub mask: Vec<bool>,
}

/// Supervised learning of a warm start, one batch at a time.
pub struct WarmStart<'a> {
    learnable: &'a dyn Learnable,
    network: Network,
    adam: Adam,
    tape: Tape,
    random: Random,
    batches: u32,
    total: u32,
    /// The learning rate of the first batch.
    rate: f64,
}

impl Example {
    /// The example of an episode that somebody played, such as a pupil, as far as it fits the context. `None` if a character
    /// is not in the alphabet, or nothing was played.
    pub fn of(learnable: &dyn Learnable, exercise: &Exercise, attempt: &Attempt) -> Option<Self> {
        let alphabet = learnable.alphabet();
        let mut tokens = alphabet.tokens(&exercise.prompt).ok()?;
        let mut mask = vec![false; tokens.len()];
        let last = attempt.turns.len().checked_sub(1)?;
        for (index, turn) in attempt.turns.iter().enumerate() {
            let mut add = |text: &str, is_trained: bool| {
                let added = alphabet.tokens(text).ok()?;
                mask.resize(mask.len() + added.len(), is_trained);
                tokens.extend(added);
                Some(())
            };
            add(&turn.text, true)?;
            if index < last {
                add(&turn.reply, false)?;
            }
        }
        tokens.truncate(learnable.context());
        mask.truncate(learnable.context());
        Some(Example { tokens, mask })
    }
}

/// An episode of the student.
///
/// # Errors
///
/// If the environment fails.
pub fn demonstrate(
    learnable: &dyn Learnable,
    random: &mut Random,
) -> Result<Option<Example>, SchoolError> {
    let exercise = learnable.exercise(Difficulty::Trained, random);
    let faults = learnable.faults();
    let total: u32 = faults.iter().map(|(_, weight)| weight).sum();
    let mut rest = random.below(u64::from(total));
    let fault = faults.iter().find(|(_, weight)| {
        let is_chosen = rest < u64::from(*weight);
        rest = rest.saturating_sub(u64::from(*weight));
        is_chosen
    });
    let behaviour = fault.map_or(Behaviour::Right, |(behaviour, _)| *behaviour);
    let mut play = Play::start(learnable, &exercise, 0)?;
    while play.attempt().ending == AttemptEnding::Open && play.attempt().turns.len() < MOST_TURNS {
        let turn = learnable.student(&exercise, behaviour, play.attempt(), random);
        match learnable.read_turn(&turn) {
            Turn::Calls(calls) => play.act(&turn, calls)?,
            Turn::Open | Turn::Malformed => play.stop_malformed(&turn)?,
        }
    }
    Ok(Example::of(learnable, &exercise, play.attempt()))
}

impl<'a> WarmStart<'a> {
    /// Starts from random weights.
    ///
    /// # Errors
    ///
    /// If the environment's alphabet or context gives no possible network.
    pub fn new(learnable: &'a dyn Learnable, seed: u64) -> Result<Self, ShapeError> {
        let shape = shape(learnable);
        let random = Random::new(seed);
        let weights = Weights::random(shape, &mut random.fork("weights"))?;
        Ok(WarmStart {
            learnable,
            network: Network::new(weights),
            adam: Adam::new(shape.parameters()),
            tape: Tape::new(shape),
            random: random.fork("students"),
            batches: 0,
            total: learnable.lessons(),
            rate: LEARNING_RATE,
        })
    }

    /// Continues from the weights of a warm start for a number of batches.
    ///
    /// # Errors
    ///
    /// If the weights are of another network.
    pub fn from_weights(
        learnable: &'a dyn Learnable,
        weights: Weights,
        batches: u32,
    ) -> Result<Self, RunError> {
        let expected = shape(learnable);
        if weights.shape() != expected {
            return Err(RunError::Shape {
                environment: learnable.environment().to_owned(),
                found: weights.shape(),
                expected,
            });
        }
        Ok(WarmStart {
            learnable,
            network: Network::new(weights),
            adam: Adam::new(expected.parameters()),
            tape: Tape::new(expected),
            random: Random::new(0).fork("students"),
            batches: 0,
            total: batches,
            rate: CONTINUED_RATE,
        })
    }

    /// The number of batches so far, and in all.
    pub fn progress(&self) -> (u32, u32) {
        (self.batches, self.total)
    }

    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Learns from a batch of the built-in student. Returns the mean loss of its tokens, in nats.
    ///
    /// # Errors
    ///
    /// If the environment fails, or a weight is not finite.
    pub fn step(&mut self) -> Result<f64, RunError> {
        let mut examples = Vec::with_capacity(EXAMPLES);
        while examples.len() < EXAMPLES {
            examples.extend(demonstrate(self.learnable, &mut self.random)?);
        }
        self.imitate(&examples)
    }

    /// Learns from examples. Returns the mean loss of their tokens, in nats.
    ///
    /// # Errors
    ///
    /// If an example does not fit the network, or a weight is not finite.
    pub fn imitate(&mut self, examples: &[Example]) -> Result<f64, RunError> {
        let trained: usize = examples
            .iter()
            .map(|example| example.mask.iter().filter(|on| **on).count())
            .sum();
        let weight = 1.0 / trained.max(1) as f32;
        let mut gradient = vec![0.0_f32; self.network.weights().values().len()];
        let mut loss = 0.0;
        for part in examples.chunks(8) {
            let sequences: Vec<&[u8]> = part.iter().map(|example| &example.tokens[..]).collect();
            self.tape
                .forward(&self.network, &sequences, 1.0)
                .map_err(SchoolError::from)?;
            let masks = part.iter().flat_map(|example| &example.mask[1..]);
            let slopes: Vec<f32> = masks.map(|on| if *on { -weight } else { 0.0 }).collect();
            for (log_prob, slope) in self.tape.log_probs().iter().zip(&slopes) {
                loss += f64::from(*log_prob * *slope);
            }
            self.tape.backward(&self.network, &slopes, &mut gradient);
        }
        // The rate falls to nothing, so that the last batches count as much as the others.
        let left = 1.0 - f64::from(self.batches.min(self.total)) / f64::from(self.total.max(1));
        let rate = self.rate * left.max(0.02);
        let (adam, update) = (&mut self.adam, self.batches);
        let updated = self
            .network
            .update(|weights| adam.step(weights, &gradient, rate));
        updated.map_err(|error| RunError::NotFinite {
            update,
            tensor: error.to_string(),
        })?;
        self.batches += 1;
        Ok(loss)
    }
}
