//! An action together with what its player records with the step.
//!
//! Invariant: the record travels with its action, so a refused or cancelled action leaves nothing for the next one.

use volary_core::{AnyMessage, Object};
use volary_episode::{Episode, StepDetails};

/// An action of the user or of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenAction {
    pub message: AnyMessage,
    /// What a policy records; `None` for the user.
    pub aside: Option<Box<StepAside>>,
}

/// Data recorded with a step, besides the response of the environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepAside {
    /// The fields that all sources share.
    pub details: StepDetails,
    /// All other data.
    pub extras: Object,
}

impl From<AnyMessage> for ChosenAction {
    fn from(message: AnyMessage) -> ChosenAction {
        ChosenAction {
            message,
            aside: None,
        }
    }
}

impl StepAside {
    /// Adds the data to the last step of an episode, which is the step of its action.
    pub fn add_to_last_step(self, episode: &mut Episode) {
        let Some(step) = episode.steps.last_mut() else {
            return;
        };
        if self.details.model.is_some() {
            episode.model.clone_from(&self.details.model);
        }
        step.details = self.details;
        step.extras = self.extras;
    }
}
