//! Lists the models of a provider.

use std::time::Duration;

use leptos::prelude::untrack;
use volary_agent::model::exchange::{Exchange, Keeping};
use volary_agent::model::{ModelError, Reply};
use volary_core::json::{self, Text};

use super::Saved;
use super::ask::outgoing;
use super::unanswered::Unanswered;
use volary_browser::http;

/// The maximum size of the response in bytes.
const LIMIT: usize = 8_000_000;
/// The maximum number of names shown. Longer menus are useless and take browsers seconds.
const MOST_NAMES: usize = 2_000;
/// The maximum length of a displayed name in bytes.
const LONGEST_NAME: usize = 200;
const PATIENCE: Duration = Duration::from_secs(30);

/// A list of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The first names, in the provider's order.
    pub shown: Vec<Text>,
    /// The number of further models.
    pub more: usize,
}

impl Names {
    fn of(names: Vec<Text>) -> Names {
        let all = names.len();
        let short = names.into_iter().filter(|name| name.len() <= LONGEST_NAME);
        let shown: Vec<Text> = short.take(MOST_NAMES).collect();
        Names {
            more: all - shown.len(),
            shown,
        }
    }
}

/// Requests the list of models.
pub async fn list(saved: &Saved) -> Result<Names, Box<Unanswered>> {
    let (connection, key) = (&saved.connection, &untrack(|| saved.key()));
    let provider = connection.provider();
    let request = provider.models(&connection.base_url, key);
    let mut exchange = Exchange::of(&request, key);
    exchange.attempts = 1;
    let timeouts = http::Timeouts::of(PATIENCE);
    let whole = match http::fetch(&outgoing(&request), timeouts, LIMIT).await {
        Ok(whole) => whole,
        Err(error) => return Err(Box::new(Unanswered::of_transport(error, exchange))),
    };
    let unanswered = |error| {
        let mut keeping = Keeping::default();
        keeping.push(whole.body.as_bytes());
        exchange.reply = Some(keeping.finish(whole.status, "", key));
        Box::new(Unanswered::of_reply(error, exchange))
    };
    if !(200..300).contains(&whole.status) {
        // The same message as for any other rejected request.
        let mut reply = Reply::new(provider, key, whole.status, "", None);
        let mut nothing = Vec::new();
        let refused = reply.push(whole.body.as_bytes(), &mut nothing);
        let refused = refused.and_then(|()| reply.finish(&mut nothing));
        return Err(unanswered(refused.err().unwrap_or(ModelError::Cut)));
    }
    match json::read(&whole.body) {
        Ok(body) => Ok(Names::of(provider.read_models(&body))),
        Err(_) => Err(unanswered(ModelError::Malformed {
            format: "a list of models",
            reason: "it is not valid JSON.".into(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_any_size_is_shown_in_part() {
        let names: Vec<Text> = (0..500_000)
            .map(|number| format!("m{number}").into())
            .collect();
        let listed = Names::of(names);
        assert_eq!((listed.shown.len(), listed.more), (2_000, 498_000));
        let long = "m".repeat(1_000_000);
        let listed = Names::of(vec![long.as_str().into(), "short".into()]);
        assert_eq!((listed.shown, listed.more), (vec!["short".into()], 1));
        assert_eq!(Names::of(Vec::new()), Names::default());
    }
}
