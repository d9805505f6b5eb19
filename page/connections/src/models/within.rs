//! Requests to a model within limits of time, tokens and money.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use volary_agent::model::ModelRequest;
use volary_agent::model::limits::{Budget, Exhausted, Spent};
use volary_agent::model::price::Prices;

use super::ask::{Ask, Asked, RequestProgress, ask as ask_freely};
use super::unanswered::Unanswered;
use volary_browser::timers;

/// The reason why there is no response within the limits.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// A limit was reached, before or during the request.
    Exhausted(Exhausted),
    /// The request failed.
    Unanswered(Box<Unanswered>),
}

/// Limits, and the amounts spent.
pub struct Limits<'a> {
    /// The limits.
    pub budget: &'a Budget,
    /// The amounts spent so far. Seconds, tokens and money are added here; the caller counts steps.
    pub spent: &'a mut Spent,
    pub prices: &'a Prices,
}

/// Calls a model within limits.
pub async fn ask_within(
    ask: &Ask<'_>,
    request: &mut ModelRequest,
    limits: &mut Limits<'_>,
    heard: &mut dyn FnMut(RequestProgress<'_>),
) -> Result<Asked, Stopped> {
    if let Some(end) = limits.budget.exhausted(limits.spent) {
        return Err(Stopped::Exhausted(end));
    }
    let started = timers::now();
    let left = limits.budget.seconds_left(limits.spent);
    let asked = {
        let asking = pin!(ask_freely(ask, request, heard));
        match left {
            None => Some(asking.await),
            Some(seconds) => {
                let end = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                match select(asking, pin!(timers::sleep(end))).await {
                    Either::Left((asked, _)) => Some(asked),
                    Either::Right(_) => None,
                }
            }
        }
    };
    limits.spent.add_seconds(timers::now() - started);
    let answer = match &asked {
        None => None,
        Some(Ok(asked)) => Some(&asked.answer),
        Some(Err(unanswered)) => unanswered.partial.as_ref(),
    };
    if let Some(answer) = answer {
        let usage = answer.usage.as_ref();
        let model = &ask.connection().model;
        let cost = usage.and_then(|usage| limits.prices.cost(model, usage));
        limits.spent.add_answer(usage, cost);
    }
    match asked {
        Some(asked) => asked.map_err(Stopped::Unanswered),
        None => Err(Stopped::Exhausted(Exhausted::Seconds {
            limit: limits.budget.seconds.unwrap_or_default(),
        })),
    }
}
