//! Parts that views share. A view stays small, however long the episode and its texts: the
//! transcript shows everything, a view shows what matters.

use volary_core::json::Text;
use volary_core::view::{Block, Tone};

/// How many rows a block of results has at most.
pub const MOST_ROWS: usize = 50;

/// How many characters of a text stand in a row or a verdict.
const MOST_CHARACTERS: usize = 200;

/// What a call was, what came of it, and how that is meant.
pub type Row = (Text, Text, Tone);

/// A block of results: the last rows, if there are too many. None without rows.
pub fn results(label: &str, mut rows: Vec<Row>) -> Option<Block> {
    if rows.is_empty() {
        return None;
    }
    let all = rows.len();
    let label = if all > MOST_ROWS {
        rows.drain(..all - MOST_ROWS);
        format!("{label} (the last {MOST_ROWS} of {all})").into()
    } else {
        label.into()
    };
    for (input, result, _) in &mut rows {
        *input = shortened(input, MOST_CHARACTERS);
        *result = shortened(result, MOST_CHARACTERS);
    }
    Some(Block::Results { label, rows })
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
        let rows: Vec<Row> = (0..60)
            .map(|row| (row.to_string().into(), "".into(), Tone::Plain))
            .collect();
        let Some(Block::Results { label, rows }) = results("Calls", rows) else {
            panic!("There are rows.");
        };
        assert_eq!(&*label, "Calls (the last 50 of 60)");
        assert_eq!((rows.len(), &*rows[0].0), (50, "10"));
        assert_eq!(results("Calls", Vec::new()), None);
    }
}
