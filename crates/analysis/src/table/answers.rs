//! Answers of models to questions about episodes, as columns: each question has one for the answers, and one that says
//! whether their quotes hold.
//!
//! Invariant: answers are stored elsewhere. They are filled in for display, and are no part of a stored row.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use volary_core::json::Text;

use super::{Cell, Column, Row};

/// An answer to a question about the episode of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowAnswer {
    /// The name of the question, which is that of its columns.
    pub question: Text,
    pub value: AnswerValue,
    /// Whether its quotes hold: "supported", "unsupported" and so on.
    pub support: Text,
}

/// What a cell shows of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerValue {
    /// A label, or the beginning of a free text.
    Text(Text),
    /// The score that the model gave, in the range of the question.
    Number(f64),
}

impl Row {
    fn answer(&self, question: &str) -> Option<&RowAnswer> {
        let mut answers = self.answers.iter();
        answers.find(|answer| *answer.question == *question)
    }

    pub(super) fn answer_cell(&self, question: &str) -> Cell<'_> {
        match self.answer(question).map(|answer| &answer.value) {
            None => Cell::Empty,
            Some(AnswerValue::Text(value)) => super::text(value),
            Some(AnswerValue::Number(value)) => super::number(Some(*value)),
        }
    }

    pub(super) fn quotes_cell(&self, question: &str) -> Cell<'_> {
        let answer = self.answer(question);
        answer.map_or(Cell::Empty, |answer| super::text(&answer.support))
    }
}

/// The answers about each episode, by its id.
pub type AnswersByEpisode = HashMap<Text, Vec<RowAnswer>>;

/// The rows with the answers about them. Rows without answers are shared.
pub fn answered(rows: &Arc<Vec<Arc<Row>>>, answers: &AnswersByEpisode) -> Arc<Vec<Arc<Row>>> {
    if answers.is_empty() {
        return Arc::clone(rows);
    }
    let rows = rows.iter().map(|row| match answers.get(&row.id) {
        None => Arc::clone(row),
        Some(answers) => Arc::new(Row {
            answers: answers.clone(),
            ..Row::clone(row)
        }),
    });
    Arc::new(rows.collect())
}

/// The columns of the questions that rows have answers to, with the number of such rows.
pub(super) fn found<'a>(
    rows: impl Iterator<Item = &'a Row>,
) -> impl Iterator<Item = (Column, usize)> {
    let mut counts: BTreeMap<Text, usize> = BTreeMap::new();
    for answer in rows.flat_map(|row| &row.answers) {
        *counts.entry(answer.question.clone()).or_default() += 1;
    }
    counts.into_iter().flat_map(|(question, count)| {
        [
            (Column::Answer(question.clone()), count),
            (Column::AnswerQuotes(question), count),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::super::found_columns;
    use super::*;

    #[test]
    fn each_question_has_two_columns() {
        let row = Row {
            answers: vec![
                RowAnswer {
                    question: "Why?".into(),
                    value: AnswerValue::Text("loop".into()),
                    support: "unsupported".into(),
                },
                RowAnswer {
                    question: "How well?".into(),
                    value: AnswerValue::Number(7.0),
                    support: "supported".into(),
                },
            ],
            ..Row::default()
        };
        let why = Column::Answer("Why?".into());
        assert_eq!(row.cell(&why), Cell::Text("loop".into()));
        let quotes = Column::AnswerQuotes("Why?".into());
        assert_eq!(row.cell(&quotes), Cell::Text("unsupported".into()));
        let score = Column::Answer("How well?".into());
        assert_eq!(row.cell(&score), Cell::Number(7.0));
        let unasked = Column::Answer("Else?".into());
        assert_eq!(row.cell(&unasked), Cell::Empty);
        let none = Row::default();
        let found = found_columns([&row, &none], 9);
        assert_eq!(found.len(), 4);
        assert!(found.contains(&(why, 1)) && found.contains(&(quotes, 1)));
    }

    #[test]
    fn rows_without_answers_are_shared() {
        let row = |id: &str| {
            Arc::new(Row {
                id: id.into(),
                ..Row::default()
            })
        };
        let rows = Arc::new(vec![row("a"), row("b")]);
        let answer = RowAnswer {
            question: "Why?".into(),
            value: AnswerValue::Number(1.0),
            support: "supported".into(),
        };
        let answers = AnswersByEpisode::from([("b".into(), vec![answer])]);
        let shown = answered(&rows, &answers);
        assert!(Arc::ptr_eq(&shown[0], &rows[0]));
        assert_eq!(shown[1].answers.len(), 1);
        assert!(Arc::ptr_eq(
            &rows,
            &answered(&rows, &AnswersByEpisode::new())
        ));
    }

    #[test]
    fn answers_are_no_part_of_a_stored_row() {
        let row = Row {
            id: "a".into(),
            answers: vec![RowAnswer {
                question: "Why?".into(),
                value: AnswerValue::Number(1.0),
                support: "supported".into(),
            }],
            ..Row::default()
        };
        assert!(!row.to_json().to_compact_text().contains("Why?"));
    }
}
