//! Parts that views share. A view stays small, however long the episode and its texts: the
//! transcript shows everything, a view shows what matters.

use volary_core::json::Text;
use volary_core::view::{Block, Tone};

/// How many rows a block of results has at most.
pub const MOST_ROWS: usize = 12;

/// How many characters of a text stand in a row or a verdict.
const MOST_CHARACTERS: usize = 200;

/// What a call was, what came of it, and how that is meant.
pub type Row = (Text, Text, Tone);

/// A block of results: the last rows, if there are too many; only these are made. None without rows.
pub fn results<T>(label: &str, all: &[T], row: impl Fn(&T) -> Row) -> Option<Block> {
    if all.is_empty() {
        return None;
    }
    let last = all
        .get(all.len().saturating_sub(MOST_ROWS)..)
        .unwrap_or(all);
    let label = if last.len() < all.len() {
        format!("{label} (the last {MOST_ROWS} of {})", all.len()).into()
    } else {
        label.into()
    };
    let rows = last.iter().map(|made_of| {
        let (input, result, tone) = row(made_of);
        let short = |text| shortened(text, MOST_CHARACTERS);
        (short(&input), short(&result), tone)
    });
    Some(Block::Results {
        label,
        rows: rows.collect(),
    })
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
        let row = |number: &u32| (number.to_string().into(), "".into(), Tone::Plain);
        let numbers: Vec<u32> = (0..60).collect();
        let Some(Block::Results { label, rows }) = results("Calls", &numbers, row) else {
            panic!("There are rows.");
        };
        assert_eq!(&*label, "Calls (the last 12 of 60)");
        assert_eq!((rows.len(), &*rows[0].0), (12, "48"));
        assert_eq!(results("Calls", &[], row), None);
    }
}
