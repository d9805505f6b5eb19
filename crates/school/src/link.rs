//! Knobs in an address: `environment=hands&group=4`. What has its default is left out, so equal links mean equal runs.

use serde_json::{Map, Value};

use crate::knobs::{KnobError, Knobs};

/// Why an address names no run.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error(
        "The link names a setting that the school does not have, or a value of another kind: {0}"
    )]
    Unknown(#[from] serde_json::Error),
    #[error(transparent)]
    OutOfRange(#[from] KnobError),
}

/// The parameters of these knobs, without a leading `?`.
pub fn to_query(knobs: &Knobs) -> String {
    let (own, default) = (members(knobs), members(&Knobs::default()));
    let changed = own
        .into_iter()
        .filter(|(name, value)| default.get(name) != Some(value));
    let parameters = changed.map(|(name, value)| match value {
        // All names are words.
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    parameters.collect::<Vec<_>>().join("&")
}

/// Reads the parameters of an address.
///
/// # Errors
///
/// If a parameter is no knob, or its value is outside of its range.
pub fn from_query(query: &str) -> Result<Knobs, LinkError> {
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    let given: Map<String, Value> = parameters
        .map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let text = || Value::String(value.to_owned());
            let value = serde_json::from_str(value).unwrap_or_else(|_| text());
            (name.to_owned(), value)
        })
        .collect();
    let knobs: Knobs = serde_json::from_value(Value::Object(given))?;
    knobs.check()?;
    Ok(knobs)
}

fn members(knobs: &Knobs) -> Map<String, Value> {
    match serde_json::to_value(knobs) {
        Ok(Value::Object(members)) => members,
        // A struct is always an object.
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    #[test]
    fn an_address_has_what_differs_from_the_defaults() {
        assert_eq!(to_query(&Knobs::default()), "");
        assert_eq!(from_query("").unwrap(), Knobs::default());
        let knobs = Knobs {
            environment: "hands".to_owned(),
            seed: 7,
            temperature: 0.5,
            ..Knobs::default()
        };
        assert_eq!(to_query(&knobs), "environment=hands&seed=7&temperature=0.5");
    }

    #[test]
    fn every_planted_failure_survives_an_address() {
        for preset in Preset::ALL {
            let mut knobs = Knobs::default();
            preset.plant(&mut knobs);
            assert_eq!(from_query(&to_query(&knobs)).unwrap(), knobs);
        }
    }

    #[test]
    fn unknown_and_impossible_parameters_are_refused() {
        assert!(
            from_query("groups=4")
                .unwrap_err()
                .to_string()
                .contains("groups")
        );
        assert!(from_query("group=many").is_err());
        let error = from_query("temperature=0").unwrap_err();
        assert!(error.to_string().starts_with("The temperature is 0"));
    }
}
