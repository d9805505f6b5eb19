//! Prices of answers: a table that the user can edit. A model that is not in it has an unknown price,
//! never zero.
//!
//! Prices are in US dollars per million tokens, at the providers' standard rates for prompts of usual
//! length, as of [`PRICES_AS_OF`]. A charge reported by the provider takes precedence over the table.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text, from_json, to_json};

use super::Usage;

/// The date of the prices in the table.
pub const PRICES_AS_OF: &str = "2026-11-20";

/// The prices of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens, including reasoning.
    pub output: f64,
    /// Input tokens read from a cache; `None` means the input price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input tokens written to a cache; `None` means the input price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// The stored form of a row.
#[derive(Serialize, Deserialize)]
struct PriceRow {
    model: Text,
    price: Price,
}

/// Prices by model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    rows: Vec<(Text, Price)>,
}

/// A model and its prices, in the order of the fields of [`Price`].
type Known = (&'static str, f64, f64, Option<f64>, Option<f64>);

const KNOWN: [Known; 15] = [
    ("claude-fable-5-1", 10.0, 50.0, None, None),
    ("claude-opus-5-5", 4.0, 20.0, Some(0.2), Some(5.0)),
    ("claude-opus-5", 5.0, 25.0, None, None),
    ("claude-sonnet-5-5", 2.0, 10.0, None, None),
    ("claude-sonnet-5", 2.0, 10.0, None, None),
    ("claude-haiku-5-5", 0.1, 0.5, Some(0.01), Some(0.125)),
    ("claude-haiku-4-5", 1.0, 5.0, Some(0.1), Some(1.25)),
    ("gpt-6.1-sol", 2.0, 10.0, Some(0.1), Some(2.5)),
    ("gpt-6.1-terra", 1.0, 5.0, Some(0.05), Some(1.25)),
    ("gpt-6-astra", 10.0, 50.0, Some(1.0), None),
    ("gpt-6-sol", 2.0, 10.0, Some(0.2), Some(2.5)),
    ("gpt-6-luna", 0.1, 0.5, Some(0.01), Some(0.125)),
    ("gpt-5.6-terra", 2.0, 12.0, Some(0.2), None),
    ("gpt-5.6-luna", 0.2, 1.2, Some(0.02), None),
    ("mistral-medium-latest", 1.5, 7.5, None, None),
];

impl Default for Prices {
    fn default() -> Self {
        let row = |(model, input, output, cached, cache_write): Known| {
            let price = Price {
                input,
                output,
                cached,
                cache_write,
            };
            (model.into(), price)
        };
        Prices {
            rows: KNOWN.into_iter().map(row).collect(),
        }
    }
}

impl Prices {
    /// The rows, in display order.
    pub fn rows(&self) -> &[(Text, Price)] {
        &self.rows
    }

    /// Sets the price of a model.
    pub fn set(&mut self, model: impl Into<Text>, price: Price) {
        let model = model.into();
        match self.rows.iter_mut().find(|(known, _)| *known == model) {
            Some((_, known)) => *known = price,
            None => self.rows.push((model, price)),
        }
    }

    /// Removes the price of a model, which is unknown afterwards.
    pub fn remove(&mut self, model: &str) {
        self.rows.retain(|(known, _)| **known != *model);
    }

    /// The price of a model: looked up by its exact name, or by its name without a date or release suffix.
    pub fn of(&self, model: &str) -> Option<Price> {
        let names = [model, undated(model)];
        names.into_iter().find_map(|name| {
            let mut rows = self.rows.iter();
            rows.find(|(known, _)| **known == *name)
                .map(|(_, price)| *price)
        })
    }

    /// The cost of an answer in US dollars, if known.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        usage.charged.or_else(|| Some(self.of(model)?.cost(usage)))
    }

    /// The stored form: a list of rows.
    pub fn to_json(&self) -> Json {
        let rows = self.rows.iter().map(|(model, price)| PriceRow {
            model: model.clone(),
            price: *price,
        });
        // Names and numbers always serialize.
        to_json(&rows.collect::<Vec<_>>()).unwrap_or_default()
    }

    /// Reads the stored form. Rows that are malformed or have an invalid price are skipped.
    pub fn read(value: &Json) -> Self {
        let rows = value.as_list().unwrap_or(&[]).iter();
        let rows = rows.filter_map(|row| from_json::<PriceRow>(row).ok());
        let rows = rows.filter(|row| !row.model.is_empty());
        let rows = rows.filter_map(|row| Some((row.model, row.price.possible()?)));
        Prices {
            rows: rows.collect(),
        }
    }
}

