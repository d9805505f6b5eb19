//! The list of models that a provider has.

use std::time::Duration;

use volary_agent::model::exchange::{Exchange, KeptReply};
use volary_agent::model::{ApiKey, Connection, ModelError, Reply};
use volary_core::json::{self, Text};

use super::ask::{Unanswered, outgoing};
use crate::shell::http;

/// Nobody has more models than this holds.
const LIMIT: usize = 8_000_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks the provider for its models, by name.
pub async fn list(connection: &Connection, key: &ApiKey) -> Result<Vec<Text>, Box<Unanswered>> {
    let provider = connection.provider();
    let request = provider.models(&connection.base_url, key);
    let mut exchange = Exchange::of(&request, key);
    exchange.tries = 1;
    let patience = http::Patience::of(PATIENCE);
    let whole = match http::fetch(&outgoing(&request), patience, LIMIT).await {
        Ok(whole) => whole,
        Err(error) => return Err(Box::new(Unanswered::at_the_door(error, exchange))),
    };
    exchange.reply = Some(KeptReply {
        status: whole.status,
        body: key.redact(&whole.body).into(),
        bytes: whole.body.len(),
        ..KeptReply::default()
    });
    let unanswered = |error| Box::new(Unanswered::of_reply(error, exchange));
    if !(200..300).contains(&whole.status) {
        // The same words as for any other refused request.
        let mut reply = Reply::new(provider, key, whole.status, "", None);
        let mut nothing = Vec::new();
        let refused = reply.push(whole.body.as_bytes(), &mut nothing);
        let refused = refused.and_then(|()| reply.finish(&mut nothing));
        return Err(unanswered(refused.err().unwrap_or(ModelError::Cut)));
    }
    match json::read(&whole.body) {
        Ok(body) => Ok(provider.read_models(&body)),
        Err(_) => Err(unanswered(ModelError::Malformed {
            format: "a list of models",
            reason: "it is no JSON.".into(),
        })),
    }
}
