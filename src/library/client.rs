//! The page's client of the library: its signals, and its requests to the worker.
//!
//! [`volary_app::library`] decides how the worker's events change the state; this module carries out the effects.
//!
//! - `site`: the library that came with the site, and why a file could not be fetched. `following`: files of it that change.

mod following;
mod site;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_core::json::Text;
use volary_protocol::episode::EpisodeAssembler;
use volary_protocol::library::{
    Event, Finding, Match, Origin, RemoteFile, Request, Sensitive, TaggedEpisode, Unfetched,
    UnmappedFile,
};
use volary_trajectory::Episode;
use volary_trajectory::import::fields::FieldMapping;

use crate::browser::files::{self, GivenFile};
use crate::browser::transferable::Attachment;
use crate::browser::worker_client::{Replies, Reply, WorkerClient};
use crate::browser::{location, spawn, timers};
use crate::library::mappings;
use crate::projection::notice::Notice;
use crate::storage::episodes;
use crate::storage::origin::PUBLISHED;
use site::Site;
use volary_app::library::live::Live;
use volary_app::library::readings::{Reading, ReadingNumber};
use volary_app::library::{Effect, Library, Rows};
use volary_protocol::WorkerLoss;

/// The timeout for a worker to stop a reading. It can stop between two slices of a file, but not within a file that it
/// must read as a whole.
const PATIENCE: Duration = Duration::from_secs(4);

