//! The page's client of the library: its signals, and its requests to the worker.
//!
//! [`volary_app::library`] decides how the worker's events change the state; this module carries out the effects.
//!
//! - [`signals`]: what the pages read. [`imports`]: files that are read. [`requests`]: requests with one answer.
//!   [`texts`]: trajectories as texts for questions to models.
//! - `site`: the library that came with the site. `following`: files of it that change.
//! - [`mappings`]: which members of records hold what, as the user said. `unfetched`: why a file could not be fetched.

mod following;
pub mod imports;
pub mod mappings;
pub mod requests;
pub mod signals;
mod site;
pub mod texts;
mod unfetched;

use std::time::Duration;

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_app::library::live::LiveFiles;
use volary_app::library::readings::ReadingNumber;
use volary_app::library::{Effect, Library, WorkerNumber};
use volary_connectivity::Cause;
use volary_core::json::Text;
use volary_protocol::library::{Event, FileList, Origin, RemoteFile, Request, Unfetched};
use volary_protocol::{WorkerLoss, WorkerPart};

use signals::LibrarySignals;
use volary_browser::files::{self, GivenFile};
use volary_browser::transferable::Attachment;
use volary_browser::worker_client::{Replies, Reply, WorkerClient};
use volary_browser::{network, spawn, timers};
use volary_storage::episodes;

