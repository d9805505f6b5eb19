//! A large file that is read in place: lines, lists, packed logs and rollout dumps. [`super::open_in_place`] recognises it.
//!
//! The caller asks for more until the end ([`InPlace::next`]) and takes the entries that were
//! found meanwhile. To stop, it drops the future, and the reader with it.
//!
//! Invariants: each byte is asked for about once, and what comes next is requested while the bytes before it are parsed. The
//! file is never in memory as a whole; one that can only be read so is [`Progress::Whole`], which is known after the first
//! entries at the latest.

use futures_util::future::LocalBoxFuture;
use volary_episode::episode::Episode;

use super::{Entry, Indexer, LineFilter};
use crate::archive::is_archive;
use crate::import::Note;
use crate::import::fields::{FieldMapping, Unmapped};
use crate::read_at::ReadError;

/// The minimum size of files that are read in place, if they can be…
pub const LARGE: u64 = 4 << 20;
/// …that of archives, which unpack to about ten times as much…
pub const LARGE_PACKED: u64 = 1 << 18;
/// …and that of files that are being written to: what is appended to them is read on from their last line.
pub const LARGE_GROWING: u64 = 1 << 16;
/// Whether a file of this size, which begins with these bytes, is read in place if its format allows that.
pub fn is_large(size: u64, start: &[u8], is_growing: bool) -> bool {
    size >= match (is_archive(start), is_growing) {
        (true, _) => LARGE_PACKED,
        (false, true) => LARGE_GROWING,
        (false, false) => LARGE,
    }
}

/// How the reading of a file goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More follows.
    More,
    /// All was read.
    End,
    /// The file must be read as a whole, with those that belong to it.
    Whole,
}

/// A large file that is read in place.
pub trait InPlace {
    /// Reads on until there is more to show.
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Progress, ReadError>>;

    /// Takes the entries found since the last call.
    fn take_entries(&mut self) -> Vec<Entry>;

    /// The number of bytes that were read.
    fn done(&self) -> u64;

    /// The notes about the file so far.
    fn notes(&self) -> Vec<Note>;

    /// Sets whether the texts of the following episodes are collected for a search. Packed logs have none.
    fn keep_texts(&mut self, _wanted: bool) {}

    /// Lets all entries contain their episodes, for a caller that needs no more than these. Called before the first
    /// [`InPlace::next`].
    fn keep_episodes(&mut self);

    /// Leaves out lines in which a search cannot find anything. Only files of lines have some. It examines the first
    /// episodes, so it needs [`InPlace::keep_episodes`].
    fn leave_out(&mut self, _filter: LineFilter) {}

    /// The number of episodes to expect in all, if this many were found so far. At least those.
    fn expected(&self, found: usize) -> usize {
        found
    }

    /// The unfinished episode, as [`Indexer::partial_episode`] has it.
    fn partial_episode(&self) -> Option<Episode> {
        None
    }

    /// The mapping by which the file is read, if there is one.
    fn fields(&self) -> Option<&FieldMapping> {
        None
    }

    /// The first record, if no reader knows it and its members can be mapped.
    fn unmapped(&self) -> Option<&Unmapped> {
        None
    }

    /// How to read on once the file has grown, as [`Indexer::continued`] has it. Called at [`Progress::End`], before
    /// [`InPlace::finish`].
    fn continued(&self) -> Option<(Indexer, u64)> {
        None
    }

    /// Ends the file at [`Progress::End`]: what is unfinished is read as far as possible.
    fn finish(&mut self) {}
}

/// Whether the rows of this many samples are shown before the next one is read: the first one at once, the next ones once
/// they fill a screen, and later ones in batches.
pub(super) fn are_shown(samples: usize) -> bool {
    /// The number of rows that fit on a screen.
    const SCREEN: usize = 40;
    const BATCH: usize = 200;
    samples == 1 || samples == SCREEN || samples.is_multiple_of(BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_and_growing_files_are_large_sooner() {
        let (text, zip) = (b"{\"a\"", b"PK\x03\x04");
        assert!(is_large(LARGE, text, false) && !is_large(LARGE - 1, text, false));
        assert!(is_large(LARGE_PACKED, zip, false) && !is_large(LARGE_PACKED - 1, zip, true));
        assert!(is_large(LARGE_GROWING, text, true) && !is_large(LARGE_GROWING - 1, text, true));
    }
}
