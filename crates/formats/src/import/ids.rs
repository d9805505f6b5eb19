//! Ids of episodes. Ids in files are often plain numbers, so one that is taken gets a number: those of a file differ, and
//! those of the library.
//!
//! Invariants: all ids are made by [`variants`], for the page and the command, for small files and large ones. In a file, an
//! id that is not taken stays as it is, even if it is empty: the library gives it another one, if it must.

use std::collections::{HashMap, HashSet};

use volary_core::json::Text;
use volary_episode::episode::Episode;

/// An id and what it becomes if it is taken: `7`, `7 (2)`, `7 (3)`…
pub fn variants(wanted: &str) -> impl Iterator<Item = Text> + use<> {
    variants_from(wanted, 0)
}

/// The variants of an id after the first ones.
fn variants_from(wanted: &str, first: u64) -> impl Iterator<Item = Text> + use<> {
    let wanted: Text = match wanted.trim() {
        "" => "episode".into(),
        id => id.into(),
    };
    let (name, next) = numbered(&wanted).unwrap_or_else(|| (wanted.clone(), 2));
    (first..).map(move |index| match index {
        0 => wanted.clone(),
        _ => format!("{name} ({})", next.saturating_add(index - 1)).into(),
    })
}

/// The name and the next number of an id that has one.
fn numbered(id: &str) -> Option<(Text, u64)> {
    let (name, rest) = id.rsplit_once(" (")?;
    let number: u64 = rest.strip_suffix(')')?.parse().ok()?;
    Some((Text::from(name), number.checked_add(1)?))
}

/// The ids that episodes of a file have already.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    taken: HashSet<Text>,
    /// The number of variants of an id that are known to be taken.
    tried: HashMap<Text, u64>,
}

impl Ids {
    /// Makes ids differ: later duplicates get a number.
    pub fn make_differ(&mut self, episodes: &mut [Episode]) {
        for episode in episodes {
            episode.id = self.free(&episode.id);
        }
    }

    /// The id, or if an earlier episode has it, the id with a number. It is taken from now on.
    pub fn free(&mut self, wanted: &Text) -> Text {
        if self.taken.insert(wanted.clone()) {
            return wanted.clone();
        }
        let tried = self.tried.entry(wanted.clone()).or_insert(1);
        let id = variants_from(wanted, *tried).find(|id| {
            *tried += 1;
            self.taken.insert(id.clone())
        });
        id.unwrap_or_else(|| wanted.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(wanted: &str, count: usize) -> Vec<String> {
        let ids = variants(wanted).take(count);
        ids.map(|id| id.to_string()).collect()
    }

    #[test]
    fn a_taken_id_gets_the_next_number() {
        assert_eq!(first("7", 3), ["7", "7 (2)", "7 (3)"]);
        // Numbers that it has already are counted on, not appended again.
        assert_eq!(first("7 (2)", 3), ["7 (2)", "7 (3)", "7 (4)"]);
        assert_eq!(first("a (b) (9)", 2), ["a (b) (9)", "a (b) (10)"]);
    }

    #[test]
    fn only_a_number_in_parentheses_at_the_end_is_counted_on() {
        for id in [
            "run (x)",
            "run (2) b",
            "run(2)",
            "(2)",
            "run (-1)",
            "run (2",
        ] {
            assert_eq!(first(id, 2), [id.to_owned(), format!("{id} (2)")]);
        }
    }

    #[test]
    fn the_largest_number_does_not_overflow() {
        let largest = format!("a ({})", u64::MAX);
        let next = format!("{largest} (2)");
        assert_eq!(first(&largest, 2), [largest, next]);
    }

    #[test]
    fn an_episode_without_an_id_gets_one() {
        assert_eq!(first("", 2), ["episode", "episode (2)"]);
        assert_eq!(first(" \n", 1), ["episode"]);
        assert_eq!(first(" 7 ", 2), ["7", "7 (2)"]);
    }

    #[test]
    fn ids_of_a_file_differ() {
        let mut ids = Ids::default();
        let wanted = ["a", "a (2)", "a", "b", "a", "a (2)"];
        let given = wanted.map(|id| ids.free(&id.into()).to_string());
        assert_eq!(given, ["a", "a (2)", "a (3)", "b", "a (4)", "a (5)"]);
        let given = ["", " x", ""].map(|id| ids.free(&id.into()).to_string());
        assert_eq!(given, ["", " x", "episode (2)"]);
    }
}
