//! Many episodes at once: all sequences advance by one token at a time.

use std::collections::VecDeque;

use volary_core::random::Random;
use volary_policy::{Draw, Network, Sampler, SlotId, draw};

use crate::knobs::{Grader, Knobs};
use crate::learnable::{Behaviour, Exercise, Learnable, Turn};
use crate::play::{Attempt, AttemptEnding, Play, SchoolError};

/// An episode that the policy sampled. All lists have a value for each token.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    /// Its group in the batch, and its number in the group.
    pub group: usize,
    pub sample: usize,
    pub exercise: Exercise,
    /// The seed of the environment.
    pub seed: u64,
    pub tokens: Vec<u8>,
    /// The number of tokens of the prompt.
    pub prompt: usize,
    /// Whether the policy sampled the token.
    pub mask: Vec<bool>,
    /// Log probabilities at the temperature of sampling; 0 where the policy sampled nothing.
    pub log_probs: Vec<f32>,
    /// The entropy of the distribution that the token was drawn from, likewise.
    pub entropies: Vec<f32>,
    pub attempt: Attempt,
    pub behaviour: Behaviour,
    pub reward: RewardParts,
    /// Set by the update.
    pub advantage: f64,
}

/// What a reward is the sum of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RewardParts {
    /// By the grader.
    pub graded: f64,
    /// The price of the calls.
    pub calls: f64,
    /// The price of the tokens.
    pub length: f64,
}

impl RewardParts {
    pub fn total(self) -> f64 {
        self.graded - self.calls - self.length
    }
}

impl Rollout {
    /// The number of tokens that the policy sampled.
    pub fn sampled(&self) -> usize {
        self.mask.iter().filter(|is_sampled| **is_sampled).count()
    }

    /// The number of priced calls.
    pub fn calls(&self, learnable: &dyn Learnable) -> usize {
        let calls = self.attempt.turns.iter().flat_map(|turn| &turn.calls);
        calls.filter(|(name, _)| learnable.is_priced(name)).count()
    }
}

/// What is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'a> {
    /// One exercise for each group.
    pub exercises: &'a [Exercise],
    /// The number of samples of each.
    pub group: usize,
    /// 0 takes the most likely token.
    pub temperature: f32,
}

struct Running<'a> {
    play: Play<'a>,
    slot: SlotId,
    random: Random,
    logits: Vec<f32>,
    /// What the environment wrote and the policy has to read.
    unread: VecDeque<u8>,
    turn: String,
    group: usize,
    sample: usize,
    tokens: Vec<u8>,
    mask: Vec<bool>,
    log_probs: Vec<f32>,
    entropies: Vec<f32>,
}

/// Samples episodes, in the order of groups and samples. Each has random numbers of its own, so it does not depend on the
/// others.
///
/// # Errors
///
/// If an environment cannot be made or fails, or a prompt is not in the alphabet.
pub fn rollouts(
    learnable: &dyn Learnable,
    network: &Network,
    sampling: Sampling<'_>,
    random: &Random,
) -> Result<Vec<Rollout>, SchoolError> {
    let alphabet = learnable.alphabet();
    let mut sampler = Sampler::new(network);
    let mut running = Vec::with_capacity(sampling.exercises.len() * sampling.group);
    let mut prompts = Vec::with_capacity(sampling.exercises.len());
    for exercise in sampling.exercises {
        let text = exercise.prompt.clone();
        let tokens = alphabet.tokens(&text);
        let tokens = tokens.map_err(|character| SchoolError::Character { character, text })?;
        prompts.push((sampler.start(), tokens));
    }
    let longest = prompts
        .iter()
        .map(|(_, tokens)| tokens.len())
        .max()
        .unwrap_or_default();
    let mut logits = vec![Vec::new(); prompts.len()];
    for position in 0..longest {
        let fed = prompts.iter().enumerate();
        let fed: Vec<(usize, (SlotId, u8))> = fed
            .filter_map(|(group, (slot, tokens))| Some((group, (*slot, *tokens.get(position)?))))
            .collect();
        let tokens: Vec<(SlotId, u8)> = fed.iter().map(|(_, token)| *token).collect();
        sampler.feed(&tokens)?;
        for (row, (group, _)) in fed.iter().enumerate() {
            logits[*group] = sampler.logits(row).to_vec();
        }
    }
    for (group, ((slot, tokens), exercise)) in prompts.iter().zip(sampling.exercises).enumerate() {
        for sample in 0..sampling.group {
            running.push(Running {
                play: Play::start(learnable, exercise, 0)?,
                slot: if sample == 0 {
                    *slot
                } else {
                    sampler.fork(*slot)
                },
                random: random.fork(&format!("{group} {sample}")),
                logits: logits[group].clone(),
                unread: VecDeque::new(),
                turn: String::new(),
                group,
                sample,
                tokens: tokens.clone(),
                mask: vec![false; tokens.len()],
                log_probs: vec![0.0; tokens.len()],
                entropies: vec![0.0; tokens.len()],
            });
        }
    }
    let limit = learnable.context();
    let mut fed = Vec::with_capacity(running.len());
    let mut active: Vec<usize> = (0..running.len()).collect();
    while !active.is_empty() {
        fed.clear();
        let mut remaining = Vec::with_capacity(active.len());
        for index in active {
            let episode = &mut running[index];
            let token = episode.advance(learnable, sampling.temperature, limit)?;
            if episode.play.attempt().ending == AttemptEnding::Open {
                fed.push((episode.slot, token));
                remaining.push(index);
            }
        }
        active = remaining;
        sampler.feed(&fed)?;
        for (row, index) in active.iter().enumerate() {
            let logits = &mut running[*index].logits;
            logits.clear();
            logits.extend_from_slice(sampler.logits(row));
        }
    }
    let finished = running.into_iter();
    Ok(finished
        .map(|episode| episode.finish(learnable, sampling.exercises))
        .collect())
}

