//! Plays a whole episode: policy and environment alternate until the episode ends or a limit is
//! reached.
//!
//! [`decide`] is a single decision of the policy, for custom loops; [`rollout`] is the
//! loop.

use std::cell::Cell;
use std::rc::Rc;

use volary_core::Frame;
use volary_core::ToolRequestMessage;
use volary_core::json::Text;
use volary_episode::{Ending, Episode, PatchError, StepError};

use crate::policy::{Decision, Policy, PolicyError, PolicyInput};
use crate::runner::{RunnerError, Stage};

/// The limits of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of steps of an episode. Reaching it is truncation.
    pub max_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_steps: 50 }
    }
}

/// A cancellation token. Clones share its state.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Rc<Cell<bool>>);

impl Cancel {
    /// Requests a stop after the current step.
    pub fn cancel(&self) {
        self.0.set(true);
    }

    /// Whether a stop was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.get()
    }
}

/// The result of [`decide`].
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Take this action.
    Act(ToolRequestMessage),
    Stop(Stop),
}

/// Why a rollout stops.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The ending of the episode.
    pub ending: Ending,
    /// Why, for people.
    pub reason: Text,
}

/// Why a rollout failed. The episode contains all steps before the failure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RolloutError {
    /// The policy could not decide.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The environment failed.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The frame patch does not apply to the previous frame.
    #[error(transparent)]
    Frame(#[from] PatchError),
}

/// Asks the policy for the next action, unless the episode has ended or has reached its limit of steps.
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

/// What a policy notes with a step of its own.
pub fn step_note(message: Text) -> StepError {
    StepError {
        call: None,
        message,
    }
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

/// Continues an episode. Calls `on_step` after every step, and writes the ending
/// into the episode; it stays open if the policy has no further action or the rollout was cancelled.
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
        let mut stepped = stage.step(action.into()).await.inspect_err(|error| {
            if let Some(message) = error.loss() {
                episode.ending = Ending::Crashed {
                    message: message.clone(),
                };
            }
        })?;
        stepped
            .record
            .details
            .errors
            .extend(policy.note().map(step_note));
        episode.record(stepped.record, stepped.frame)?;
        if let Some(recipe) = &mut episode.recipe {
            recipe.configuration.extend(stage.recorded());
        }
        on_step(episode);
    }
}
