//! Ask in Review: its places in the address, and its texts. Pure.
//!
//! - [`quote`]: quotes with the result of their check. [`costs`]: what a plan sends and costs, and what a run has spent.
//! - [`claims`]: findings as pieces of text and citations.

pub mod claims;
pub mod costs;
pub mod quote;

use volary_analysis::table::Column;
use volary_analysis::table::filter::Filter;
use volary_analysis::table::view::View;
use volary_core::json::Text;

use crate::library::FIRST_COLUMNS;
use crate::route::{ReviewPlace, Route};

/// A place in Ask, as the parameter `ask` of an address encodes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AskPlace {
    /// The form for a question, and the list of those that were asked. The id is that of a question to start from.
    New(Option<Text>),
    /// The answers to a question.
    Answers(Text),
    /// Labels of a person, and the agreement with the answers.
    Calibration(Text),
    /// Findings over the answers.
    Findings(Text),
    /// Not in Ask.
    #[default]
    Elsewhere,
}

impl AskPlace {
    /// The place in an address.
    pub fn of(place: &ReviewPlace) -> AskPlace {
        let Some(text) = &place.ask else {
            return AskPlace::Elsewhere;
        };
        let (id, part) = text.split_once('.').unwrap_or((text, ""));
        match (id, part) {
            ("" | "new", "") => AskPlace::New(None),
            ("new", id) => AskPlace::New(Some(id.into())),
            (id, "labels") => AskPlace::Calibration(id.into()),
            (id, "findings") => AskPlace::Findings(id.into()),
            (id, _) => AskPlace::Answers(id.into()),
        }
    }

    /// The id of the question whose page it is.
    pub fn question(&self) -> Option<&Text> {
        match self {
            AskPlace::Answers(id) | AskPlace::Calibration(id) | AskPlace::Findings(id) => Some(id),
            AskPlace::New(_) | AskPlace::Elsewhere => None,
        }
    }

    /// The address, which keeps the view of the table.
    pub fn to_hash(&self, view: &str) -> String {
        let ask = match self {
            AskPlace::New(None) => Some("new".to_owned()),
            AskPlace::New(Some(id)) => Some(format!("new.{id}")),
            AskPlace::Answers(id) => Some(id.to_string()),
            AskPlace::Calibration(id) => Some(format!("{id}.labels")),
            AskPlace::Findings(id) => Some(format!("{id}.findings")),
            AskPlace::Elsewhere => None,
        };
        let place = ReviewPlace {
            ask,
            view: view.to_owned(),
            ..ReviewPlace::default()
        };
        Route::Review(place).to_hash()
    }
}

/// The address of the table with the columns of a question, of the rows that have an answer, or this one.
pub fn table_hash(name: &Text, value: Option<&str>) -> String {
    let column = Column::Answer(name.clone());
    let filter = match value {
        Some(value) => match value.parse::<f64>() {
            Ok(score) => Filter::Between {
                low: Some(score),
                high: Some(score),
            },
            Err(_) => Filter::OneOf(vec![value.to_owned()]),
        },
        None => Filter::Known(true),
    };
    let first = [Column::Name, Column::Task, Column::Model, Column::Reward];
    let first = FIRST_COLUMNS.iter().filter(|column| first.contains(column));
    let answers = [column.clone(), Column::AnswerQuotes(name.clone())];
    let view = View {
        filters: vec![(column, filter)],
        columns: Some(first.cloned().chain(answers).collect()),
        ..View::default()
    };
    let place = ReviewPlace {
        view: view.to_query(),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

/// The address of the table, grouped by the answers to a question.
pub fn grouped_hash(name: &Text) -> String {
    let column = Column::Answer(name.clone());
    let view = View {
        filters: vec![(column.clone(), Filter::Known(true))],
        groups: vec![column],
        ..View::default()
    };
    let place = ReviewPlace {
        view: view.to_query(),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_with_the_view_of_the_table() {
        for place in [
            AskPlace::New(None),
            AskPlace::New(Some("0a".into())),
            AskPlace::Answers("0a".into()),
            AskPlace::Calibration("0a".into()),
            AskPlace::Findings("0a".into()),
            AskPlace::Elsewhere,
        ] {
            let hash = place.to_hash("sort=reward~up");
            let Route::Review(read) = Route::parse(&hash) else {
                panic!("{hash}");
            };
            assert_eq!(AskPlace::of(&read), place, "{hash}");
            assert_eq!(read.view, "sort=reward~up");
        }
    }

    #[test]
    fn the_table_shows_the_rows_with_an_answer() {
        let hash = table_hash(&"Why?".into(), Some("gave up"));
        let Route::Review(place) = Route::parse(&hash) else {
            panic!("{hash}");
        };
        let view = View::read(&place.view);
        let column = Column::Answer("Why?".into());
        assert_eq!(
            view.filters,
            [(column.clone(), Filter::OneOf(vec!["gave up".to_owned()]))]
        );
        assert!(
            view.columns
                .is_some_and(|columns| columns.contains(&column))
        );
        let grouped = grouped_hash(&"Why?".into());
        assert!(grouped.contains("group=answer/Why%3F"), "{grouped}");
    }
}
