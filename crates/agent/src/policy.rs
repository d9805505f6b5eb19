//! The policy trait: a policy chooses the next action from the episode so far.

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;
use volary_core::{Frame, Tool, ToolRequestMessage};
use volary_episode::Episode;

/// What a policy sees before it decides.
pub struct PolicyInput<'a> {
    /// The episode so far.
    pub episode: &'a Episode,
    /// The available tools.
    pub tools: &'a [Tool],
    pub frame: &'a Frame,
}

/// The decision of a policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Takes an action.
    Act(ToolRequestMessage),
    /// Ends the episode (a script is finished).
    End {
        /// For display.
        reason: Text,
    },
}

/// Why a policy could not decide.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The policy does not fit the environment.
    #[error("The policy {policy} cannot act here: {reason}")]
    Unfit { policy: Text, reason: Text },
}

/// Chooses actions. Deterministic policies return the same decision for the same input, so that an episode can be
/// truncated and continued.
pub trait Policy {
    /// The name that an episode records.
    fn name(&self) -> Text;

    /// Chooses the next action.
    fn act<'a>(
        &'a mut self,
        input: PolicyInput<'a>,
    ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>>;

    /// The note on the step of the last action: a fault, named by the policy that made it.
    fn note(&self) -> Option<Text> {
        None
    }

    /// A remark about the episode after it has ended.
    fn afterword(&self) -> Option<Text> {
        None
    }
}
