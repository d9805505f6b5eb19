//! Players other than the person: they choose one action after the other. The policies that need
//! nothing but the episode play through [`BuiltIn`]; models play through `model`.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_agent::rollout::Stop;
use volary_agent::{Limits, Next, Policy, decide, step_note};
use volary_core::ToolRequestMessage;
use volary_core::json::{Object, Text};
use volary_trajectory::{Episode, StepDetails};

use crate::projection::notice::Notice;

/// Someone who plays.
pub trait Player {
    /// What the episode records as its policy.
    fn name(&self) -> Text;

    /// Decides what comes next. Dropping the future ends whatever it does. The episode should not be kept
    /// for longer than it is needed: while somebody holds it, each step copies all of it.
    fn play(&mut self, episode: Arc<Episode>) -> LocalBoxFuture<'_, Move>;

    /// The future was dropped and has no result.
    fn stopped(&mut self) {}
}

/// What comes next.
pub enum Move {
    /// An action.
    Act(Box<ToolRequestMessage>, Box<Aside>),
    /// Nothing: it is over, or a limit was reached.
    Stop(Stop),
    /// Nothing: it failed. The episode is as it was.
    Failed(Notice),
}

/// What is known of a step besides what the environment says.
#[derive(Clone, Debug, Default)]
pub struct Aside {
    /// In terms that all sources share.
    pub details: StepDetails,
    /// All else.
    pub extras: Object,
}

/// A policy that needs nothing but the episode.
pub struct BuiltIn {
    pub policy: Box<dyn Policy>,
    /// When it ends.
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
                    let mut aside = Box::<Aside>::default();
                    let note = self.policy.note().map(step_note);
                    aside.details.errors.extend(note);
                    Move::Act(Box::new(action), aside)
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
