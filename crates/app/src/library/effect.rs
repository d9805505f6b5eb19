//! The effects of the library, for the page to carry out.

use std::collections::BTreeSet;
use std::sync::Arc;

use volary_core::json::Text;
use volary_protocol::library::{Match, Unfetched, UnmappedFile};

use super::LibraryRows;
use super::readings::{Reading, ReadingNumber};
use crate::notice::Notice;

/// An effect for the page to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Show these rows in the table.
    Rows(LibraryRows),
    /// Show these readings.
    Readings(Vec<Reading>),
    /// Show the remarks of the last reading.
    Report(Vec<Text>),
    /// Show that all stored rows are listed.
    Listed,
    /// Mark these trajectories as partially read.
    Partial(BTreeSet<Text>),
    /// A trajectory grew: its previous id, and its current id.
    Renamed(Text, Text),
    /// Notify the waiter of a trajectory of a reading, with its id; `None` if there is no such trajectory.
    Arrived(ReadingNumber, Option<Text>),
    /// Show an error.
    Notify(Notice),
    /// Remove an error, if it is still shown: a new attempt begins.
    Withdraw(Notice),
    /// Offer to map the members of these files to fields.
    OfferMapping(Vec<UnmappedFile>),
    /// Diagnose why a file could not be fetched, and call [`Library::failed`](super::Library::failed) with the cause.
    Explain(Unfetched),
    /// Save the attached files under this name.
    Save(Text),
    /// Show the answers of models in a file: its lines, and whether they are stored.
    Answers { lines: Text, is_kept: bool },
    /// Repeat the current search, which may match new trajectories.
    SearchAgain,
    /// Show the progress of the search; `None` once it is over.
    Searching(Option<Text>),
    /// Show only these matches; `None` for all trajectories.
    Matches(Option<Arc<Vec<Match>>>),
    /// Index the texts of all trajectories for search.
    Index,
    /// Call [`Library::woken`](super::Library::woken) after this many seconds.
    Wake(f64),
    /// Terminate the worker. Its open calls end with this reason.
    DropWorker(Text),
}
