//! Records model calls in the step that they chose. Pure.

use volary_agent::model::exchange::{KeptError, KeptExchanges};
use volary_agent::model::{Answer, Exchange};
use volary_core::json::{Json, Object, Text};
use volary_episode::{StepDetails, StepRecord, Usage};
use volary_view::asking::{EXCHANGES, NOTES, exchanges as kept_in};

/// The details in terms that all trajectory formats share. `cost` is in US dollars, `None` if it is unknown;
/// `started` in seconds since 1970.
pub fn details(model: &Text, answer: &Answer, cost: Option<f64>, started: f64) -> StepDetails {
    let usage = answer.usage.map(|usage| Usage {
        input: Some(usage.prompt),
        output: Some(usage.completion),
        cached: (usage.cached > 0).then_some(usage.cached),
        reasoning: (usage.reasoning > 0).then_some(usage.reasoning),
        cost,
    });
    StepDetails {
        reasoning: answer.thinking.as_deref().map(Text::from),
        model: Some(model.clone()),
        usage,
        started: Some(started),
        ..StepDetails::default()
    }
}

/// The other data: the exchanges, the last of which was answered, and notes on parameters that the model rejected.
/// `before` are the preceding steps: of each request, only the part that is new since them is stored.
pub fn extras(before: &[StepRecord], exchanges: &[Exchange], notes: &[String]) -> Object {
    let mut extras = Object::new();
    let mut kept = KeptExchanges::of(before.iter().flat_map(|step| kept_in(&step.extras)));
    exchanges.iter().for_each(|exchange| kept.push(exchange));
    extras.insert(EXCHANGES, Json::List(kept.into_new()));
    if !notes.is_empty() {
        let notes = notes.iter().map(|note| Json::from(note.as_str()));
        extras.insert(NOTES, Json::List(notes.collect()));
    }
    extras
}

/// The exchanges of a step, counted from 0; an error says why a request cannot be rebuilt.
pub fn exchanges(steps: &[StepRecord], step: usize) -> Vec<Result<Exchange, KeptError>> {
    let count = |step: &StepRecord| kept_in(&step.extras).len();
    let first: usize = steps.iter().take(step).map(count).sum();
    let own = steps.get(step).map_or(0, count);
    let kept = KeptExchanges::of(steps.iter().flat_map(|step| kept_in(&step.extras)));
    kept.read_range(first..first + own)
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Outcome;
    use volary_view::asking;

    use super::*;

    #[test]
    fn records_can_be_shown() {
        let answer = Answer {
            thinking: Some("Hm.".to_owned()),
            usage: Some(volary_agent::model::Usage {
                prompt: 7,
                completion: 3,
                ..Default::default()
            }),
            ..Answer::default()
        };
        let details = details(&"m".into(), &answer, Some(0.5), 12.0);
        assert_eq!(details.reasoning.as_deref(), Some("Hm."));
        let usage = details.usage.unwrap_or_default();
        assert_eq!(
            (usage.input, usage.output, usage.cost),
            (Some(7), Some(3), Some(0.5))
        );
        assert_eq!((usage.cached, usage.reasoning), (None, None));
        let exchange = Exchange {
            method: "POST".into(),
            body: "All that was said so far. ".repeat(50).into(),
            attempts: 2,
            ..Exchange::default()
        };
        let mut steps = Vec::new();
        for _ in 0..3 {
            let outcome = Outcome::Failed {
                message: "It was".into(),
            };
            let mut step = StepRecord::new(Message::user("act").into(), outcome);
            step.extras = extras(
                &steps,
                std::slice::from_ref(&exchange),
                &["No temperature.".to_owned()],
            );
            steps.push(step);
        }
        for (place, step) in steps.iter().enumerate() {
            assert_eq!(exchanges(&steps, place), [Ok(exchange.clone())]);
            assert_eq!(asking::notes(&step.extras), ["No temperature."]);
        }
    }
}
