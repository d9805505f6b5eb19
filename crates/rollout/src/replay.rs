//! A rollout rebuilt from the turns of an episode.
//!
//! If a person can stop, undo and continue an episode, the episode is the stored state, and the state of a [`Rollout`]
//! is derived from it: each turn has the reply as the server sent it, and the environment's result.
//!
//! Invariant: the recording depends only on the settings, the opening and the turns.

use std::rc::Rc;

use volary_tokens::Tokenizer;

use crate::environment::{EnvReset, EnvStep};
use crate::result::{InteractionResult, StopReason};
use crate::rollout::{Completion, Effect, Event, Rollout, RolloutSettings};
use crate::sglang::{GenerateReply, GenerateRequest};

/// A turn of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedTurn {
    /// The model's reply.
    pub reply: GenerateReply,
    /// The environment's result.
    pub step: EnvStep,
}

/// A rollout and the turns from which it was rebuilt.
#[derive(Debug)]
pub struct Replay {
    rollout: Rollout,
    effect: Effect,
    played: Vec<ReplayedTurn>,
}

impl Replay {
    /// A rollout before its first turn.
    pub fn new(settings: RolloutSettings, tokenizer: Rc<dyn Tokenizer>, opening: EnvReset) -> Self {
        let (rollout, effect) = Rollout::start(settings, tokenizer);
        let mut replay = Replay {
            rollout,
            effect,
            played: Vec::new(),
        };
        replay.give(Event::Reset(Ok(opening)));
        replay
    }

    /// Applies the turns that were not applied yet. Fails if they do not continue the applied ones: the rollout then
    /// belongs to another episode.
    pub fn advance(&mut self, turns: &[ReplayedTurn]) -> Result<(), OtherEpisode> {
        let new = turns.strip_prefix(self.played.as_slice());
        for turn in new.ok_or(OtherEpisode)? {
            self.played.push(turn.clone());
            self.give(Event::Generated(Ok(turn.reply.clone())));
            self.give(Event::Stepped(Ok(turn.step.clone())));
        }
        Ok(())
    }

    fn give(&mut self, event: Event) {
        // A rollout that has ended accepts no events, and its recording is kept.
        if let Ok(effect) = self.rollout.handle(event) {
            self.effect = effect;
        }
    }

    /// The request for the next turn, or why there is none.
    pub fn request(&self) -> Result<&GenerateRequest, StopReason> {
        match &self.effect {
            Effect::Generate(request) => Ok(request),
            Effect::Reset(_) | Effect::Step(_) | Effect::Finished => {
                let reason = self.result().stop_reason.clone();
                Err(reason.unwrap_or(StopReason::Cancelled))
            }
        }
    }

    /// Parses a reply without recording it.
    pub fn read(&self, reply: &GenerateReply) -> Result<Completion, StopReason> {
        self.rollout.read(reply)
    }

    /// The recording so far.
    pub fn result(&self) -> &InteractionResult {
        self.rollout.result()
    }
}

/// The error for turns that do not continue those of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("These turns do not continue the rollout")]
pub struct OtherEpisode;