impl Running<'_> {
    /// Appends a token, sampled or read, and plays a turn that it completes.
    fn advance(
        &mut self,
        learnable: &dyn Learnable,
        temperature: f32,
        limit: usize,
    ) -> Result<u8, SchoolError> {
        if let Some(token) = self.unread.pop_front() {
            self.push(token, None);
        } else {
            let drawn = draw(&self.logits, temperature, &mut self.random);
            self.push(drawn.token, Some(drawn));
            self.turn.push(learnable.alphabet().character(drawn.token));
            match learnable.read_turn(&self.turn) {
                Turn::Open => {}
                Turn::Malformed => self.play.stop_malformed(&self.turn)?,
                Turn::Calls(calls) => {
                    self.play.act(&self.turn, calls)?;
                    self.turn.clear();
                    let attempt = self.play.attempt();
                    if attempt.ending == AttemptEnding::Open
                        && let Some(turn) = attempt.turns.last()
                    {
                        let characters = turn.reply.chars();
                        self.unread = characters
                            .filter_map(|letter| learnable.alphabet().token(letter))
                            .collect();
                    }
                }
            }
        }
        if self.play.attempt().ending == AttemptEnding::Open && self.tokens.len() >= limit {
            self.play.stop_too_long(&self.turn)?;
        }
        Ok(self.tokens.last().copied().unwrap_or_default())
    }

    fn push(&mut self, token: u8, drawn: Option<Draw>) {
        self.tokens.push(token);
        self.mask.push(drawn.is_some());
        self.log_probs
            .push(drawn.map_or(0.0, |drawn| drawn.log_prob));
        self.entropies
            .push(drawn.map_or(0.0, |drawn| drawn.entropy));
    }

    fn finish(self, learnable: &dyn Learnable, exercises: &[Exercise]) -> Rollout {
        let exercise = exercises[self.group].clone();
        let attempt = self.play.into_attempt();
        Rollout {
            group: self.group,
            sample: self.sample,
            behaviour: learnable.judge(&exercise, &attempt),
            prompt: exercise.prompt.len(),
            exercise,
            seed: 0,
            tokens: self.tokens,
            mask: self.mask,
            log_probs: self.log_probs,
            entropies: self.entropies,
            attempt,
            reward: RewardParts::default(),
            advantage: 0.0,
        }
    }
}

/// Gives a rollout its reward.
pub fn grade(learnable: &dyn Learnable, knobs: &Knobs, rollout: &mut Rollout) {
    let graded = match knobs.grader {
        Grader::Honest => learnable.reward(&rollout.exercise, &rollout.attempt),
        Grader::Leaky => learnable.leaky_reward(&rollout.exercise, &rollout.attempt),
    };
    rollout.reward = RewardParts {
        graded,
        calls: knobs.call_price * rollout.calls(learnable) as f64,
        length: knobs.length_price * rollout.sampled() as f64,
    };
}
