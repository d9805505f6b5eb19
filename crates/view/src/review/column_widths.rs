//! The widths of the table's columns, from their contents: the tracks of a CSS grid. Pure.
//!
//! Invariants: a track depends on the columns and a sample of the rows, never on a single row, so all rows line up. Numbers
//! are never cut. Columns of texts are as wide as most of their contents, up to a maximum, and shrink to a minimum before the
//! table is wider than its window. The names get what is left.

use std::fmt::Write;

use volary_analysis::table::{Column, Row};

use crate::library::{cell_text, class, heading};

/// The tracks of a table, and the width below which it scrolls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnWidths {
    /// The tracks in the order of the columns, after that of the checkboxes.
    pub tracks: String,
    /// The least width of a row.
    pub least: String,
    /// The tracks on a phone, on which name, reward and outcome come first.
    pub narrow_tracks: String,
    /// The least width of a row on a phone.
    pub narrow_least: String,
}

/// The width of the column of checkboxes, in rem.
const CHOICE: f64 = 1.75;
/// The width of a character, in rem.
const CHARACTER: f64 = 0.5;
/// The width of a character in a heading, in rem. Headings are smaller and bold.
const BOLD_CHARACTER: f64 = 0.53;
/// The space after the text of a cell, in rem, as in the style sheet.
const PADDING: f64 = 0.75;
/// The space in a heading for the sign of the order, in rem.
const SIGN: f64 = 0.75;
/// The width of a name on a phone, in rem.
const NARROW_NAME: f64 = 9.5;
/// The share of the contents that fit into a column of texts.
const FITTING: f64 = 0.95;

/// The widths of a column, in rem.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Track {
    least: f64,
    /// `None` takes the rest of the row.
    most: Option<f64>,
}

impl ColumnWidths {
    /// The widths for some columns, from a sample of the rows.
    pub fn of<'a>(columns: &[Column], rows: impl Iterator<Item = &'a Row> + Clone) -> ColumnWidths {
        let tracks: Vec<Track> = columns
            .iter()
            .map(|column| track(column, rows.clone()))
            .collect();
        let mut narrow: Vec<(u8, Track)> = columns
            .iter()
            .zip(&tracks)
            .map(|(column, track)| match column {
                Column::Name => {
                    let name = Track {
                        least: NARROW_NAME,
                        most: None,
                    };
                    (0, name)
                }
                Column::Reward => (1, *track),
                Column::Outcome => (2, *track),
                _ => (3, *track),
            })
            .collect();
        narrow.sort_by_key(|(place, _)| *place);
        let narrow: Vec<Track> = narrow.into_iter().map(|(_, track)| track).collect();
        ColumnWidths {
            tracks: tracks_text(&tracks),
            least: least_text(&tracks),
            narrow_tracks: tracks_text(&narrow),
            narrow_least: least_text(&narrow),
        }
    }
}

fn track<'a>(column: &Column, rows: impl Iterator<Item = &'a Row>) -> Track {
    let mut lengths: Vec<usize> = rows
        .map(|row| cell_text(row, column).chars().count())
        .collect();
    lengths.sort_unstable();
    let longest = lengths.last().copied().unwrap_or_default();
    let fitting = (lengths.len() as f64 * FITTING) as usize;
    let usual = lengths.get(fitting).copied().unwrap_or(longest);
    let head = heading(column).chars().count() as f64 * BOLD_CHARACTER + PADDING + SIGN;
    match column {
        Column::Name => Track {
            least: width(usual).clamp(12.0, 20.0),
            most: None,
        },
        // The text is in a pill.
        Column::Outcome => between(head, (width(usual) + 1.0).max(head), 12.0),
        _ if class(column).starts_with("column-number") => {
            let whole = width(longest).max(head).clamp(3.5, 14.0);
            Track {
                least: whole,
                most: Some(whole),
            }
        }
        _ => between(6.5, width(usual).max(head), 18.0),
    }
}

fn width(characters: usize) -> f64 {
    characters as f64 * CHARACTER + PADDING
}

/// A column of texts that may be narrower than its contents, which are this wide.
fn between(least: f64, contents: f64, most: f64) -> Track {
    let most = contents.min(most);
    Track {
        least: least.min(most),
        most: Some(most),
    }
}

fn tracks_text(tracks: &[Track]) -> String {
    let mut text = format!("{CHOICE}rem");
    for Track { least, most } in tracks {
        // Writing to a string does not fail.
        let _ = match most {
            Some(most) if most == least => write!(text, " {least:.2}rem"),
            Some(most) => write!(text, " minmax({least:.2}rem, {most:.2}rem)"),
            None => write!(text, " minmax({least:.2}rem, 1fr)"),
        };
    }
    text
}

fn least_text(tracks: &[Track]) -> String {
    let sum: f64 = tracks.iter().map(|track| track.least).sum();
    format!("{:.2}rem", CHOICE + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, model: &str, steps: usize) -> Row {
        Row {
            id: name.into(),
            name: name.into(),
            model: Some(model.into()),
            steps,
            ..Row::default()
        }
    }

    fn tracks(column: Column, rows: &[Row]) -> Track {
        track(&column, rows.iter())
    }

    #[test]
    fn columns_fit_their_contents() {
        let rows = [row("a", "small", 3), row("b", "small", 1_234_567)];
        let steps = tracks(Column::Steps, &rows);
        assert_eq!(steps.most, Some(steps.least), "numbers are not cut");
        assert!(steps.least >= width("1,234,567".len()));
        let model = tracks(Column::Model, &rows);
        assert_eq!(model.most, Some(model.least), "no wider than it needs");
        assert!(model.least < 6.5);
        let long = [row("a", "a-model-with-a-long-name-2026-01-01-thinking", 3)];
        let model = tracks(Column::Model, &long);
        assert_eq!((model.least, model.most), (6.5, Some(18.0)));
        let unknown = tracks(Column::Cost, &rows);
        assert!(
            unknown.least < 4.5,
            "an empty column is as wide as its heading"
        );
    }

    #[test]
    fn a_single_long_text_does_not_widen_its_column() {
        let mut rows: Vec<Row> = (0..40).map(|_| row("a", "small", 1)).collect();
        rows.push(row("a", "a-model-with-a-long-name", 1));
        let model = tracks(Column::Model, &rows);
        assert!(model.most.is_some_and(|most| most < 6.5), "{model:?}");
    }

    #[test]
    fn names_get_the_rest() {
        let rows = [row("a", "small", 3)];
        let columns = [Column::Name, Column::Steps, Column::Reward];
        let widths = ColumnWidths::of(&columns, rows.iter());
        assert!(
            widths.tracks.starts_with("1.75rem minmax(12.00rem, 1fr) "),
            "{widths:?}"
        );
        // On a phone the reward follows the name.
        let [steps, reward] =
            [Column::Steps, Column::Reward].map(|column| tracks(column, &rows).least);
        let narrow = format!("1.75rem minmax(9.50rem, 1fr) {reward:.2}rem {steps:.2}rem");
        assert_eq!(widths.narrow_tracks, narrow);
        let least = CHOICE + NARROW_NAME + steps + reward;
        assert_eq!(widths.narrow_least, format!("{least:.2}rem"));
        assert_eq!(ColumnWidths::of(&[], rows.iter()).tracks, "1.75rem");
    }
}
