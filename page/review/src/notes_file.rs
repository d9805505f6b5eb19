//! Notes in the file of a server (`volary view --notes`): carries out the effects of
//! [`volary_app::review::notes_sync`].
//!
//! Invariant: the browser stores these notes as well, so a server that fails loses none.

use std::collections::BTreeSet;
use std::time::Duration;

use leptos::prelude::*;
use volary_analysis::annotations::sidecar;
use volary_app::review::notes_sync::{self, Event, NotesResponse, NotesSync, Ours};
use volary_core::json::Text;

use super::notes::Notes;
use volary_browser::http::{self, Timeouts, Whole};
use volary_browser::spawn;
use volary_library_client::LibraryClient;

/// The timeout for the server.
const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum size of the file, in bytes.
const LARGEST: usize = 64 << 20;

/// Reads the notes of the server's file, if there is one, and writes later changes to it.
pub fn keep(client: LibraryClient, notes: Notes) {
    let sync = NotesFileSync {
        client,
        notes,
        state: StoredValue::new(NotesSync::default()),
    };
    Effect::new(move |_| {
        if let Some(url) = client.notes_file.get() {
            sync.handle(Event::Found(url));
        }
    });
    let changed = move |of: fn(NotesFileSync), event: Event| {
        Effect::watch(
            move || of(sync),
            move |(), _, _| sync.handle(event.clone()),
            false,
        );
    };
    changed(|sync| sync.client.notes_written.track(), Event::FileChanged);
    changed(|sync| sync.notes.all.track(), Event::NotesChanged);
    changed(|sync| sync.client.rows.track(), Event::RowsChanged);
}

/// Keeps a tag of the server's rows among these, or its removal, if the server keeps notes.
pub fn tag(client: LibraryClient, notes: Notes, ids: &[Text], tag: &str, on: bool) {
    if client.notes_file.with_untracked(Option::is_none) {
        return;
    }
    let chosen: BTreeSet<&Text> = ids.iter().collect();
    let rows = client.rows;
    let theirs = rows.with_untracked(|rows| notes_sync::published(&chosen, rows));
    if !theirs.is_empty() {
        let theirs: Vec<Text> = theirs.into_iter().cloned().collect();
        notes.tag(&theirs, tag, on);
    }
}

#[derive(Clone, Copy)]
struct NotesFileSync {
    client: LibraryClient,
    notes: Notes,
    state: StoredValue<NotesSync>,
}

impl NotesFileSync {
    fn handle(self, event: Event) {
        let effects = self.state.try_update_value(|state| {
            self.notes.all.with_untracked(|notes| {
                let rows = self.client.rows;
                rows.with_untracked(|rows| state.update(event, Ours { notes, rows }))
            })
        });
        effects
            .into_iter()
            .flatten()
            .for_each(|effect| self.carry_out(effect));
    }

    fn carry_out(self, effect: notes_sync::Effect) {
        match effect {
            notes_sync::Effect::Read(url) => spawn(async move {
                self.handle(Event::Read(exchanged("GET", &url, None).await));
            }),
            notes_sync::Effect::Write { url, notes } => spawn(async move {
                let body = Some(sidecar::to_text(&notes));
                self.handle(Event::Written(exchanged("POST", &url, body).await));
            }),
            notes_sync::Effect::Merge(others) => self.notes.merge(others),
            notes_sync::Effect::Show(notice) => self.notes.notice.set(Some(notice)),
        }
    }
}

async fn exchanged(method: &'static str, url: &str, body: Option<String>) -> NotesResponse {
    let request = http::Request {
        method,
        url: url.to_owned(),
        headers: vec![("Content-Type", "application/json".to_owned())],
        body,
        own_cookies: true,
    };
    let answer = http::fetch(&request, Timeouts::of(PATIENCE), LARGEST).await;
    let Whole { status, body } = answer.map_err(|error| error.to_string())?;
    Ok((status, body))
}
