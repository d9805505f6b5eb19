//! The code that plays: what the first view, which shows a record, does not need. The first load knows it only as this table
//! of functions; [`super::play_part`] fills it.
//!
//! Invariant: a single direct call of one of these functions from a pane would link it into the first load.

use volary_app::playground::Event;
use volary_app::playground::policy::PolicyKind;
use volary_core::json::Text;
use volary_view::route::PlaygroundPlace;

use super::state::Playground;

/// The functions, by the module that has them.
pub(super) struct PlayCode {
    /// Starts what follows the signals of the playground, once.
    pub arrive: fn(Playground),
    /// `session_driver`: handles an event of the state machine.
    pub update: fn(Playground, Event),
    /// `url_sync`: opens what an address names.
    pub follow: fn(Playground, PlaygroundPlace),
    /// `url_sync`: opens an environment that the user chose.
    pub go_to_environment: fn(Playground, &str),
    /// `setup`: opens an episode of the setup.
    pub start_over: fn(Playground),
    /// `setup`: selects another split of a task list.
    pub pick_split: fn(Playground, usize, &str),
    /// `policy_settings`: chooses a policy.
    pub choose_policy: fn(Playground, PolicyKind),
    /// `policy_settings`: fills the script with the actions of the episode.
    pub script_from_episode: fn(Playground),
    /// `manual_action`: chooses a tool; `None` chooses no tool.
    pub choose_tool: fn(Playground, Option<&Text>),
    /// `manual_action`: adds the call in the form to the action.
    pub add_call: fn(Playground),
    /// `manual_action`: loads a collected call into the form.
    pub edit_call: fn(Playground, usize),
    /// `manual_action`: removes a collected call.
    pub remove_call: fn(Playground, usize),
}
