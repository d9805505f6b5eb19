//! Sends the requests of a run. Retries are decided by the run.

use volary_agent::model::{ModelError, ModelRequest};
use volary_ask::run::ModelReply;
use volary_connections::models::connections;
use volary_connections::models::{Ask, Asking};

/// Sends a request once over a connection, with the key that was entered for its origin.
pub(super) async fn send(
    connection: &str,
    mut request: ModelRequest,
) -> Result<ModelReply, ModelError> {
    let saved = leptos::prelude::untrack(|| connections::get(connection));
    let Some(saved) = saved else {
        return Err(ModelError::Unreachable {
            reason: "The connection was deleted in Settings.".into(),
        });
    };
    let mut asking = Asking::new(Ask::of(&saved), &mut request);
    let asked = asking.send(&mut request, &mut |_| {}).await;
    let answer = match asked {
        Ok(asked) => asked.answer,
        Err((unanswered, _)) => return Err(unanswered.error),
    };
    if let Some(reason) = answer.refusal.filter(|_| answer.text.is_none()) {
        return Err(ModelError::Refused {
            reason: reason.into(),
        });
    }
    Ok(ModelReply {
        text: answer.text.unwrap_or_default(),
        usage: answer.usage,
    })
}
