//! Plays a recipe in an environment of its own, beside the shown episode.

use leptos::prelude::*;
use volary_app::playground::PlaygroundMachine as Machine;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::Request;

use super::connected;
use super::incoming_episode::receive;
use super::state::Playground;
use super::worker;

/// Plays the actions of a recipe in a separate instance; the shown episode is not affected.
///
/// # Errors
///
/// Returns the reason why there is no result.
pub(crate) async fn play_aside(
    playground: Playground,
    recipe: Recipe,
    actions: Vec<AnyMessage>,
) -> Result<Episode, Text> {
    worker::warm_up(playground);
    connected::give_python(playground, &recipe);
    let environment = playground
        .machine()
        .try_update_value(Machine::new_environment)
        .unwrap_or_default();
    let request = Request::Open {
        environment,
        recipe,
        actions,
        servers: Vec::new(),
    };
    let replies = worker::call(playground, &request);
    let replies = replies.ok_or("The environment's worker failed to start.")?;
    let result = receive(replies).await;
    // A lost worker has nothing to close, and ignores this.
    worker::send_request(playground, &Request::Close { environment });
    result.map(|incoming| incoming.episode)
}
