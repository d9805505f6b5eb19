//! Rate limits and budget of models, as a form and as a value. Pure.

use volary_agent::evaluation::plan::Pace;
use volary_agent::model::limits::Budget;
use volary_core::json;
use volary_core::json::{Json, Object};

use super::setup::{count, object_schema};

const CONCURRENCY: &str = "Concurrency";
const REQUESTS: &str = "Requests per minute";
const TOKENS_A_MINUTE: &str = "Tokens per minute";
const TOTAL_TOKENS: &str = "Total tokens";
const MAXIMUM_COST: &str = "Maximum cost";

/// The JSON Schema of the form.
pub fn schema() -> Json {
    let limit =
        |description: &str| json!({"type": "integer", "description": description, "minimum": 1});
    object_schema(json!({
        CONCURRENCY: {
            "type": "integer",
            "description": "Number of model episodes that run at the same time.",
            "default": 4,
            "minimum": 1,
            "maximum": 64
        },
        REQUESTS: (limit("Per connection. Leave empty for no limit.")),
        TOKENS_A_MINUTE: (limit("Per connection, input and output.")),
        TOTAL_TOKENS: (limit("For all episodes. The evaluation pauses when this is reached.")),
        MAXIMUM_COST: {
            "type": "number",
            "description": "For all episodes, in US dollars.",
            "exclusiveMinimum": 0
        }
    }))
}

/// Reads the value of the form.
pub fn read(form: &Json) -> Pace {
    Pace {
        concurrency: count(form, CONCURRENCY).unwrap_or(1) as usize,
        requests_per_minute: count(form, REQUESTS),
        tokens_per_minute: count(form, TOKENS_A_MINUTE),
        budget: Budget {
            tokens: count(form, TOTAL_TOKENS),
            cost: form.get(MAXIMUM_COST).and_then(Json::as_f64),
            ..Budget::default()
        },
    }
}

/// Converts a pace to the value of the form.
pub fn value(pace: &Pace) -> Json {
    let whole = |count: u64| Json::from(i64::try_from(count).unwrap_or(i64::MAX));
    let mut form = Object::new();
    form.insert(CONCURRENCY, whole(pace.concurrency as u64));
    let limits = [
        (REQUESTS, pace.requests_per_minute),
        (TOKENS_A_MINUTE, pace.tokens_per_minute),
        (TOTAL_TOKENS, pace.budget.tokens),
    ];
    for (key, limit) in limits {
        if let Some(limit) = limit {
            form.insert(key, whole(limit));
        }
    }
    if let Some(cost) = pace.budget.cost {
        form.insert(MAXIMUM_COST, cost);
    }
    Json::Object(form)
}

#[cfg(test)]
mod tests {
    use volary_view::form::Form;

    use super::*;

    #[test]
    fn a_pace_comes_back_from_its_form() {
        let full = Pace {
            concurrency: 3,
            requests_per_minute: Some(60),
            tokens_per_minute: Some(90_000),
            budget: Budget {
                tokens: Some(1_000_000),
                cost: Some(2.5),
                ..Budget::default()
            },
        };
        for pace in [full, Pace::default()] {
            let form = Form::with_value(schema(), &value(&pace));
            assert!(!form.is_raw());
            assert_eq!(form.value().map(|form| read(&form)), Ok(pace));
        }
    }
}
