//! Asks a model for the name of a cluster.

use leptos::prelude::untrack;
use volary_app::behaviour::cluster_naming::{NameReply, NameRequest};
use volary_connections::models::{Ask, ask, connections, prices};

/// Sends a request over its connection, with the key that was entered for its origin. An error is for the user.
pub(super) async fn name_of(asked: NameRequest) -> Result<NameReply, String> {
    let NameRequest {
        connection,
        mut request,
        ..
    } = asked;
    let saved = untrack(|| connections::get(&connection));
    let saved = saved.ok_or("The connection was deleted in Settings.")?;
    let reply = ask(&Ask::of(&saved), &mut request, &mut |_| {}).await;
    let answer = reply
        .map_err(|unanswered| unanswered.error.to_string())?
        .answer;
    if let Some(reason) = answer.refusal.filter(|_| answer.text.is_none()) {
        return Err(format!("The model refused: {reason}"));
    }
    let price = |usage: &_| untrack(|| prices::read(|prices| prices.cost(&request.model, usage)));
    let usage = answer.usage.as_ref();
    let cost = usage.and_then(|usage| usage.charged.or_else(|| price(usage)));
    Ok(NameReply {
        text: answer.text.unwrap_or_default(),
        cost,
    })
}
