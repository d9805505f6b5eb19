//! The rows of the table: with their notes, and as a sample. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::library::FIRST_COLUMNS;
use volary_analysis::annotations::tags::{self, tag_of};
use volary_analysis::annotations::{Annotation, Annotations};
use volary_analysis::table::variation::Uniform;
use volary_analysis::table::{Column, Row};
use volary_core::json::Text;

/// Whether a default column is hidden because it is the same in all rows. The name, the steps and the outcome are not,
/// the reward only if it is unknown, and errors only if there are none: they identify the row and show how well it went.
pub fn is_hidden(known: &Uniform) -> bool {
    match known.column {
        Column::Name | Column::Steps | Column::Outcome => false,
        Column::Reward => known.value.is_none(),
        Column::Errors => known.value.as_deref().is_none_or(|count| count == "0"),
        _ => true,
    }
}

/// The columns of a table whose user chose none: those that differ between rows.
pub fn default_columns(hidden: &[Uniform]) -> Vec<Column> {
    let columns = FIRST_COLUMNS.iter();
    let columns = columns.filter(|column| hidden.iter().all(|known| known.column != **column));
    columns.cloned().collect()
}

/// The rows with the notes on them. Rows without notes are shared.
pub fn noted(rows: &Arc<Vec<Arc<Row>>>, notes: &Annotations) -> Arc<Vec<Arc<Row>>> {
    /// Texts, labels and verdict of the notes on an episode.
    type Noted = (Vec<Text>, Vec<Text>, Option<Text>);
    let mut known: BTreeMap<&str, Noted> = BTreeMap::new();
    let mut tagged: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
    for note in notes.iter_all().filter(|note| tag_of(note).is_some()) {
        tagged.entry(&note.episode).or_default().push(note);
        known.entry(&note.episode).or_default();
    }
    let notes = notes.iter().filter(|note| tag_of(note).is_none());
    let mut notes: Vec<_> = notes.collect();
    notes.sort_by(|one, other| one.changed.total_cmp(&other.changed));
    for note in notes {
        let (texts, labels, verdict) = known.entry(&note.episode).or_default();
        let words = note.label.iter().chain([&note.text]);
        texts.extend(words.filter(|text| !text.is_empty()).cloned());
        let label = note.label.iter().filter(|label| !label.is_empty());
        labels.extend(
            label
                .filter(|label| !labels.contains(label))
                .cloned()
                .collect::<Vec<_>>(),
        );
        if let Some(given) = note.verdict {
            *verdict = Some(given.as_str().into());
        }
    }
    if known.is_empty() {
        return Arc::clone(rows);
    }
    let with_notes = rows.iter().map(|row| match known.remove(&*row.id) {
        None => Arc::clone(row),
        Some((notes, labels, verdict)) => {
            let mut tags = row.tags.clone();
            for note in tagged.remove(&*row.id).unwrap_or_default() {
                tags::apply(note, &mut tags);
            }
            Arc::new(Row {
                notes,
                labels,
                verdict,
                tags,
                ..Row::clone(row)
            })
        }
    });
    Arc::new(with_notes.collect())
}

/// Returns whether the notes on an episode contain all words of a search.
pub fn has_notes_with(row: &Row, words: &str) -> bool {
    if row.notes.is_empty() {
        return false;
    }
    let notes = row.notes.join("\n").to_lowercase();
    let words = words.to_lowercase();
    let mut words = words.split_whitespace().map(|word| word.trim_matches('"'));
    words.all(|word| notes.contains(word))
}

/// A sample of rows of the whole table: large enough to list values, small enough to compute on every update.
pub fn sampled(rows: &[Arc<Row>]) -> impl Iterator<Item = &Row> + Clone {
    const MOST: usize = 1000;
    let every = rows.len().div_ceil(MOST).max(1);
    rows.iter().step_by(every).map(AsRef::as_ref)
}

#[cfg(test)]
mod tests {
    use volary_analysis::annotations::Verdict;
    use volary_analysis::table::variation::Variation;

    use super::*;

    fn row(id: &str) -> Row {
        Row {
            id: id.into(),
            ..Row::default()
        }
    }

    fn note(id: &str, episode: &str, text: &str) -> Annotation {
        Annotation {
            id: id.into(),
            episode: episode.into(),
            text: text.into(),
            ..Annotation::default()
        }
    }

