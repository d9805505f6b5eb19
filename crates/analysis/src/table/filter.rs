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
    /// One of these texts, exactly; of several texts at least one. An empty choice is an unknown value.
    OneOf(Vec<String>),
    /// Whether the value is known.
    Known(bool),
}

impl Filter {
    /// The filters of conditions that were given by name, which must all hold. Numbers have a lower and an upper bound.
    pub fn all(
        is: Option<Vec<String>>,
        contains: Option<String>,
        (low, high): (Option<f64>, Option<f64>),
        known: Option<bool>,
    ) -> Vec<Filter> {
        let is_bounded = low.is_some() || high.is_some();
        let filters = [
            is.map(Filter::OneOf),
            contains.map(Filter::Contains),
            is_bounded.then_some(Filter::Between { low, high }),
            known.map(Filter::Known),
        ];
        filters.into_iter().flatten().collect()
    }

    /// Whether a cell passes.
    pub fn passes(&self, cell: &Cell<'_>) -> bool {
        match (self, cell) {
            (Filter::Known(known), cell) => *known != matches!(cell, Cell::Empty),
            (Filter::OneOf(choices), Cell::Empty) => one_of(choices, ""),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn one_of(texts: &[&str]) -> Filter {
        Filter::OneOf(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn an_empty_choice_is_an_unknown_value() {
        let known = Cell::Text("a".into());
        assert!(one_of(&["a", ""]).passes(&known));
        assert!(one_of(&["a", ""]).passes(&Cell::Empty));
        assert!(!one_of(&["a"]).passes(&Cell::Empty));
        assert!(!one_of(&[""]).passes(&known));
        assert!(!one_of(&[]).passes(&Cell::Empty));
    }

    #[test]
    fn an_unknown_value_passes_no_other_condition() {
        let any_number = Filter::Between {
            low: None,
            high: None,
        };
        assert!(!any_number.passes(&Cell::Empty));
        assert!(!any_number.passes(&Cell::Text("1".into())));
        assert!(any_number.passes(&Cell::Number(f64::INFINITY)));
        assert!(!Filter::Contains(String::new()).passes(&Cell::Empty));
        assert!(!Filter::Known(true).passes(&Cell::Empty));
        assert!(Filter::Known(false).passes(&Cell::Empty));
    }

    #[test]
    fn bounds_are_inclusive() {
        let unit = Filter::Between {
            low: Some(0.0),
            high: Some(1.0),
        };
        for (number, passes) in [(0.0, true), (1.0, true), (-0.1, false), (1.1, false)] {
            assert_eq!(unit.passes(&Cell::Number(number)), passes, "{number}");
        }
    }

    #[test]
    fn one_of_several_texts_is_enough() {
        let tags = ["Slow".into(), "loop".into()];
        let cell = Cell::Texts(&tags);
        assert!(Filter::Contains("SLO".to_owned()).passes(&cell));
        assert!(!Filter::Contains("slow, loop".to_owned()).passes(&cell));
        assert!(one_of(&["x", "loop"]).passes(&cell));
        assert!(!one_of(&["LOOP"]).passes(&cell), "exactly");
    }
}
