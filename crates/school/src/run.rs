//! A run of reinforcement learning, one update at a time.

use serde::{Deserialize, Serialize};
use volary_core::random::Random;
use volary_policy::file::{FileError, read_checkpoint, write_checkpoint};
use volary_policy::{Adam, Network, Shape, Tape, TapeError, Weights};

use crate::advantage::advantages;
use crate::courses::learnable;
use crate::knobs::{Aggregation, KnobError, Knobs};
use crate::learnable::{Difficulty, Exercise, Learnable};
use crate::loss::LossRule;
use crate::play::SchoolError;
use crate::record::{GroupRecord, SampleRecord, UpdateMetrics};
use crate::rollout::{Rollout, Sampling, grade, rollouts};

/// The number of sequences that pass through the network together: their numbers fit the processor's cache.
const TOGETHER: usize = 8;

const MAGIC: &[u8; 4] = b"VOLS";
const VERSION: u8 = 1;

/// Why a run stops or cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    #[error(transparent)]
    Knobs(#[from] KnobError),
    #[error(transparent)]
    School(#[from] SchoolError),
    #[error(
        "The weights are for another network than {environment} needs: {found:?} instead of {expected:?}."
    )]
    Shape {
        environment: String,
        found: Shape,
        expected: Shape,
    },
    #[error(
        "Update {update} has numbers in `{tensor}` that are not finite. The run is at the weights before it; lower the learning rate to go on, or begin again."
    )]
    NotFinite { update: u32, tensor: String },
    #[error("This is not a checkpoint of a run: it does not begin with VOLS.")]
    NotCheckpoint,
    #[error(
        "The checkpoint was written by a newer version of Volary (format {0}). Use that version."
    )]
    Newer(u8),
    #[error("The checkpoint is cut off.")]
    Cut,
    #[error("The settings in the checkpoint cannot be read: {0}")]
    Settings(#[from] serde_json::Error),
    #[error("The weights in the checkpoint cannot be read: {0}")]
    Weights(#[from] FileError),
    #[error("The batch has no group {group}.")]
    NoGroup { group: usize },
}

/// A policy in training, with what it needs for the next update.
pub struct Run {
    knobs: Knobs,
    learnable: Box<dyn Learnable>,
    network: Network,
    /// The warm start.
    reference: Network,
    adam: Adam,
    /// The number of updates so far.
    updates: u32,
    /// The policy that sampled the last batch, and the batch.
    last: Option<(Network, Vec<Rollout>)>,
    tape: Tape,
}

/// The result of an update.
#[derive(Clone, Debug)]
pub struct Update {
    pub metrics: UpdateMetrics,
    /// The batch, in the order of groups and samples.
    pub rollouts: Vec<Rollout>,
}

#[derive(Serialize, Deserialize)]
struct CheckpointHead {
    updates: u32,
    knobs: Knobs,
}

/// The shape of the policy of an environment.
pub fn shape(learnable: &dyn Learnable) -> Shape {
    Shape {
        vocabulary: learnable.alphabet().len(),
        context: learnable.context(),
        width: 32,
        heads: 4,
        layers: 2,
    }
}

impl Run {
    /// A run before its first update.
    ///
    /// # Errors
    ///
    /// If a knob is outside of its range, or the warm start is of another network.
    pub fn new(knobs: Knobs, warm_start: Weights) -> Result<Self, RunError> {
        knobs.check()?;
        let learnable = learnable(&knobs.environment)
            .ok_or_else(|| KnobError::Environment(knobs.environment.clone()))?;
        let expected = shape(&*learnable);
        if warm_start.shape() != expected {
            return Err(RunError::Shape {
                environment: knobs.environment,
                found: warm_start.shape(),
                expected,
            });
        }
        let network = Network::new(warm_start);
        Ok(Run {
            knobs,
            learnable,
            reference: network.clone(),
            network,
            adam: Adam::new(expected.parameters()),
            updates: 0,
            last: None,
            tape: Tape::new(expected),
        })
    }

    /// Continues from a checkpoint, with its knobs.
    ///
    /// # Errors
    ///
    /// If the bytes are no checkpoint of a run with this warm start's network.
    pub fn resume(checkpoint: &[u8], warm_start: Weights) -> Result<Self, RunError> {
        let (head, weights, adam) = read(checkpoint)?;
        let mut run = Run::new(head.knobs, warm_start)?;
        if weights.shape() != run.network.shape() {
            return Err(RunError::Shape {
                environment: run.knobs.environment,
                found: weights.shape(),
                expected: run.network.shape(),
            });
        }
        (run.network, run.adam, run.updates) = (Network::new(weights), adam, head.updates);
        Ok(run)
    }

    /// The knobs in a checkpoint: they say which warm start it needs.
    ///
    /// # Errors
    ///
    /// If the bytes are no checkpoint of a run.
    pub fn knobs_of(checkpoint: &[u8]) -> Result<Knobs, RunError> {
        read(checkpoint).map(|(head, _, _)| head.knobs)
    }

    /// Weights, optimiser, knobs and the number of updates, exactly.
    ///
    /// The bytes are `VOLS`, a version, the length of a JSON object as 32 bits, the object, and the checkpoint of
    /// [`volary_policy::file`].
    pub fn checkpoint(&self) -> Vec<u8> {
        let head = CheckpointHead {
            updates: self.updates,
            knobs: self.knobs.clone(),
        };
        // Numbers and texts are always written.
        let head = serde_json::to_vec(&head).unwrap_or_default();
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        out.extend(u32::try_from(head.len()).unwrap_or_default().to_le_bytes());
        out.extend(head);
        out.extend(write_checkpoint(self.network.weights(), &self.adam));
        out
    }

    pub fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    pub fn learnable(&self) -> &dyn Learnable {
        &*self.learnable
    }

    /// The number of updates so far.
    pub fn updates(&self) -> u32 {
        self.updates
    }

    /// The policy now.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The policy before the first update.
    pub fn warm_start(&self) -> &Network {
        &self.reference
    }

    /// Changes the knobs from the next update on.
    ///
    /// # Errors
    ///
    /// If a knob is outside of its range, or the environment is another one. Nothing changes then.
    pub fn set_knobs(&mut self, knobs: Knobs) -> Result<(), RunError> {
        knobs.check()?;
        if knobs.environment != self.knobs.environment {
            return Err(KnobError::Environment(knobs.environment).into());
        }
        self.knobs = knobs;
        Ok(())
    }

    /// Samples a batch and learns from it.
    ///
    /// # Errors
    ///
    /// If an environment fails, or a weight is not finite afterwards. The run is then as it was before.
    pub fn update(&mut self) -> Result<Update, RunError> {
        let update = self.updates;
        let mut batch = self.sample(update)?;
        let rewards: Vec<f64> = batch.iter().map(|rollout| rollout.reward.total()).collect();
        let advantages = advantages(&rewards, self.knobs.group, self.knobs.estimator);
        for (rollout, advantage) in batch.iter_mut().zip(advantages) {
            rollout.advantage = advantage;
        }
        let mut metrics =
            UpdateMetrics::of_batch(&*self.learnable, update, self.knobs.group, &batch);
        let (network, adam) = (self.network.clone(), self.adam.clone());
        if let Err(error) = self.learn(&batch, &mut metrics) {
            (self.network, self.adam) = (network, adam);
            return Err(error);
        }
        metrics.weights = format!("{:016x}", self.network.weights().hash());
        self.last = Some((network, batch.clone()));
        self.updates += 1;
        Ok(Update {
            metrics,
            rollouts: batch,
        })
    }

    fn sample(&self, update: u32) -> Result<Vec<Rollout>, RunError> {
        let random = Random::new(self.knobs.seed).fork(&format!("update {update}"));
        let mut tasks = random.fork("tasks");
        let exercises: Vec<Exercise> = (0..self.knobs.prompts)
            .map(|_| self.learnable.exercise(Difficulty::Trained, &mut tasks))
            .collect();
        let sampling = Sampling {
            exercises: &exercises,
            group: self.knobs.group,
            temperature: self.knobs.temperature as f32,
        };
        let mut batch = rollouts(&*self.learnable, &self.network, sampling, &random)?;
        // Weights may be finite and yet too large to compute with.
        let mut log_probs = batch.iter().flat_map(|rollout| &rollout.log_probs);
        if log_probs.any(|log_prob| !log_prob.is_finite()) {
            return Err(RunError::NotFinite {
                update,
                tensor: "logits".to_owned(),
            });
        }
        for rollout in &mut batch {
            grade(&*self.learnable, &self.knobs, rollout);
        }
        Ok(batch)
    }

    fn learn(&mut self, batch: &[Rollout], metrics: &mut UpdateMetrics) -> Result<(), RunError> {
        let knobs = &self.knobs;
        let rule = LossRule {
            clip: knobs.clip as f32,
            kl: knobs.kl as f32,
        };
        let temperature = knobs.temperature as f32;
        let is_trained = |rollout: &Rollout, token: usize| {
            if knobs.has_mask {
                rollout.mask[token]
            } else {
                token >= rollout.prompt
            }
        };
        let trained = |rollout: &Rollout| {
            (0..rollout.tokens.len())
                .filter(|token| is_trained(rollout, *token))
                .count()
        };
        metrics.trained_tokens = batch.iter().map(trained).sum();
        let weight = |rollout: &Rollout| match knobs.aggregation {
            Aggregation::Tokens => 1.0 / metrics.trained_tokens.max(1) as f64,
            Aggregation::Samples => 1.0 / (batch.len() * trained(rollout).max(1)) as f64,
            Aggregation::Constant => 1.0 / (batch.len() * self.learnable.context()) as f64,
        };
        // What has no advantage teaches nothing, unless it is held to the warm start.
        let taught: Vec<&Rollout> = batch
            .iter()
            .filter(|rollout| rollout.advantage != 0.0 || rule.kl > 0.0)
            .collect();
        let mut old: Vec<Vec<f32>> = taught
            .iter()
            .map(|rollout| rollout.log_probs.clone())
            .collect();
        let mut reference: Vec<Vec<f32>> = Vec::new();
        if rule.kl > 0.0 {
            for part in taught.chunks(TOGETHER) {
                reference.extend(log_probs(
                    &mut self.tape,
                    &self.reference,
                    part,
                    temperature,
                )?);
            }
        }
        let (mut clipped, mut divergence, mut counted) = (0_usize, 0.0_f64, 0_usize);
        let mut gradient = vec![0.0_f32; self.network.weights().values().len()];
        for step in 0..knobs.updates_per_batch {
            gradient.fill(0.0);
            for (index, part) in taught.chunks(TOGETHER).enumerate() {
                let sequences: Vec<&[u8]> =
                    part.iter().map(|rollout| &rollout.tokens[..]).collect();
                let forward = self.tape.forward(&self.network, &sequences, temperature);
                forward.map_err(SchoolError::from)?;
                let mut slopes = vec![0.0_f32; self.tape.rows()];
                let mut row = 0;
                for (offset, rollout) in part.iter().enumerate() {
                    let place = index * TOGETHER + offset;
                    let weight = weight(rollout) as f32;
                    for token in 1..rollout.tokens.len() {
                        let log_prob = self.tape.log_probs()[row];
                        if is_trained(rollout, token) {
                            // The sampler knows nothing of tokens of the environment.
                            if step == 0 && !rollout.mask[token] {
                                old[place][token] = log_prob;
                            }
                            let reference = reference.get(place).map(|values| values[token]);
                            let loss = rule.of_token(
                                log_prob,
                                old[place][token],
                                reference,
                                rollout.advantage as f32,
                            );
                            slopes[row] = loss.slope * weight;
                            clipped += usize::from(loss.is_clipped);
                            divergence += f64::from(loss.divergence);
                            counted += 1;
                        }
                        row += 1;
                    }
                }
                self.tape.backward(&self.network, &slopes, &mut gradient);
            }
            if step == 0 {
                let squares: f64 = gradient
                    .iter()
                    .map(|value| f64::from(*value) * f64::from(*value))
                    .sum();
                metrics.gradient_norm = squares.sqrt();
            }
            let (adam, rate) = (&mut self.adam, knobs.learning_rate);
            let updated = self
                .network
                .update(|weights| adam.step(weights, &gradient, rate));
            updated.map_err(|error| RunError::NotFinite {
                update: metrics.update,
                tensor: match error {
                    volary_policy::WeightsError::NotFinite { tensor } => tensor,
                    other => other.to_string(),
                },
            })?;
        }
        metrics.clipped = clipped as f64 / counted.max(1) as f64;
        metrics.divergence = (rule.kl > 0.0).then(|| divergence / counted.max(1) as f64);
        Ok(())
    }

    /// A group of the last batch: its rewards, its advantages, and how the update changed the probability of each token.
    ///
    /// # Errors
    ///
    /// If there was no update yet, or the batch has no such group.
    pub fn explain(&mut self, group: usize) -> Result<GroupRecord, RunError> {
        let error = RunError::NoGroup { group };
        let Some((before, batch)) = &self.last else {
            return Err(error);
        };
        let members: Vec<&Rollout> = batch
            .iter()
            .filter(|rollout| rollout.group == group)
            .collect();
        let Some(first) = members.first() else {
            return Err(error);
        };
        let temperature = self.knobs.temperature as f32;
        let rewards: Vec<f64> = members
            .iter()
            .map(|rollout| rollout.reward.total())
            .collect();
        let count = rewards.len() as f64;
        let mean = rewards.iter().sum::<f64>() / count;
        let squares: f64 = rewards
            .iter()
            .map(|reward| (reward - mean) * (reward - mean))
            .sum();
        Ok(GroupRecord {
            prompt: first.exercise.prompt.clone(),
            mean,
            deviation: if count > 1.0 {
                (squares / (count - 1.0)).sqrt()
            } else {
                0.0
            },
            before: log_probs(&mut self.tape, before, &members, temperature)?,
            after: log_probs(&mut self.tape, &self.network, &members, temperature)?,
            samples: members
                .iter()
                .map(|rollout| SampleRecord::of(&*self.learnable, rollout))
                .collect(),
        })
    }
}

/// The log probability of each token of rollouts; 0 for the first one.
pub(crate) fn log_probs(
    tape: &mut Tape,
    network: &Network,
    rollouts: &[&Rollout],
    temperature: f32,
) -> Result<Vec<Vec<f32>>, SchoolError> {
    let sequences: Vec<&[u8]> = rollouts.iter().map(|rollout| &rollout.tokens[..]).collect();
    sequence_log_probs(tape, network, &sequences, temperature).map_err(SchoolError::from)
}

pub(crate) fn sequence_log_probs(
    tape: &mut Tape,
    network: &Network,
    sequences: &[&[u8]],
    temperature: f32,
) -> Result<Vec<Vec<f32>>, TapeError> {
    tape.forward(network, sequences, temperature)?;
    let mut rest = tape.log_probs();
    let of_sequence = |tokens: &&[u8]| {
        let (own, others) = rest.split_at(tokens.len() - 1);
        rest = others;
        std::iter::once(0.0).chain(own.iter().copied()).collect()
    };
    Ok(sequences.iter().map(of_sequence).collect())
}

fn read(bytes: &[u8]) -> Result<(CheckpointHead, Weights, Adam), RunError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(RunError::NotCheckpoint)?;
    let (version, rest) = rest.split_first().ok_or(RunError::Cut)?;
    if *version != VERSION {
        return Err(RunError::Newer(*version));
    }
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(RunError::Cut)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (head, weights) = rest.split_at_checked(length).ok_or(RunError::Cut)?;
    let head = serde_json::from_slice(head)?;
    let (weights, adam) = read_checkpoint(weights)?;
    Ok((head, weights, adam))
}
