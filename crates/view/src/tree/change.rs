//! Change marks and their texts.

use volary_core::Json;
use volary_episode::diff::{Child, Diff, text_difference};

use super::Mark;
use crate::pretty::one_line;
use crate::text::cut_at;

/// The maximum length of a displayed previous value.
const WAS_BYTES: usize = 80;
/// Longer texts show the changed part instead of the previous value.
const SHORT_TEXT: usize = 60;

/// The previous value of a row, and its relation to the current one.
#[derive(Clone, Copy)]
pub(super) enum Past<'a> {
    /// Not compared, or unchanged here and below.
    Same,
    /// There was no value.
    Nothing,
    /// The value changed.
    Value(&'a Json, &'a Diff),
    /// The row shows a removed value.
    Gone,
}

impl<'a> Past<'a> {
    pub(super) fn of_root(before: Option<(&'a Json, &'a Diff)>) -> Self {
        match before {
            None => Past::Same,
            Some((_, diff)) if diff.is_same() => Past::Same,
            Some((old, diff)) => Past::Value(old, diff),
        }
    }

    /// The previous value of a member of an object.
    pub(super) fn of_member(self, place: usize, key: &str) -> Past<'a> {
        self.of_child(place, |old, _| old.get(key))
    }

    /// The previous value of an element of a list.
    pub(super) fn of_element(self, place: usize) -> Past<'a> {
        self.of_child(place, |old, diff| {
            let Diff::List(list) = diff else { return None };
            let after = list.runs.partition_point(|run| run.new <= place);
            let run = list.runs.get(after.checked_sub(1)?)?;
            old.as_list()?.get(run.old + (place - run.new))
        })
    }

    fn of_child(
        self,
        place: usize,
        former: impl FnOnce(&'a Json, &'a Diff) -> Option<&'a Json>,
    ) -> Past<'a> {
        let Past::Value(old, diff) = self else {
            return match self {
                Past::Gone => Past::Gone,
                _ => Past::Same,
            };
        };
        match diff {
            // The parent is marked; its parts need no marks.
            Diff::Same | Diff::Replaced | Diff::Text => Past::Same,
            Diff::Object(_) | Diff::List(_) => match diff.child(place) {
                Child::Same => Past::Same,
                Child::Added => Past::Nothing,
                Child::Changed(change) => match former(old, diff) {
                    Some(old) => Past::Value(old, change),
                    None => Past::Nothing,
                },
            },
        }
    }

    /// The mark of a value with this previous value. Without `edited`, the changed part of a text is not shown.
    pub(super) fn mark(self, value: &Json, edited: Option<MarkEdited>) -> Mark {
        match self {
            Past::Same => Mark::Same,
            Past::Nothing => Mark::Added,
            Past::Gone => Mark::Removed,
            Past::Value(_, Diff::Same) => Mark::Same,
            Past::Value(_, Diff::Object(_) | Diff::List(_)) => Mark::Inside,
            Past::Value(Json::Text(old), Diff::Text) if old.len() > SHORT_TEXT => {
                let new = value.as_text().map(|text| &**text).unwrap_or_default();
                edited.map_or(Mark::Inside, |edited| edited(old, new))
            }
            Past::Value(old, Diff::Replaced | Diff::Text) => Mark::Changed {
                was: one_line(old, WAS_BYTES),
            },
        }
    }
}

/// [`edited`].
pub(super) type MarkEdited = fn(&str, &str) -> Mark;

/// The mark of a text that was edited.
pub(super) fn edited(old: &str, new: &str) -> Mark {
    let difference = text_difference(old, new);
    Mark::Edited {
        removed: cut(old.get(difference.removed).unwrap_or_default()),
        added: cut(new.get(difference.added).unwrap_or_default()),
    }
}

fn cut(text: &str) -> String {
    let end = cut_at(text, WAS_BYTES);
    let mut cut = text.get(..end).unwrap_or_default().to_owned();
    if end < text.len() {
        cut.push('…');
    }
    cut
}