    #[test]
    fn rows_carry_their_notes() {
        let rows = ["a", "b"].map(|id| {
            Arc::new(Row {
                id: id.into(),
                ..Row::default()
            })
        });
        let rows = Arc::new(rows.to_vec());
        assert!(Arc::ptr_eq(&noted(&rows, &Annotations::default()), &rows));
        let mut notes = Annotations::default();
        notes.write(
            Annotation {
                id: "n".into(),
                episode: "b".into(),
                text: "asks twice".into(),
                label: Some("loop".into()),
                verdict: Some(Verdict::Bad),
                ..Annotation::default()
            },
            1.0,
        );
        let with_notes = noted(&rows, &notes);
        assert!(Arc::ptr_eq(&with_notes[0], &rows[0]));
        assert_eq!(
            with_notes[1].notes,
            ["loop".into(), "asks twice".into()] as [Text; 2]
        );
        assert!(has_notes_with(&with_notes[1], "Asks LOOP"));
        assert!(!has_notes_with(&with_notes[1], "asks thrice"));
        assert!(!has_notes_with(&with_notes[0], ""));
        assert_eq!(with_notes[1].labels, ["loop".into()] as [Text; 1]);
        assert_eq!(with_notes[1].verdict.as_deref(), Some("bad"));
    }

    #[test]
    fn the_latest_verdict_counts_and_a_label_is_shown_once() {
        let rows = Arc::new(vec![Arc::new(row("a"))]);
        let mut notes = Annotations::default();
        for (id, verdict, when) in [("late", Verdict::Good, 2.0), ("early", Verdict::Bad, 1.0)] {
            let note = Annotation {
                label: Some("loop".into()),
                verdict: Some(verdict),
                ..note(id, "a", "")
            };
            notes.write(note, when);
        }
        let with_notes = noted(&rows, &notes);
        assert_eq!(with_notes[0].verdict.as_deref(), Some("good"));
        assert_eq!(with_notes[0].labels, ["loop".into()] as [Text; 1]);
        assert_eq!(with_notes[0].notes.len(), 2, "each can be searched");
    }

    #[test]
    fn a_note_on_an_unknown_trajectory_changes_no_row() {
        let rows = Arc::new(vec![Arc::new(row("a"))]);
        let mut notes = Annotations::default();
        notes.write(note("n", "deleted", "asks twice"), 1.0);
        let with_notes = noted(&rows, &notes);
        assert_eq!(with_notes.len(), 1);
        assert!(with_notes[0].notes.is_empty());
    }

    #[test]
    fn columns_that_identify_a_row_are_never_hidden() {
        let left = |value: Option<&str>| {
            let uniform = FIRST_COLUMNS.into_iter().map(|column| Uniform {
                column,
                value: value.map(Into::into),
            });
            default_columns(&uniform.filter(is_hidden).collect::<Vec<_>>())
        };
        let known = [
            Column::Name,
            Column::Reward,
            Column::Steps,
            Column::Errors,
            Column::Outcome,
        ];
        assert_eq!(left(Some("1")), known);
        let without_errors = known.iter().filter(|column| **column != Column::Errors);
        assert_eq!(left(Some("0")), without_errors.cloned().collect::<Vec<_>>());
        assert_eq!(left(None), [Column::Name, Column::Steps, Column::Outcome]);
        assert_eq!(default_columns(&[]), FIRST_COLUMNS);
    }

    /// The default columns of rows with these counts of errors.
    fn shows_errors(errors: &[Option<u64>]) -> bool {
        let mut variation = Variation::new(FIRST_COLUMNS);
        for errors in errors {
            variation.add(&Row {
                errors: *errors,
                ..Row::default()
            });
        }
        let hidden: Vec<Uniform> = variation.done().into_iter().filter(is_hidden).collect();
        default_columns(&hidden).contains(&Column::Errors)
    }

    #[test]
    fn errors_are_shown_when_a_row_has_some() {
        for errors in [&[Some(2)][..], &[Some(2), Some(2)], &[Some(0), Some(1)]] {
            assert!(shows_errors(errors), "{errors:?}");
        }
        for errors in [&[Some(0)][..], &[Some(0), Some(0)], &[None], &[None, None]] {
            assert!(!shows_errors(errors), "{errors:?}");
        }
    }

    #[test]
    fn a_quoted_search_finds_notes_with_all_its_words() {
        let row = Row {
            notes: vec!["Asks twice".into(), "for the fee".into()],
            ..row("a")
        };
        assert!(has_notes_with(&row, "\"asks\" FEE"));
        assert!(!has_notes_with(&row, "asks refund"));
    }

    #[test]
    fn a_sample_covers_the_whole_table() {
        let rows: Vec<Arc<Row>> = (0..2500)
            .map(|number| Arc::new(row(&number.to_string())))
            .collect();
        let ids: Vec<&str> = sampled(&rows).map(|row| &*row.id).collect();
        assert!(ids.len() <= 1000 && ids.len() > 500, "{}", ids.len());
        assert_eq!(ids.first(), Some(&"0"));
        assert!(
            ids.last()
                .is_some_and(|id| id.parse::<usize>().is_ok_and(|id| id > 2400))
        );
        assert_eq!(sampled(&rows[..3]).count(), 3);
        assert_eq!(sampled(&[]).count(), 0);
    }
}
