//! Automatic players, which choose one action after the other. Policies that need nothing but the episode play through
//! [`BuiltIn`]; models play through `model`.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_agent::rollout::Stop;
use volary_agent::{Limits, Next, Policy, decide, step_note};
use volary_app::playground::chosen_action::{ChosenAction, StepAside};
use volary_core::json::Text;
use volary_trajectory::Episode;

use crate::projection::notice::Notice;

/// Chooses actions.
pub trait Player {
    /// The name that the episode records as its policy.
    fn name(&self) -> Text;

    /// Decides the next move. Dropping the future cancels it. Don't hold the episode for longer than needed: while
    /// another handle exists, each step copies the whole episode.
    fn play(&mut self, episode: Arc<Episode>) -> LocalBoxFuture<'_, Move>;

    /// Called when the future was dropped without a result.
    fn stopped(&mut self) {}
}

/// A player's decision.
pub enum Move {
    /// Take an action.
    Act(Box<ChosenAction>),
    /// Stop: the episode is over, or a limit was reached.
    Stop(Stop),
    /// The player failed. The episode is unchanged.
    Failed(Notice),
}

/// A player for a policy that needs nothing but the episode.
pub struct BuiltIn {
    pub policy: Box<dyn Policy>,
    pub limits: Limits,
}

impl Player for BuiltIn {
    fn name(&self) -> Text {
        self.policy.name()
    }

    fn play(&mut self, episode: Arc<Episode>) -> LocalBoxFuture<'_, Move> {
        async move {
            match decide(self.policy.as_mut(), &episode, &self.limits).await {
                Ok(Next::Act(action)) => {
                    let mut aside = Box::<StepAside>::default();
                    let note = self.policy.note().map(step_note);
                    aside.details.errors.extend(note);
                    Move::Act(Box::new(ChosenAction {
                        message: action.into(),
                        aside: Some(aside),
                    }))
                }
                Ok(Next::Stop(mut stop)) => {
                    if let Some(afterword) = self.policy.afterword() {
                        stop.reason = format!("{} {afterword}", stop.reason).into();
                    }
                    Move::Stop(stop)
                }
                Err(error) => Move::Failed(Notice::new(
                    "The policy could not act.",
                    error.to_string(),
                    "Choose another policy, or act by hand.",
                )),
            }
        }
        .boxed_local()
    }
}
