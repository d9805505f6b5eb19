//! Bounds the number of episodes of an import.
//!
//! A tiny chat takes a few kilobytes as an episode, a row and a stored record, and a fraction of a byte in a compressed file.
//! Invariant: all files of an import share one limit, which grows with their size as they were given.

use std::cell::Cell;
use std::rc::Rc;

use volary_core::unpacking::most_episodes;

/// The number of episodes that an import may still add. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EpisodeLimit {
    left: Rc<Cell<usize>>,
    most: usize,
}

impl EpisodeLimit {
    /// The limit of an import of files of this many bytes.
    pub fn of_given(bytes: usize) -> EpisodeLimit {
        let most = most_episodes(bytes);
        EpisodeLimit {
            left: Rc::new(Cell::new(most)),
            most,
        }
    }

    /// Takes one episode. Returns false if the limit is reached.
    pub fn take(&self) -> bool {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// The report of this many episodes beyond the limit.
    pub fn describe(&self, surplus: usize) -> String {
        let omitted = match surplus {
            1 => "1 episode is".to_owned(),
            _ => format!("{surplus} episodes are"),
        };
        format!(
            "{omitted} omitted: files of this size may contain {} in all. Unpack a compressed file \
             first, because the limit grows with the size of the files; or divide the file.",
            self.most
        )
    }
}

impl Default for EpisodeLimit {
    fn default() -> Self {
        EpisodeLimit::of_given(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_episodes_that_are_left() {
        let limit = EpisodeLimit::of_given(0);
        let other = limit.clone();
        let taken = (0..2 * limit.most).filter(|number| match number % 2 {
            0 => limit.take(),
            _ => other.take(),
        });
        assert_eq!(taken.count(), limit.most);
        assert!(!limit.take());
    }
}
