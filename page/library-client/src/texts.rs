//! Trajectories as texts for questions to models. The worker renders them and checks the quotes of replies.

use volary_app::library::replies::LibraryReply;
use volary_ask::run::CheckedReply;
use volary_ask::{RenderOptions, Rendered};
use volary_core::json::Text;
use volary_protocol::asking::{AskTerms, MeasuredTexts, SaidReply};
use volary_protocol::library::{Event, Request};

use super::LibraryClient;
use super::requests::next;

const LOST: &str = "The worker that reads trajectories ended. Try again.";

/// Renders and measures trajectories. `heard` is called with the progress, for the user. `None` if a newer request
/// superseded this one.
pub async fn measured(
    client: LibraryClient,
    ids: Vec<Text>,
    terms: Box<AskTerms>,
    mut heard: impl FnMut(Text),
) -> Option<Result<MeasuredTexts, Text>> {
    let sent = client.call(&Request::MeasureTexts { ids, terms }, Vec::new());
    let mut replies = sent.map(|sent| sent.replies);
    loop {
        match next(&mut replies).await {
            Some(Ok(Event::Progress { doing, .. })) => heard(doing),
            Some(Ok(Event::Measured(texts))) => return Some(Ok(texts)),
            Some(Ok(_)) => {}
            Some(Err(_)) => return Some(Err(LOST.into())),
            None => return None,
        }
    }
}

/// Renders a trajectory.
pub async fn rendered(
    client: LibraryClient,
    id: Text,
    options: RenderOptions,
) -> Result<Rendered, Text> {
    match reply(client, &Request::RenderText { id, options }).await {
        Some(Ok(Event::Rendered(rendered))) => Ok(*rendered),
        other => Err(refusal(other)),
    }
}

/// Checks what a model said about a trajectory.
pub async fn checked(client: LibraryClient, said: Box<SaidReply>) -> Result<CheckedReply, Text> {
    match reply(client, &Request::CheckReply(said)).await {
        Some(Ok(Event::ReplyChecked(checked))) => Ok(checked.0),
        other => Err(refusal(other)),
    }
}

async fn reply(client: LibraryClient, request: &Request) -> LibraryReply {
    let sent = client.call(request, Vec::new());
    next(&mut sent.map(|sent| sent.replies)).await
}

fn refusal(reply: LibraryReply) -> Text {
    match reply {
        Some(Ok(Event::Refused { reason })) => reason,
        _ => LOST.into(),
    }
}
