//! Helpers shared by views. The size of a view is bounded, however long the episode and its texts are: the
//! transcript shows everything, a view shows a summary.

use volary_core::json::Text;
use volary_core::view::{Block, Tone};

/// The maximum number of rows in a block of results.
pub const MAX_ROWS: usize = 20;

/// The maximum length of a text in a row or a verdict, in characters.
const MOST_CHARACTERS: usize = 200;

/// A call, its result, and whether it succeeded.
pub type Row = (Text, Text, Tone);

/// A block of results with at most [`MAX_ROWS`] rows, or `None` without any. `latest` yields the newest item first;
/// the rows are in chronological order. If some rows are omitted, the label states the total.
pub fn results<T>(
    label: &str,
    mut latest: impl Iterator<Item = T>,
    row: impl Fn(T) -> Row,
) -> Option<Block> {
    let made = latest.by_ref().take(MAX_ROWS).map(|item| {
        let (input, result, tone) = row(item);
        let short = |text| shortened(text, MOST_CHARACTERS);
        (short(&input), short(&result), tone)
    });
    let mut rows: Vec<Row> = made.collect();
    rows.reverse();
    let label = match latest.count() {
        0 => label.into(),
        others => {
            let total = grouped(MAX_ROWS + others);
            format!("{label} (the last {MAX_ROWS} of {total})").into()
        }
    };
    (!rows.is_empty()).then_some(Block::Results { label, rows })
}

pub fn verdict(tone: Tone, text: impl Into<Text>) -> Block {
    Block::Verdict {
        tone,
        text: text.into(),
    }
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", grouped(thousands)),
    }
}

/// The text, truncated to this number of characters, if possible between words.
pub fn shortened(text: &Text, most: usize) -> Text {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.clone();
    };
    let head = &text[..end];
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{head} …").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_words_where_that_is_possible() {
        for (text, most, expected) in [
            ("one two", 7, "one two"),
            ("one two", 6, "one …"),
            ("onetwo", 3, "one …"),
            ("äöü", 2, "äö …"),
            ("", 0, ""),
        ] {
            assert_eq!(&*shortened(&text.into(), most), expected);
        }
    }

    #[test]
    fn the_last_rows_stay() {
        let row = |number: u32| (number.to_string().into(), "".into(), Tone::Plain);
        for (count, expected) in [
            (12_060, "Calls (the last 20 of 12,060)"),
            (120, "Calls (the last 20 of 120)"),
            (20, "Calls"),
        ] {
            let Some(Block::Results { label, rows }) = results("Calls", (0..count).rev(), row)
            else {
                panic!("There are rows.");
            };
            assert_eq!(&*label, expected);
            let first = (count - 20).to_string();
            assert_eq!((rows.len(), &*rows[0].0), (20, first.as_str()));
        }
        assert_eq!(results("Calls", 0..0, row), None);
    }
}