/// A handle to the library. There is one library for the life of the page.
#[derive(Clone, Copy)]
pub struct LibraryClient(&'static LibrarySignals);

/// Called with the id of a trajectory of a reading once it is known; `None` if the reading has none.
type Arrived = Box<dyn FnOnce(Option<Text>)>;

#[derive(Default)]
struct ClientState {
    worker: Option<WorkerClient>,
    number: WorkerNumber,
    library: Library,
    live: LiveFiles,
    /// The list of the site's files.
    list: Option<FileList>,
    /// The address of their changes, if the server sends them.
    events: Option<Text>,
    /// The last find; replies to older ones are ignored.
    find: u32,
    /// Trajectories of which there is more, or all: the id that the beginning of each had, and its own.
    renamed: Vec<(Text, Text)>,
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

/// A request to a worker, and its replies.
struct Sent {
    worker: WorkerNumber,
    replies: Replies<Event>,
}

impl std::ops::Deref for LibraryClient {
    type Target = LibrarySignals;

    fn deref(&self) -> &LibrarySignals {
        self.0
    }
}

impl LibraryClient {
    /// Creates the library.
    pub fn new() -> LibraryClient {
        // Leaked: it lives as long as the page.
        LibraryClient(Box::leak(Box::new(LibrarySignals::new())))
    }

    /// Lists all stored trajectories.
    pub fn list(self) {
        self.follow(&Request::List);
    }

    /// Takes the trajectories of which there is more, or all: the id that the beginning of each had, and its own. Several
    /// may come before an effect runs.
    pub fn take_renamed_ids(self) -> Vec<(Text, Text)> {
        let renamed = self
            .state
            .try_update_value(|state| std::mem::take(&mut state.renamed));
        renamed.unwrap_or_default()
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
        let mut deleted = Vec::new();
        self.handle(|library, _| {
            let (own, effects) = library.forget(ids);
            deleted = own;
            effects
        });
        episodes::forget_unstored(&deleted);
        self.follow(&Request::Forget { ids: deleted });
    }

    /// Adds a tag to trajectories, or removes it.
    pub fn tag(self, ids: Vec<Text>, tag: &str, on: bool) {
        let tag = tag.into();
        self.follow(&Request::Tag { ids, tag, on });
    }

    /// Searches all texts. An empty query ends the search.
    pub fn search(self, words: &str) {
        let mut number = None;
        self.handle(|library, _| {
            let (begun, effects) = library.search(words);
            number = begun;
            effects
        });
        let Some(number) = number else { return };
        let words = words.into();
        if let Some(sent) = self.call(&Request::Search { words }, Vec::new()) {
            spawn(self.apply_replies(sent, move |library, event, _| {
                library.handle_search(number, event)
            }));
        }
    }

    /// Whether the last search has not been answered.
    pub fn is_searching(self) -> bool {
        self.state.with_value(|state| state.library.is_searching())
    }

    /// Reports whether the table of the library is shown.
    pub fn show_table(self, is_shown: bool) {
        self.handle(|library, now| library.show_table(is_shown, now));
    }

    /// Sends a request and applies its replies.
    pub fn follow(self, request: &Request) {
        self.follow_with(request, Vec::new());
    }

    /// Like [`LibraryClient::follow`], with files.
    fn follow_with(self, request: &Request, attachments: Vec<Attachment>) {
        if let Some(sent) = self.call(request, attachments) {
            spawn(self.apply_replies(sent, Library::handle));
        }
    }

    /// Starts a reading, which `doing` describes for the user.
    fn begin(self, doing: &str) -> ReadingNumber {
        let mut number = 0;
        self.handle(|library, _| {
            let (begun, effects) = library.begin(doing);
            number = begun;
            effects
        });
        number
    }

    /// Applies the replies to a reading until it ends. Readings without a number are not shown.
    async fn follow_reading(self, number: Option<ReadingNumber>, sent: Option<Sent>) {
        let Some(sent) = sent else { return };
        let number = number.unwrap_or_default();
        let request = sent.replies.id();
        self.state
            .update_value(|state| state.library.sent(number, request));
        let handle =
            move |library: &mut Library, event, now| library.handle_reading(number, event, now);
        self.apply_replies(sent, handle).await;
        self.handle(|library, _| library.end(number));
    }

    /// Sends a request to the worker, and starts the worker if necessary.
    fn call(self, request: &Request, attachments: Vec<Attachment>) -> Option<Sent> {
        let is_there = self.state.with_value(|state| {
            let worker = state.worker.as_ref();
            worker.is_some_and(|worker| !worker.is_lost())
        });
        if !is_there {
            self.start_worker();
        }
        self.state.with_value(|state| {
            let worker = state.worker.as_ref()?;
            Some(Sent {
                worker: state.number,
                replies: worker.call_with(request, attachments),
            })
        })
    }

    fn start_worker(self) {
        let number = self.state.try_update_value(|state| {
            state.number = state.library.start_worker();
            state.number
        });
        let number = number.unwrap_or_default();
        match WorkerClient::start(WorkerPart::Library) {
            Ok(worker) => {
                let sent = Sent {
                    worker: number,
                    replies: worker.call(&Request::Watch),
                };
                self.state.update_value(|state| state.worker = Some(worker));
                spawn(self.apply_replies(sent, Library::handle));
            }
            Err(message) => {
                let message = message.into();
                let loss = WorkerLoss::Crashed { message };
                self.handle(|library, _| library.lose_worker(number, &loss));
            }
        }
    }

    /// Applies the replies to a request until they end.
    async fn apply_replies(
        self,
        mut sent: Sent,
        mut handle: impl FnMut(&mut Library, Event, f64) -> Vec<Effect>,
    ) {
        while let Some(reply) = sent.replies.next().await {
            match reply {
                Ok(Reply { event, attachments }) => {
                    let effects = self.update(|library, now| handle(library, event, now));
                    self.carry_out(effects, attachments);
                }
                Err(loss) => self.handle(|library, _| library.lose_worker(sent.worker, &loss)),
            }
        }
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
                Effect::Partial(ids) => self.partial.set(ids),
                Effect::Renamed(id, into) => {
                    self.state
                        .update_value(|state| state.renamed.push((id, into)));
                    self.renamed.set(());
                }
                Effect::Arrived(number, id) => self.tell_waiter(number, id),
                Effect::Notify(notice) => self.notice.set(Some(notice)),
                Effect::Withdraw(notice) => {
                    // The user may have dismissed it, or another one is shown.
                    if self
                        .notice
                        .with_untracked(|shown| shown.as_ref() == Some(&notice))
                    {
                        self.notice.set(None);
                    }
                }
                Effect::OfferMapping(files) => self.unmapped.set(files),
                Effect::Explain(unfetched) => self.explain(unfetched),
                Effect::Answers { lines, is_kept } => {
                    self.given_answers
                        .update(|given| given.push((lines, is_kept)));
                }
                Effect::Save(name) => {
                    for attachment in attachments.drain(..) {
                        if let Attachment::Blob(file) = attachment {
                            files::download_blob(&name, &file);
                        }
                    }
                }
                Effect::SearchAgain => self.search(&self.wanted.get_untracked()),
                Effect::Searching(doing) => self.searching.set(doing),
                Effect::Matches(matches) => self.matches.set(matches),
                Effect::Index => {
                    self.call(&Request::Settle, Vec::new());
                }
                Effect::Wake(wait) => spawn(async move {
                    timers::sleep(Duration::from_secs_f64(wait)).await;
                    self.handle(Library::woken);
                }),
                Effect::DropWorker(reason) => {
                    let worker = self.state.try_update_value(|state| state.worker.take());
                    if let Some(worker) = worker.flatten() {
                        worker.end(&reason);
                    }
                }
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
            let notice = if unfetched.answered {
                unfetched::answered(&unfetched)
            } else {
                let page = network::page();
                let silence = network::without_asking(&unfetched.url).await;
                let cause = Cause::of(&unfetched.url, &page, &silence);
                unfetched::unanswered(&unfetched, &page, cause)
            };
            self.handle(|library, _| vec![library.failed(notice)]);
        });
    }
}

impl Default for LibraryClient {
    fn default() -> Self {
        LibraryClient::new()
    }
}
