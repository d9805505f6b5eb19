//! A whole episode: the policy decides, the environment answers, until it is over or a limit is
//! reached.
//!
//! [`decide`] is one turn of that without the environment, for loops of one's own; [`rollout`] is the
//! loop.

use std::cell::Cell;
use std::rc::Rc;

use volary_core::Frame;
use volary_core::ToolRequestMessage;
use volary_core::json::Text;
use volary_trajectory::{Ending, Episode, PatchError};

use crate::policy::{Decision, Policy, PolicyError, PolicyInput};
use crate::runner::{RunnerError, Stage};

/// What ends a rollout besides the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most steps that an episode may have. Reaching it is truncation.
    pub max_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_steps: 50 }
    }
}

/// A wish that a rollout stop. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Rc<Cell<bool>>);

impl Cancel {
    /// Asks to stop after the current step.
    pub fn cancel(&self) {
        self.0.set(true);
    }

    /// Whether that was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.get()
    }
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This action.
    Act(ToolRequestMessage),
    /// Nothing.
    Stop(Stop),
}

/// Why nothing comes next.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The state of the episode.
    pub ending: Ending,
    /// Why, for people.
    pub reason: Text,
}

/// Why a rollout broke off. The episode holds all steps up to there.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RolloutError {
    /// The policy could not decide.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The environment could not be stepped.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The frame does not follow from the one before.
    #[error(transparent)]
    Frame(#[from] PatchError),
}

/// Asks the policy for the next action, unless the episode is over or as long as it may be.
pub async fn decide(
    policy: &mut dyn Policy,
    episode: &Episode,
    limits: &Limits,
) -> Result<Next, PolicyError> {
    if let Some(stop) = stop(episode, limits) {
        return Ok(Next::Stop(stop));
    }
    let blank = Frame::default();
    let input = PolicyInput {
        episode,
        tools: &episode.tools,
        frame: episode.frames.last().unwrap_or(&blank),
    };
    Ok(match policy.act(input).await? {
        Decision::Act(action) => Next::Act(action),
        Decision::End { reason } => Next::Stop(Stop {
            ending: Ending::Open,
            reason,
        }),
    })
}

fn stop(episode: &Episode, limits: &Limits) -> Option<Stop> {
    let reason: Text = match &episode.ending {
        Ending::Open if episode.steps.len() < limits.max_steps => return None,
        Ending::Open => {
            let steps = match limits.max_steps {
                1 => "one step".to_owned(),
                steps => format!("{steps} steps"),
            };
            let reason: Text = format!("The limit of {steps} was reached.").into();
            return Some(Stop {
                ending: Ending::Truncated {
                    reason: reason.clone(),
                },
                reason,
            });
        }
        Ending::Done => "The environment is done.".into(),
        Ending::Truncated { reason } => reason.clone(),
        Ending::Crashed { message } => message.clone(),
    };
    Some(Stop {
        ending: episode.ending.clone(),
        reason,
    })
}

/// Plays an episode on from where it is. Calls `on_step` after every step. The ending is written
/// into the episode; it stays open if the policy has nothing more to do or the rollout was cancelled.
pub async fn rollout(
    stage: &mut dyn Stage,
    episode: &mut Episode,
    policy: &mut dyn Policy,
    limits: &Limits,
    cancel: &Cancel,
    on_step: &mut dyn FnMut(&Episode),
) -> Result<Stop, RolloutError> {
    episode.policy = Some(policy.name());
    loop {
        if cancel.is_cancelled() {
            return Ok(Stop {
                ending: Ending::Open,
                reason: "It was stopped.".into(),
            });
        }
        let action = match decide(policy, episode, limits).await? {
            Next::Act(action) => action,
            Next::Stop(stop) => {
                episode.ending = stop.ending.clone();
                return Ok(stop);
            }
        };
        let stepped = stage.step(action.into()).await.inspect_err(|error| {
            if let Some(message) = error.loss() {
                episode.ending = Ending::Crashed {
                    message: message.clone(),
                };
            }
        })?;
        episode.record(stepped.record, stepped.frame)?;
        if let Some(recipe) = &mut episode.recipe {
            recipe.configuration.extend(stage.recorded());
        }
        on_step(episode);
    }
}