/// A handle to the library. There is one library for the life of the page.
#[derive(Clone, Copy)]
pub struct LibraryClient(&'static Signals);

/// The signals of the library.
pub struct Signals {
    /// All trajectories, the newest first.
    pub rows: RwSignal<Rows>,
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
    pub begun: RwSignal<BTreeSet<Text>>,
    /// The files of the last reading whose members can be mapped.
    pub unmapped: RwSignal<Vec<UnmappedFile>>,
    /// Notifies that there is more of trajectories, which [`LibraryClient::take_grown`] returns.
    pub grown: RwSignal<()>,
    state: StoredValue<State, LocalStorage>,
}

/// Called with the id of a trajectory of a reading once it is known; `None` if the reading has none.
type Arrived = Box<dyn FnOnce(Option<Text>)>;

#[derive(Default)]
struct State {
    worker: Option<WorkerClient>,
    library: Library,
    live: Live,
    /// The address of the list of the site's files.
    list: Option<Text>,
    /// The last search and find; replies to older ones are ignored.
    search: u32,
    find: u32,
    /// Trajectories of which there is more, or all: the id that the beginning of each had, and its own.
    grown: Vec<(Text, Text)>,
    /// Callbacks that wait for a trajectory of a reading.
    waiters: Vec<(ReadingNumber, Arrived)>,
    /// What was imported last, to be read again once its members are mapped.
    source: Option<(Origin, ImportSource)>,
}

/// Files that are read.
#[derive(Clone)]
enum ImportSource {
    Files(Vec<GivenFile>),
    Remote(Vec<RemoteFile>),
}

impl std::ops::Deref for LibraryClient {
    type Target = Signals;

    fn deref(&self) -> &Signals {
        self.0
    }
}

impl LibraryClient {
    /// Creates the library.
    pub fn new() -> LibraryClient {
        // Leaked: it lives as long as the page.
        LibraryClient(Box::leak(Box::new(Signals {
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
            begun: RwSignal::default(),
            unmapped: RwSignal::default(),
            grown: RwSignal::new(()),
            state: StoredValue::new_local(State::default()),
        })))
    }

    /// Lists all stored trajectories.
    pub fn list(self) {
        self.follow(&Request::List);
    }

    /// Imports files.
    pub fn read(self, files: Vec<GivenFile>) {
        if !files.is_empty() {
            let number = self.begin("Reading");
            self.read_as(Some(number), Origin::Imported, files);
        }
    }

    /// Adds the episodes that this page made and the browser did not store. They are nowhere else.
    pub fn take_unkept(self) {
        let unkept = episodes::unkept_files();
        if !unkept.is_empty() {
            self.read_as(None, Origin::Imported, unkept);
        }
    }

    fn read_as(self, number: Option<ReadingNumber>, origin: Origin, files: Vec<GivenFile>) {
        self.expect(origin, ImportSource::Files(files.clone()));
        self.send_mappings();
        let files = files.into_iter().map(Attachment::File).collect();
        let replies = self.call(&Request::Read { origin }, files);
        self.follow_reading(number, replies);
    }

    /// Fetches a file from an absolute address and imports it. For another origin, the user must have agreed.
    pub fn fetch(self, url: &str, origin: Origin) {
        let number = self.begin(&format!("Fetching {url}"));
        self.fetch_given(number, url, origin);
    }

    /// Like [`LibraryClient::fetch`]; `arrived` is called with the id of one trajectory of the file (counted from 1)
    /// as soon as its first part was read, or with `None` if there is no such trajectory.
    pub fn fetch_one(
        self,
        url: &str,
        origin: Origin,
        place: usize,
        arrived: impl FnOnce(Option<Text>) + 'static,
    ) {
        let number = self.begin(&format!("Fetching {url}"));
        let arrived = Box::new(arrived);
        self.state.update_value(|state| {
            state.library.wait(number, place);
            state.waiters.push((number, arrived));
        });
        self.fetch_given(number, url, origin);
    }

    fn fetch_given(self, number: ReadingNumber, url: &str, origin: Origin) {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().into();
        let url = url.into();
        self.fetch_as(number, origin, vec![RemoteFile { name, url }]);
    }

    fn fetch_as(self, number: ReadingNumber, origin: Origin, files: Vec<RemoteFile>) {
        self.expect(origin, ImportSource::Remote(files.clone()));
        self.fetch_with(number, &Request::Fetch { origin, files });
    }

    fn fetch_with(self, number: ReadingNumber, request: &Request) {
        self.send_mappings();
        let replies = self.call(request, Vec::new());
        self.follow_reading(Some(number), replies);
    }

    /// Remembers the files of a reading, so that one can be read again by a mapping.
    fn expect(self, origin: Origin, source: ImportSource) {
        self.state
            .update_value(|state| state.source = Some((origin, source)));
    }

    /// Prepares for a reading: sends the mappings to the worker, since another tab may have changed them.
    fn send_mappings(self) {
        self.report.set(Vec::new());
        self.unmapped.set(Vec::new());
        let mappings = mappings::stored();
        self.call(&Request::Map { mappings }, Vec::new());
    }

    /// Reads the file of this path again, which was among those that were imported last.
    pub fn read_again(self, file: &str) {
        let Some((origin, source)) = self.state.with_value(|state| state.source.clone()) else {
            return;
        };
        let number = self.begin("Reading");
        match source {
            ImportSource::Files(files) => {
                let mut files = files;
                if files.iter().any(|given| given.name == file) {
                    files.retain(|given| given.name == file);
                }
                self.read_as(Some(number), origin, files);
            }
            ImportSource::Remote(files) => {
                let mut files = files;
                if files.iter().any(|given| *given.name == *file) {
                    files.retain(|given| *given.name == *file);
                }
                self.fetch_as(number, origin, files);
            }
        }
    }

    /// Makes an episode of the first record of a file, for a preview.
    pub fn preview(
        self,
        head: &Text,
        fields: FieldMapping,
        made: impl FnOnce(Result<Episode, String>) + 'static,
    ) {
        let head = head.clone();
        let replies = self.call(&Request::Preview { head, fields }, Vec::new());
        spawn(async move { made(assemble(replies).await) });
    }

    /// Reads the library that came with the site, if one did.
    pub fn read_site(self) {
        let Some(manifest) = location::linked("volary-library") else {
            return;
        };
        let number = self.begin("Fetching the library of this site");
        spawn(async move {
            let Some(site) = Site::fetch(&manifest).await else {
                self.handle(|library, _| library.end(number));
                self.notice.set(Some(site::unreadable(&manifest)));
                return;
            };
            self.site.set(Some(site.title));
            self.notes_file.set(site.notes);
            let (origin, files) = (Origin::Published, site.files);
            match site.list {
                Some(list) => {
                    // Addresses that were given besides the list.
                    for file in files {
                        self.fetch(&file.url, origin);
                    }
                    following::begin(self, number, list, site.events);
                }
                None if files.is_empty() => self.handle(|library, _| library.end(number)),
                None => self.fetch_as(number, origin, files),
            }
        });
    }

    /// Cancels a reading; the trajectories read so far remain.
    pub fn cancel(self, number: ReadingNumber) {
        let mut request = None;
        self.handle(|library, _| {
            let (sent, effects) = library.cancel(number);
            request = sent;
            effects
        });
        if let Some(reading) = request {
            self.call(&Request::Cancel { reading }, Vec::new());
        }
        spawn(async move {
            timers::sleep(PATIENCE).await;
            let must_end = |state: &State| state.library.must_end_worker(number);
            if self.state.with_value(must_end) {
                self.drop_worker();
            }
        });
    }

    /// Opens an episode.
    pub fn open(self, id: &str, opened: impl FnOnce(Result<Episode, String>) + 'static) {
        let replies = self.call(&Request::Open { id: id.into() }, Vec::new());
        spawn(async move { opened(assemble(replies).await) });
    }

    /// Finds words in an episode. `found` is called with the matches, unless a newer call supersedes this one.
    pub fn find(self, id: &str, words: &str, found: impl FnOnce(Vec<Finding>) + 'static) {
        let number = self.count(|state| &mut state.find);
        let (id, words) = (id.into(), words.into());
        let replies = self.call(&Request::Find { id, words }, Vec::new());
        let Some(mut replies) = replies else { return };
        spawn(async move {
            if let Some(Ok(Reply {
                event: Event::Places { places },
                ..
            })) = replies.next().await
                && self.state.with_value(|state| state.find) == number
            {
                found(places);
            }
        });
    }

    /// Takes the trajectories of which there is more, or all: the id that the beginning of each had, and its own. Several
    /// may come before an effect runs.
    pub fn take_grown(self) -> Vec<(Text, Text)> {
        let grown = self
            .state
            .try_update_value(|state| std::mem::take(&mut state.grown));
        grown.unwrap_or_default()
    }

    /// Returns the origin of a trajectory, if it is in the library.
    pub fn origin_of(self, id: &str) -> Option<Text> {
        self.rows.with_untracked(|rows| {
            let row = rows.iter().find(|row| *row.id == *id)?;
            row.origin.clone()
        })
    }

    /// Deletes trajectories.
    pub fn forget(self, ids: Vec<Text>) {
        // Trajectories of the site cannot be deleted.
        let published: BTreeSet<Text> = self.rows.with_untracked(|rows| {
            let rows = rows.iter();
            let published = rows.filter(|row| row.origin.as_deref() == Some(PUBLISHED));
            published.map(|row| row.id.clone()).collect()
        });
        let mut ids = ids;
        ids.retain(|id| !published.contains(id));
        self.handle(|library, _| library.drop_rows(&ids));
        self.follow(&Request::Forget { ids });
    }

    /// Replays an episode; `checked` is called with the result as text, and the first step that differs.
    pub fn check(
        self,
        id: &str,
        checked: impl FnOnce(Result<(String, Option<usize>), String>) + 'static,
    ) {
        let replies = self.call(&Request::Check { id: id.into() }, Vec::new());
        spawn(async move {
            let Some(mut replies) = replies else {
                return checked(Err(ENDED.to_owned()));
            };
            checked(match replies.next().await {
                Some(Ok(Reply { event, .. })) => match event {
                    Event::Checked { words, step } => {
                        Ok((words.to_string(), step.map(|step| step as usize)))
                    }
                    Event::Refused { reason } => Err(reason.to_string()),
                    _ => Err(UNEXPECTED.to_owned()),
                },
                Some(Err(loss)) => Err(loss.to_string()),
                None => Err(ENDED.to_owned()),
            });
        });
    }

    /// Adds a tag to trajectories, or removes it.
    pub fn tag(self, ids: Vec<Text>, tag: &str, on: bool) {
        let tag = tag.into();
        self.follow(&Request::Tag { ids, tag, on });
    }

    /// Looks for what should perhaps not be shared in trajectories. `checked` is not called if the worker is lost.
    pub fn find_sensitive(
        self,
        episodes: Vec<TaggedEpisode>,
        checked: impl FnOnce(Vec<Sensitive>) + 'static,
    ) {
        let replies = self.call(&Request::FindSensitive { episodes }, Vec::new());
        let Some(mut replies) = replies else { return };
        spawn(async move {
            if let Some(Ok(Reply {
                event: Event::Sensitive { found },
                ..
            })) = replies.next().await
            {
                checked(found);
            }
        });
    }

    /// Searches all texts. An empty query ends the search.
    pub fn search(self, words: &str) {
        let number = self.count(|state| &mut state.search);
        if words.trim().is_empty() {
            self.searching.set(None);
            self.matches.set(None);
            return;
        }
        let words = words.into();
        let replies = self.call(&Request::Search { words }, Vec::new());
        let Some(mut replies) = replies else { return };
        spawn(async move {
            while let Some(Ok(reply)) = replies.next().await {
                if self.state.with_value(|state| state.search) != number {
                    return;
                }
                match reply.event {
                    Event::Progress { doing, .. } => self.searching.set(Some(doing)),
                    Event::Found { matches } => {
                        self.searching.set(None);
                        self.matches.set(Some(Arc::new(matches)));
                    }
                    _ => {}
                }
            }
        });
    }

    /// Reports whether the table of the library is shown.
    pub fn show_table(self, is_shown: bool) {
        self.handle(|library, now| library.show_table(is_shown, now));
    }

    fn count(self, number: fn(&mut State) -> &mut u32) -> u32 {
        let counted = self.state.try_update_value(|state| {
            let number = number(state);
            *number = number.wrapping_add(1);
            *number
        });
        counted.unwrap_or_default()
    }

    fn begin(self, doing: &str) -> ReadingNumber {
        let mut number = 0;
        self.handle(|library, _| {
            let (begun, effects) = library.begin(doing);
            number = begun;
            effects
        });
        number
    }

    /// Sends a request to the worker, and starts the worker if necessary.
    fn call(self, request: &Request, attachments: Vec<Attachment>) -> Option<Replies<Event>> {
        let is_there = self.state.with_value(|state| {
            let worker = state.worker.as_ref();
            worker.is_some_and(|worker| !worker.is_lost())
        });
        if !is_there {
            match WorkerClient::start() {
                Ok(worker) => {
                    let changes = worker.call(&Request::Watch);
                    self.state.update_value(|state| state.worker = Some(worker));
                    self.follow_replies(changes);
                }
                Err(reason) => self.lost(&reason),
            }
        }
        self.state.with_value(|state| {
            let worker = state.worker.as_ref()?;
            Some(worker.call_with(request, attachments))
        })
    }

    /// Sends a request and applies its replies.
    pub fn follow(self, request: &Request) {
        if let Some(replies) = self.call(request, Vec::new()) {
            self.follow_replies(replies);
        }
    }

    fn follow_replies(self, mut replies: Replies<Event>) {
        spawn(async move {
            while let Some(reply) = replies.next().await {
                match reply {
                    Ok(reply) => self.apply(reply, Library::handle),
                    Err(loss) => self.lost(&loss.to_string()),
                }
            }
        });
    }

    /// Applies the replies to a reading until it ends. Readings without a number are not shown.
    fn follow_reading(self, number: Option<ReadingNumber>, replies: Option<Replies<Event>>) {
        spawn(async move { self.followed_reading(number, replies).await });
    }

    /// The same; resolves when it is over.
    async fn followed_reading(
        self,
        number: Option<ReadingNumber>,
        replies: Option<Replies<Event>>,
    ) {
        let Some(mut replies) = replies else { return };
        let number = number.unwrap_or_default();
        let request = replies.id();
        self.state
            .update_value(|state| state.library.sent(number, request));
        while let Some(reply) = replies.next().await {
            match reply {
                Ok(reply) => self.apply(reply, |library, event, now| {
                    library.handle_reading(number, event, now)
                }),
                Err(loss) => self.lost(&loss.to_string()),
            }
        }
        self.handle(|library, _| library.end(number));
    }

    fn apply(
        self,
        reply: Reply<Event>,
        handle: impl FnOnce(&mut Library, Event, f64) -> Vec<Effect>,
    ) {
        let Reply { event, attachments } = reply;
        let effects = self.update(|library, now| handle(library, event, now));
        self.carry_out(effects, attachments);
    }

    fn handle(self, change: impl FnOnce(&mut Library, f64) -> Vec<Effect>) {
        let effects = self.update(change);
        self.carry_out(effects, Vec::new());
    }

    fn update(self, change: impl FnOnce(&mut Library, f64) -> Vec<Effect>) -> Vec<Effect> {
        let now = timers::now();
        let effects = self
            .state
            .try_update_value(|state| change(&mut state.library, now));
        effects.unwrap_or_default()
    }

    fn carry_out(self, effects: Vec<Effect>, mut attachments: Vec<Attachment>) {
        for effect in effects {
            match effect {
                Effect::Rows(rows) => self.rows.set(rows),
                Effect::Readings(readings) => self.readings.set(readings),
                Effect::Report(notes) => self.report.set(notes),
                Effect::Listed => self.is_listed.set(true),
                Effect::Partial(ids) => self.begun.set(ids),
                Effect::Grown(id, into) => {
                    self.state
                        .update_value(|state| state.grown.push((id, into)));
                    self.grown.set(());
                }
                Effect::Arrived(number, id) => self.tell_waiter(number, id),
                Effect::Notify(notice) => self.notice.set(Some(notice)),
                Effect::OfferMapping(files) => self.unmapped.set(files),
                Effect::Explain(unfetched) => self.explain(unfetched),
                Effect::Save(name) => {
                    for attachment in attachments.drain(..) {
                        if let Attachment::Blob(file) = attachment {
                            files::download_blob(&name, &file);
                        }
                    }
                }
                Effect::SearchAgain => self.search(&self.wanted.get_untracked()),
                Effect::Index => {
                    self.call(&Request::Settle, Vec::new());
                }
                Effect::Wake(wait) => spawn(async move {
                    timers::sleep(Duration::from_secs_f64(wait)).await;
                    self.handle(Library::woken);
                }),
            }
        }
    }

    fn tell_waiter(self, number: ReadingNumber, id: Option<Text>) {
        let waiter = self.state.try_update_value(|state| {
            let mut waiters = state.waiters.iter();
            let place = waiters.position(|(reading, _)| *reading == number)?;
            Some(state.waiters.swap_remove(place).1)
        });
        if let Some(arrived) = waiter.flatten() {
            arrived(id);
        }
    }

    /// Shows why a file could not be fetched, and what to do.
    fn explain(self, unfetched: Unfetched) {
        spawn(async move {
            let notice = site::unfetched(&unfetched).await;
            self.notice.set(Some(notice));
        });
    }

    /// Terminates a worker in the middle of a file that must be read as a whole. The next worker lists what was
    /// stored.
    fn drop_worker(self) {
        let worker = self
            .state
            .try_update_value(|state| state.worker.take())
            .flatten();
        drop(worker);
        self.handle(|library, _| library.lose_worker());
        self.report.set(vec![
            "Cancelled. What was stored before is in the library.".into(),
        ]);
        self.list();
        self.read_site();
    }

    /// Handles the loss of the worker: every open call reports it, and the next request starts another worker.
    fn lost(self, reason: &str) {
        let worker = self
            .state
            .try_update_value(|state| state.worker.take_if(|worker| worker.is_lost()));
        let worker = worker.flatten();
        let is_new = worker.is_some();
        if let Some(worker) = worker {
            worker.end(reason);
        }
        let is_none = self.state.with_value(|state| state.worker.is_none());
        if !is_new && !is_none {
            // Another worker has replaced it already.
            return;
        }
        self.handle(|library, _| library.lose_worker());
        self.searching.set(None);
        self.notice.set(Some(Notice::new(
            "The library's worker crashed.",
            reason.to_owned(),
            "Stored data is safe. Try again with fewer files at once.",
        )));
    }
}

impl Default for LibraryClient {
    fn default() -> Self {
        LibraryClient::new()
    }
}

const ENDED: &str = "The library's worker was stopped.";
const UNEXPECTED: &str = "The library's worker sent an unexpected reply.";

/// Assembles an episode from its chunks.
async fn assemble(replies: Option<Replies<Event>>) -> Result<Episode, String> {
    let mut replies = replies.ok_or(ENDED)?;
    let mut assembler = EpisodeAssembler::default();
    while let Some(reply) = replies.next().await {
        match reply.map_err(|loss: WorkerLoss| loss.to_string())?.event {
            Event::Episode(chunk) => {
                let assembled = assembler.push(chunk).map_err(|error| error.to_string())?;
                if let Some(assembled) = assembled {
                    return Ok(assembled.episode);
                }
            }
            Event::Refused { reason } => return Err(reason.to_string()),
            _ => return Err(UNEXPECTED.to_owned()),
        }
    }
    Err(ENDED.to_owned())
}
