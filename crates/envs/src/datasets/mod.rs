//! Task datasets: one file each.

pub mod dummy;
pub mod gsm8k;
pub mod word_problems;

use volary_core::dataset::DatasetError;
use volary_core::json::Text;

/// How many characters of a problem stand in a list.
const OPENING: usize = 72;

/// The opening of a problem, cut between words.
fn opening(text: &str) -> Text {
    let Some((end, _)) = text.char_indices().nth(OPENING) else {
        return text.into();
    };
    let head = &text[..end];
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{head} …").into()
}

fn out_of_range(index: usize, length: usize) -> DatasetError {
    DatasetError::OutOfRange {
        index: i64::try_from(index).unwrap_or(i64::MAX),
        length,
    }
}
