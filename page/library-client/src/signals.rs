//! The signals of the library, which the pages read.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_app::library::LibraryRows;
use volary_app::library::readings::Reading;
use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_protocol::library::{Match, UnmappedFile};

use super::ClientState;

pub struct LibrarySignals {
    /// All trajectories, the newest first.
    pub rows: RwSignal<LibraryRows>,
    /// Whether all stored trajectories are among them.
    pub is_listed: RwSignal<bool>,
    /// The readings and downloads in progress.
    pub readings: RwSignal<Vec<Reading>>,
    /// The report of the last reading.
    pub report: RwSignal<Vec<Text>>,
    /// The query of the full-text search.
    pub wanted: RwSignal<String>,
    /// The progress of a search, while it has to index first.
    pub searching: RwSignal<Option<Text>>,
    /// The matches; `None` while there is no query.
    pub matches: RwSignal<Option<Arc<Vec<Match>>>>,
    /// The last status message.
    pub said: RwSignal<String>,
    /// The last error.
    pub notice: RwSignal<Option<Notice>>,
    /// The title of the library that is published with the site, if there is one.
    pub site: RwSignal<Option<Text>>,
    /// The address of the file of notes on that library's rows, if its server keeps one.
    pub notes_file: RwSignal<Option<Text>>,
    /// Counts how often that file was written to, by this view or another one.
    pub notes_written: RwSignal<u32>,
    /// The ids of partial trajectories.
    pub partial: RwSignal<BTreeSet<Text>>,
    /// The files of the last reading whose members can be mapped.
    pub unmapped: RwSignal<Vec<UnmappedFile>>,
    /// Answers of models in files, which Ask takes: their lines, and whether they are stored.
    pub given_answers: RwSignal<Vec<(Text, bool)>>,
    /// Notifies that there is more of trajectories, which
    /// [`LibraryClient::take_renamed_ids`](super::LibraryClient::take_renamed_ids) returns.
    pub renamed: RwSignal<()>,
    pub(super) state: StoredValue<ClientState, LocalStorage>,
}

impl LibrarySignals {
    /// The signals of an empty library.
    pub(super) fn new() -> LibrarySignals {
        LibrarySignals {
            rows: RwSignal::default(),
            is_listed: RwSignal::new(false),
            readings: RwSignal::default(),
            report: RwSignal::default(),
            wanted: RwSignal::default(),
            searching: RwSignal::new(None),
            matches: RwSignal::new(None),
            said: RwSignal::default(),
            notice: RwSignal::new(None),
            site: RwSignal::new(None),
            notes_file: RwSignal::new(None),
            notes_written: RwSignal::new(0),
            partial: RwSignal::default(),
            unmapped: RwSignal::default(),
            given_answers: RwSignal::default(),
            renamed: RwSignal::new(()),
            state: StoredValue::new_local(ClientState::default()),
        }
    }
}
