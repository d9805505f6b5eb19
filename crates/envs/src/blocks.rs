//! Parts that views share. A view stays small, however long the episode and its texts: the
//! transcript shows everything, a view shows what matters.

use volary_core::json::Text;
use volary_core::view::{Block, Tone};

/// How many rows a block of results has at most.
pub const MOST_ROWS: usize = 6;

/// How many characters of a text stand in a row or a verdict.
const MOST_CHARACTERS: usize = 200;

/// What a call was, what came of it, and how that is meant.
pub type Row = (Text, Text, Tone);

/// A block of results: the last rows, if there are too many; nothing else is looked at. What they are made of comes
/// the latest first, as they do not stand. None without rows.
pub fn results<T>(
    label: &str,
    mut latest: impl Iterator<Item = T>,
    row: impl Fn(T) -> Row,
) -> Option<Block> {
    let made = latest.by_ref().take(MOST_ROWS).map(|made_of| {
        let (input, result, tone) = row(made_of);
        let short = |text| shortened(text, MOST_CHARACTERS);
        (short(&input), short(&result), tone)
    });
    let mut rows: Vec<Row> = made.collect();
    rows.reverse();
    let label = match latest.next() {
        Some(_) => format!("{label} (the last {MOST_ROWS})").into(),
        None => label.into(),
    };
    (!rows.is_empty()).then_some(Block::Results { label, rows })
}

/// A verdict.
pub fn verdict(tone: Tone, text: impl Into<Text>) -> Block {
    Block::Verdict {
        tone,
        text: text.into(),
    }
}

/// The text, or its beginning if it has more characters than that: cut between words if it can be.
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
        for (count, expected) in [(60, "Calls (the last 6)"), (6, "Calls")] {
            let Some(Block::Results { label, rows }) = results("Calls", (0..count).rev(), row)
            else {
                panic!("There are rows.");
            };
            assert_eq!(&*label, expected);
            let first = (count - 6).to_string();
            assert_eq!((rows.len(), &*rows[0].0), (6, first.as_str()));
        }
        assert_eq!(results("Calls", 0..0, row), None);
    }
}
