//! Task datasets: one file each.

pub mod dummy;
pub mod gsm8k;
pub mod word_problems;

use volary_core::dataset::DatasetError;
use volary_core::json::Text;

use crate::blocks::shortened;

/// The maximum length of a problem in a list, in characters.
const OPENING: usize = 72;

/// The opening of a problem.
pub(crate) fn opening(text: &Text) -> Text {
    shortened(text, OPENING)
}

pub(crate) fn out_of_range(index: usize, length: usize) -> DatasetError {
    DatasetError::OutOfRange {
        index: i64::try_from(index).unwrap_or(i64::MAX),
        length,
    }
}
