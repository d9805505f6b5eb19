//! The move of a player in a run.

use volary_agent::rollout::Stop;

use super::chosen_action::ChosenAction;
use crate::notice::Notice;

/// A player's decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// Take an action.
    Act(Box<ChosenAction>),
    /// Stop: the episode is over, or a limit was reached.
    Stop(Stop),
    /// The player failed. The episode is unchanged.
    Failed(Notice),
}
