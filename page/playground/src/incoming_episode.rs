//! Waits for the complete episode of a second play.

use futures_util::StreamExt;
use volary_app::playground::incoming_episode::IncomingEpisode;
use volary_core::json::Text;
use volary_protocol::environments::Event;
use volary_protocol::episode::Assembled;

use volary_browser::worker_client::Replies;

/// The episode that the replies to a request contain.
///
/// # Errors
///
/// Returns the reason why there is none.
pub(super) async fn receive(mut replies: Replies<Event>) -> Result<Assembled, Text> {
    let mut incoming = IncomingEpisode::default();
    loop {
        let reply = replies.next().await;
        if let Some(result) = incoming.push(reply.map(|reply| reply.map(|reply| reply.event))) {
            return result;
        }
    }
}
