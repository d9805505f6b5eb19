//! Requests with one answer: to open an episode, to search it, to replay it, to check it before it is shared.

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_app::library::replies::{self, EpisodeReply, LibraryReply, NoReply};
use volary_core::json::Text;
use volary_episode::Episode;
use volary_formats::import::fields::FieldMapping;
use volary_protocol::RequestId;
use volary_protocol::library::{EpisodeMatch, Event, Request, SensitiveEpisode, TaggedEpisode};

use super::LibraryClient;
use volary_browser::spawn;
use volary_browser::worker_client::Replies;

/// Opens an episode.
pub fn open(
    client: LibraryClient,
    id: &str,
    opened: impl FnOnce(Result<Episode, NoReply>) + 'static,
) {
    ask_for_episode(client, &Request::Open { id: id.into() }, opened);
}

/// Makes an episode of the first record of a file, for a preview.
pub fn preview(
    client: LibraryClient,
    head: &Text,
    fields: FieldMapping,
    made: impl FnOnce(Result<Episode, NoReply>) + 'static,
) {
    let head = head.clone();
    ask_for_episode(client, &Request::Preview { head, fields }, made);
}

fn ask_for_episode(
    client: LibraryClient,
    request: &Request,
    answered: impl FnOnce(Result<Episode, NoReply>) + 'static,
) {
    let mut replies = client.call(request, Vec::new()).map(|sent| sent.replies);
    spawn(async move {
        let mut reply = EpisodeReply::default();
        let episode = loop {
            if let Some(episode) = reply.push(next(&mut replies).await) {
                break episode;
            }
        };
        answered(episode.map(|complete| complete.episode));
    });
}

/// Finds words in an episode. `found` is called with the matches, unless a newer call supersedes this one.
pub fn find(
    client: LibraryClient,
    id: &str,
    words: &str,
    found: impl FnOnce(Vec<EpisodeMatch>) + 'static,
) {
    let number = client
        .state
        .try_update_value(|state| {
            state.find = state.find.wrapping_add(1);
            state.find
        })
        .unwrap_or_default();
    let (id, words) = (id.into(), words.into());
    let sent = client.call(&Request::Find { id, words }, Vec::new());
    let mut replies = sent.map(|sent| sent.replies);
    spawn(async move {
        if let Some(Ok(Event::Places { places })) = next(&mut replies).await
            && client.state.with_value(|state| state.find) == number
        {
            found(places);
        }
    });
}

/// Replays an episode; `checked` is called with the result as text, and the first step that differs.
pub fn check(
    client: LibraryClient,
    id: &str,
    checked: impl FnOnce(Result<(String, Option<usize>), NoReply>) + 'static,
) {
    let sent = client.call(&Request::Check { id: id.into() }, Vec::new());
    let mut replies = sent.map(|sent| sent.replies);
    spawn(async move { checked(replies::checked(next(&mut replies).await)) });
}

/// Looks for what should perhaps not be shared in trajectories. `checked` is not called if the worker is lost.
pub fn find_sensitive(
    client: LibraryClient,
    episodes: Vec<TaggedEpisode>,
    checked: impl FnOnce(Vec<SensitiveEpisode>) + 'static,
) {
    let sent = client.call(&Request::FindSensitive { episodes }, Vec::new());
    let mut replies = sent.map(|sent| sent.replies);
    spawn(async move {
        if let Some(Ok(Event::Sensitive { found })) = next(&mut replies).await {
            checked(found);
        }
    });
}

/// Sends a request whose work may take long. `replied` is called with each reply, and with `None` after the last one. Returns
/// the id by which [`cancel`] ends it; `None` if there is no worker.
pub fn follow(
    client: LibraryClient,
    request: &Request,
    mut replied: impl FnMut(LibraryReply) + 'static,
) -> Option<RequestId> {
    let mut replies = client.call(request, Vec::new()).map(|sent| sent.replies);
    let id = replies.as_ref().map(Replies::id);
    spawn(async move {
        loop {
            let reply = next(&mut replies).await;
            let is_last = !matches!(&reply, Some(Ok(_)));
            replied(reply);
            if is_last {
                break;
            }
        }
    });
    id
}

/// Cancels a request. If it ended meanwhile, nothing happens.
pub fn cancel(client: LibraryClient, id: RequestId) {
    client.call(&Request::Cancel { reading: id }, Vec::new());
}

/// The next reply, without attachments; `None` if there is no worker.
pub(super) async fn next(replies: &mut Option<Replies<Event>>) -> LibraryReply {
    let reply = replies.as_mut()?.next().await?;
    Some(reply.map(|reply| reply.event))
}
