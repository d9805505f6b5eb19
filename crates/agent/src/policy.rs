//! What a policy is: something that looks at the episode so far and says what to do.

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;
use volary_core::{Frame, Tool, ToolRequestMessage};
use volary_trajectory::Episode;

/// What a policy sees.
pub struct PolicyInput<'a> {
    /// The episode so far: its start, its steps.
    pub episode: &'a Episode,
    /// The tools on offer.
    pub tools: &'a [Tool],
    /// The latest frame.
    pub frame: &'a Frame,
}

/// What a policy wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Take this action.
    Act(ToolRequestMessage),
    /// There is nothing more to do (a script came to its end).
    End {
        /// Why, for people.
        reason: Text,
    },
}

/// Why a policy could not decide.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The policy does not fit the environment.
    #[error("The policy {policy} cannot act here: {reason}")]
    Unfit {
        policy: Text,
        /// Why it can't.
        reason: Text,
    },
}

/// Something that decides on actions. Deterministic ones give the same decision for the same
/// input, so that an episode can be cut and continued.
pub trait Policy {
    /// Its name, as an episode records it.
    fn name(&self) -> Text;

    /// Decides.
    fn act<'a>(
        &'a mut self,
        input: PolicyInput<'a>,
    ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>>;

    /// What is noted with the step of the last action: a fault, named by the policy that made it.
    fn note(&self) -> Option<Text> {
        None
    }

    /// What there is to say of the episode when it has ended.
    fn afterword(&self) -> Option<Text> {
        None
    }
}
