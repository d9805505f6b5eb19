//! Mode `seed`: the rest of the new text after as many characters as the text before has.

use super::Delta;
use crate::conversation::Change;

pub(super) fn delta(change: &Change) -> Delta {
    let before = change.prompted.as_ref().unwrap_or(&change.before);
    let skipped = before.chars().count();
    let text = match change.after.char_indices().nth(skipped) {
        Some((at, _)) => change.after[at..].to_owned(),
        None => String::new(),
    };
    Delta {
        text,
        header: 0,
        is_trained: change.prompted.is_some(),
    }
}
