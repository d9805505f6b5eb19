//! Filters of table rows.

use super::Cell;

/// A condition on a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// A number within inclusive bounds; `None` is unbounded.
    Between {
        /// The lower bound.
        low: Option<f64>,
        /// The upper bound.
        high: Option<f64>,
    },
    /// A text that contains this one, ignoring case; of several texts at least one does.
    Contains(String),
    /// One of these texts, exactly; of several texts at least one.
    OneOf(Vec<String>),
    /// Whether the value is known.
    Known(bool),
}

impl Filter {
    /// Whether a cell passes.
    pub fn passes(&self, cell: &Cell<'_>) -> bool {
        match (self, cell) {
            (Filter::Known(known), cell) => *known != matches!(cell, Cell::Empty),
            (_, Cell::Empty) => false,
            (Filter::Between { low, high }, Cell::Number(number)) => {
                low.is_none_or(|low| *number >= low) && high.is_none_or(|high| *number <= high)
            }
            (Filter::Between { .. }, _) => false,
            (Filter::Contains(part), Cell::Texts(texts)) => {
                texts.iter().any(|text| contains(text, part))
            }
            (Filter::Contains(part), cell) => contains(&cell.to_text(), part),
            (Filter::OneOf(choices), Cell::Texts(texts)) => {
                texts.iter().any(|text| one_of(choices, text))
            }
            (Filter::OneOf(choices), cell) => one_of(choices, &cell.to_text()),
        }
    }
}

fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn one_of(choices: &[String], text: &str) -> bool {
    choices.iter().any(|choice| choice == text)
}
