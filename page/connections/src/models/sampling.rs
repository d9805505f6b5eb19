//! Sampling parameters: the properties of a form, and their values. The provider chooses the value of an empty field.
//! Pure.

use volary_agent::model::{Effort, ModelRequest};
use volary_core::json;
use volary_core::json::{Json, Object};

const TEMPERATURE: &str = "Temperature";
const MAXIMUM_TOKENS: &str = "Maximum tokens";
const EFFORT: &str = "Effort";
const SEED: &str = "Seed";

/// Sampling parameters; `None` leaves a value to the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// The temperature; 0 is the most deterministic.
    pub temperature: Option<f64>,
    /// The maximum number of tokens of a response.
    pub max_tokens: Option<u32>,
    /// The reasoning effort.
    pub effort: Option<Effort>,
    /// The random seed, for repeatable responses.
    pub seed: Option<i64>,
}

/// The properties of the form.
pub fn properties() -> Object {
    let efforts = Effort::ALL.map(|effort| Json::from(effort.as_str()));
    let properties = json!({
        TEMPERATURE: {
            "type": "number",
            "description": "0 is the most deterministic.",
            "minimum": 0,
            "maximum": 2
        },
        MAXIMUM_TOKENS: {
            "type": "integer",
            "description": "Per response, including thinking.",
            "minimum": 1,
            "maximum": 1000000
        },
        EFFORT: {
            "enum": (Json::List(efforts.into())),
            "description": "Reasoning effort, for models that support it."
        },
        SEED: {
            "type": "integer",
            "description": "For repeatable responses, if the provider supports it."
        }
    });
    match properties {
        Json::Object(properties) => properties,
        _ => Object::new(),
    }
}

impl Sampling {
    /// Reads the values of the form.
    pub fn read(form: &Json) -> Self {
        let integer = |key: &str| form.get(key).and_then(Json::as_i64);
        let word = form.get(EFFORT).and_then(Json::as_text);
        Sampling {
            temperature: form.get(TEMPERATURE).and_then(Json::as_f64),
            max_tokens: integer(MAXIMUM_TOKENS).and_then(|most| most.try_into().ok()),
            effort: Effort::ALL
                .into_iter()
                .find(|effort| word.is_some_and(|word| effort.as_str() == &**word)),
            seed: integer(SEED),
        }
    }

    /// Sets them in a request.
    pub fn apply(&self, request: &mut ModelRequest) {
        request.temperature = self.temperature;
        request.max_tokens = self.max_tokens;
        request.effort = self.effort;
        request.seed = self.seed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chosen_parameters_are_sent() {
        let form =
            json!({"Temperature": 0.5, "Maximum tokens": 100, "Effort": "low", "Seed": (-1)});
        let said = Sampling::read(&form);
        let mut request = ModelRequest::default();
        said.apply(&mut request);
        assert_eq!(
            (
                request.temperature,
                request.max_tokens,
                request.effort,
                request.seed
            ),
            (Some(0.5), Some(100), Some(Effort::Low), Some(-1))
        );
        assert_eq!(Sampling::read(&json!({})), Sampling::default());
        let keys = properties();
        assert!(
            [TEMPERATURE, MAXIMUM_TOKENS, EFFORT, SEED]
                .iter()
                .all(|key| keys.get(key).is_some())
        );
    }
}
