//! Files that are read again, because they were written to.
//!
//! Invariant: the episodes of such a file keep their ids and their positions in the table. Those that are no longer in
//! it are gone; those of a deleted file stay, and say so.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_protocol::library::Event;

use super::state::{BATCH, LibraryService, Output, Send};
use crate::file_server::ListedFile;
use crate::repository::EpisodeStore;

/// The outcome of an episode whose file is being written to, of one that is not over, and of one whose file is gone.
pub(super) const RUNNING: &str = "running";
pub(super) const OPEN: &str = "open";
const DELETED: &str = "file deleted";

/// What changes in the table when files are read again.
pub(super) struct Renewal<'a> {
    service: &'a LibraryService,
    send: Send<'a>,
    /// Whether the files were written to just now.
    pub(super) is_growing: bool,
    /// The rows that the files had when they were last read.
    before: RefCell<BTreeMap<Text, Row>>,
    /// The rows that they have now, as far as they differ from what was stored.
    after: RefCell<Vec<Row>>,
}

impl<'a> Renewal<'a> {
    pub(super) fn new(service: &'a LibraryService, send: Send<'a>) -> Renewal<'a> {
        Renewal {
            service,
            send,
            is_growing: false,
            before: RefCell::default(),
            after: RefCell::default(),
        }
    }

    /// Marks the episodes of files at these addresses, or in these folders, as those of deleted files.
    pub(super) async fn mark_deleted(&self, urls: &[Text]) {
        self.mark(urls, DELETED, |_| true).await;
    }

    /// Nobody writes to these files any more: marks the episodes that are not over as open.
    pub(super) async fn mark_settled(&self, urls: &[Text]) {
        self.mark(urls, OPEN, |row| &*row.outcome == RUNNING).await;
    }

    /// Gives an outcome to episodes of files at these addresses, or in these folders.
    async fn mark(&self, urls: &[Text], outcome: &str, which: impl Fn(&Row) -> bool) {
        if urls.is_empty() {
            return;
        }
        let service = self.service;
        let ids: Vec<Text> = {
            let urls_of = service.url_of.borrow();
            let file_of = service.file_of.borrow();
            let is_meant = |url: &Text| {
                urls.iter().any(|at| {
                    let rest = url.strip_prefix(&**at);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            };
            let meant = file_of
                .iter()
                .filter(|(_, file)| urls_of.get(*file).is_some_and(is_meant));
            meant.map(|(id, _)| id.clone()).collect()
        };
        for ids in ids.chunks(BATCH) {
            let rows = service.in_memory.rows_of(ids).await.into_iter();
            let rows = rows.map(|(row, _)| row).filter(|row| which(row));
            let rows: Vec<Row> = rows
                .map(|row| Row {
                    outcome: outcome.into(),
                    ..row
                })
                .collect();
            // Memory accepts everything.
            let _ = service.in_memory.label(rows.clone()).await;
            if !rows.is_empty() {
                (self.send)(Output::Event(Event::Changed { rows }));
            }
        }
    }

    /// Forgets episodes that are read again. Their rows stay in the table meanwhile. Returns the files that they were
    /// opened from.
    pub(super) async fn put_aside(&self, ids: &[Text]) -> BTreeSet<Text> {
        let service = self.service;
        let rows = service.in_memory.rows_of(ids).await;
        let rows = rows.into_iter().map(|(row, _)| (row.id.clone(), row));
        self.before.replace(rows.collect());
        let mut files = BTreeSet::new();
        for id in ids {
            let location = service
                .lose(id)
                .and_then(|known_episode| known_episode.location);
            files.extend(location.map(|location| location.file.clone()));
        }
        service.in_memory.forget(ids).await;
        files
    }

    /// Forgets the episodes of files that are read again.
    pub(super) async fn forget(&self, group: &[ListedFile]) {
        let service = self.service;
        let names: BTreeSet<&Text> = group.iter().map(|listed| &listed.file.name).collect();
        let ids: Vec<Text> = {
            let file_of = service.file_of.borrow();
            let known = file_of.iter().filter(|(_, file)| names.contains(file));
            known.map(|(id, _)| id.clone()).collect()
        };
        let files = self.put_aside(&ids).await;
        for file in files.iter().filter(|file| !service.is_wanted(file)) {
            service.windows.borrow_mut().remove(file);
            service.in_memory.forget_file(file).await;
        }
        let mut urls = service.url_of.borrow_mut();
        let mut continuations = service.continuations.borrow_mut();
        for ListedFile { file, .. } in group {
            urls.insert(file.name.clone(), file.url.clone());
            continuations.remove(&file.name);
        }
    }

    /// The group was read: episodes that are no longer there are gone, and those that are there have grown.
    pub(super) async fn finish(&self) {
        let after = self.after.take();
        let _ = self.service.in_memory.label(after.clone()).await;
        let mut before = self.before.take();
        for row in after {
            if before.remove(&row.id).is_some() {
                let (id, into) = (row.id.clone(), row.id);
                (self.send)(Output::Event(Event::Renamed { id, into }));
            }
        }
        let ids: Vec<Text> = before.into_keys().collect();
        if !ids.is_empty() {
            (self.send)(Output::Event(Event::Gone { ids }));
        }
    }

    /// The rows as they are shown.
    pub(super) fn added(&self, rows: Vec<Row>) -> Vec<Row> {
        let rows: Vec<Row> = rows.into_iter().map(|row| self.shown(row)).collect();
        if self.is_growing || !self.before.borrow().is_empty() {
            self.after.borrow_mut().extend(rows.iter().cloned());
        }
        rows
    }

    /// The row as it is shown: it keeps its position in the table, and says whether it is being written.
    fn shown(&self, mut row: Row) -> Row {
        if let Some(before) = self.before.borrow().get(&row.id) {
            row.added = before.added;
            row.tags.clone_from(&before.tags);
        }
        if self.is_growing && &*row.outcome == OPEN {
            row.outcome = RUNNING.into();
        }
        row
    }
}