/// An amount of money: finite and not negative.
fn amount(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}

impl Price {
    /// The price without invalid amounts; `None` if the input or output price is invalid.
    fn possible(self) -> Option<Price> {
        Some(Price {
            input: amount(self.input)?,
            output: amount(self.output)?,
            cached: self.cached.and_then(amount),
            cache_write: self.cache_write.and_then(amount),
        })
    }

    /// The cost of these tokens, in US dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let special = usage.cached.saturating_add(usage.cache_written);
        let fresh = usage.prompt.saturating_sub(special);
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        part(fresh, self.input)
            + part(usage.cached, self.cached.unwrap_or(self.input))
            + part(usage.cache_written, self.cache_write.unwrap_or(self.input))
            + part(usage.completion, self.output)
    }
}

/// A model's name without the prefix `models/` and a date suffix (`-20251001`, `-2026-03-17`).
fn undated(model: &str) -> &str {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let is_date = |end: &str| {
        let digits = end.bytes().filter(u8::is_ascii_digit).count();
        digits == 8
            && end
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    for length in [8, 10] {
        if let Some((start, end)) = model
            .len()
            .checked_sub(length)
            .and_then(|offset| model.split_at_checked(offset))
            && is_date(end)
            && let Some(name) = start.strip_suffix('-')
        {
            return name;
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt: u64, cached: u64, written: u64, completion: u64) -> Usage {
        Usage {
            prompt,
            completion,
            cached,
            cache_written: written,
            ..Usage::default()
        }
    }

    #[test]
    fn costs_are_sums_of_their_parts() {
        let prices = Prices::default();
        let cost = prices.cost(
            "claude-opus-5-5",
            &usage(1_000_000, 500_000, 100_000, 10_000),
        );
        // 0.4 M at $4, 0.5 M at $0.2, 0.1 M at $5, 10 k at $20.
        assert!((cost.unwrap() - (1.6 + 0.1 + 0.5 + 0.2)).abs() < 1e-12);
    }

    #[test]
    fn names_are_found_with_their_dates_and_nothing_is_guessed() {
        let prices = Prices::default();
        for known in [
            "claude-haiku-4-5-20251001",
            "gpt-6-luna-2026-09-22",
            "models/gpt-6-luna",
        ] {
            assert!(prices.of(known).is_some(), "{known}");
        }
        for unknown in [
            "gpt-6-luna-pro",
            "my-claude-opus-5-5",
            "",
            "llama",
            "é-20251001",
        ] {
            assert_eq!(prices.of(unknown), None, "{unknown}");
            assert_eq!(prices.cost(unknown, &usage(1, 0, 0, 1)), None);
        }
    }

    #[test]
    fn a_reported_charge_takes_precedence() {
        let charged = Usage {
            charged: Some(0.25),
            ..usage(1, 0, 0, 1)
        };
        assert_eq!(Prices::default().cost("whatever", &charged), Some(0.25));
    }

    #[test]
    fn edits_are_kept() {
        let mut prices = Prices::default();
        let price = Price {
            input: 1.0,
            output: 2.0,
            cached: None,
            cache_write: None,
        };
        prices.set("mine", price);
        prices.remove("gpt-6-luna");
        assert_eq!(prices.of("mine"), Some(price));
        assert_eq!(prices.of("gpt-6-luna"), None);
        let text = prices.to_json().to_compact_text();
        assert_eq!(
            Prices::read(&volary_core::json::read(&text).unwrap()),
            prices
        );
        let broken = r#"[{"model":"x","price":{"input":-1,"output":2}},{"model":"","price":{"input":1,"output":1}},3]"#;
        assert_eq!(
            Prices::read(&volary_core::json::read(broken).unwrap()).rows(),
            []
        );
    }

    #[test]
    fn more_of_a_cache_than_of_a_prompt_costs_no_less_than_nothing() {
        let prices = Prices::default();
        assert!(
            prices
                .cost("gpt-6-luna", &usage(1, u64::MAX, 5, 0))
                .unwrap()
                > 0.0
        );
    }
}
