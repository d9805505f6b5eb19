//! The page's side of the library: its signals, and what it asks of the librarian.
//!
//! - `hearing`: what the librarian's answers change. `fetching`: files from addresses, and those of the site.
//! - `waiting`: rows on their way into the table.
//! - `finding`: words in one episode.

mod fetching;
mod finding;
mod hearing;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trace::Episode;
use volary_trace::table::Row;

use super::findings::Match;
use super::origin::{Origin, PUBLISHED};
use super::protocol::{Number, Request};
use crate::projection::notice::Notice;
use crate::shell::files::GivenFile;
use crate::shell::timers;
use crate::shell::worker_link::WorkerLink;
use crate::storage::episodes;
use waiting::{Pace, Waiting};

/// A worker that is asked to stop reading does so between two slices; one that is silent for so long has none.
const PATIENCE: Duration = Duration::from_secs(4);

/// The library. There is one, for as long as the page lives; this leads to it.
#[derive(Clone, Copy)]
pub struct Shelf(&'static Signals);

/// What the library consists of.
pub struct Signals {
    /// All trajectories, the newest first.
    pub rows: RwSignal<Arc<Vec<Arc<Row>>>>,
    /// Whether all that was kept is among them.
    pub is_listed: RwSignal<bool>,
    /// What is being read or fetched.
    pub readings: RwSignal<Vec<Reading>>,
    /// What the last reading had to say.
    pub report: RwSignal<Vec<Text>>,
    /// What is looked for in all texts.
    pub wanted: RwSignal<String>,
    /// How far the search is, while it has to read first.
    pub searching: RwSignal<Option<Text>>,
    /// Where it was found; `None` while nothing is looked for.
    pub matches: RwSignal<Option<Arc<Vec<Match>>>>,
    /// What else there is to say.
    pub said: RwSignal<String>,
    /// What went wrong last.
    pub notice: RwSignal<Option<Notice>>,
    /// The title of the library that came with the site, if one did.
    pub site: RwSignal<Option<Text>>,
    /// The ids of trajectories of which only the beginning is there.
    pub begun: RwSignal<BTreeSet<Text>>,
    /// The last of which there is more, or all: the id that its beginning had, and its own.
    pub grown: RwSignal<Option<(Text, Text)>>,
    state: StoredValue<State, LocalStorage>,
}

/// A reading that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Its number.
    pub number: Number,
    /// What is being done, for people.
    pub doing: Text,
    /// The part that is done, from 0 to 1; `None` if nobody knows.
    pub done: Option<f64>,
    /// Whether it was asked to end.
    pub is_ending: bool,
}

/// What is wanted of an episode once it is there.
type Opened = Box<dyn FnOnce(Result<Episode, String>)>;

/// What is wanted of a trajectory of a reading once its id is known; `None` if the reading has none.
type Arrived = Box<dyn FnOnce(Option<Text>)>;

/// What is wanted of a check.
type Checked = Box<dyn FnOnce(Result<(String, Option<usize>), String>)>;

#[derive(Default)]
struct State {
    link: Option<WorkerLink>,
    number: Number,
    search: Number,
    /// Episodes on their way.
    opening: Vec<(Number, Option<Episode>, Opened)>,
    /// Words that are looked for in an episode.
    finding: Option<(Number, finding::Found)>,
    /// Episodes that are run again.
    checking: Vec<(Number, Checked)>,
    waiting: Waiting,
    pace: Pace,
    /// Which trajectory of a reading is waited for, and who does.
    awaited: Vec<(Number, usize, Arrived)>,
    /// Whether the worker holds what the browser would not keep.
    is_unkept: bool,
    /// Whether the table is shown, whose search wants all texts at hand.
    looks_through: bool,
}

impl std::ops::Deref for Shelf {
    type Target = Signals;

    fn deref(&self) -> &Signals {
        self.0
    }
}

impl Shelf {
    /// Makes the library.
    pub fn new() -> Shelf {
        // Never freed: it lives as long as the page.
        Shelf(Box::leak(Box::new(Signals {
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
            begun: RwSignal::default(),
            grown: RwSignal::new(None),
            state: StoredValue::new_local(State::default()),
        })))
    }

    /// Reads files into the library.
    pub fn read(self, files: Vec<GivenFile>) {
        if !files.is_empty() {
            let number = self.begin("Reading");
            self.read_as(number, Origin::Imported, &files);
        }
    }

    fn read_as(self, number: Number, origin: Origin, files: &[GivenFile]) {
        self.report.set(Vec::new());
        self.with_link(|link| link.hand_files(number, origin.word(), files));
    }

    /// Something is being read from here on.
    fn begin(self, doing: &str) -> Number {
        let number = self.next();
        let reading = Reading {
            number,
            doing: doing.into(),
            done: None,
            is_ending: false,
        };
        self.readings.update(|readings| readings.push(reading));
        number
    }

    fn ended(self, number: Number) {
        self.tell_missing(number);
        self.readings
            .update(|readings| readings.retain(|reading| reading.number != number));
    }

    /// Ends a reading; what was read stays.
    pub fn cancel(self, number: Number) {
        self.readings.update(|readings| {
            let mut readings = readings.iter_mut();
            if let Some(reading) = readings.find(|reading| reading.number == number) {
                reading.is_ending = true;
                reading.doing = "Stopping".into();
            }
        });
        self.ask(&Request::Cancel { reading: number });
        crate::shell::spawn(async move {
            timers::sleep(PATIENCE).await;
            let goes_on = self
                .readings
                .with_untracked(|readings| readings.iter().any(|reading| reading.number == number));
            let is_unkept = self.state.with_value(|state| state.is_unkept);
            // What it holds alone would go with it.
            if goes_on && !is_unkept {
                self.drop_worker();
            }
        });
    }

    /// The worker is in the middle of a file that must be read as a whole: it goes, and what was kept is listed
    /// by the next one.
    fn drop_worker(self) {
        let link = self
            .state
            .try_update_value(|state| state.link.take())
            .flatten();
        drop(link);
        self.readings.set(Vec::new());
        self.begun.set(BTreeSet::new());
        self.report.set(vec![
            "You stopped it; what was kept before is in the library.".into(),
        ]);
        self.list();
        self.read_site();
    }

    /// Asks for all that is kept.
    pub fn list(self) {
        let number = self.next();
        self.state
            .update_value(|state| state.waiting.listing = number);
        self.ask(&Request::List { number });
    }

    /// Takes in what this page made and the browser did not keep: it is nowhere else.
    pub fn take_unkept(self) {
        let unkept = episodes::unkept_files();
        if !unkept.is_empty() {
            self.read_as(self.next(), Origin::Imported, &unkept);
        }
    }

    /// Opens an episode.
    pub fn open(self, id: &str, opened: impl FnOnce(Result<Episode, String>) + 'static) {
        let opened: Opened = Box::new(opened);
        let number = self.next();
        self.state
            .update_value(|state| state.opening.push((number, None, opened)));
        self.ask(&Request::Open {
            number,
            id: id.into(),
        });
    }

    /// How a trajectory came into the library, if it is in it.
    pub fn origin_of(self, id: &str) -> Option<Text> {
        self.rows.with_untracked(|rows| {
            let row = rows.iter().find(|row| *row.id == *id)?;
            row.origin.clone()
        })
    }

    /// Forgets trajectories.
    pub fn forget(self, ids: Vec<Text>) {
        let number = self.next();
        // What came with the site stays.
        let published: BTreeSet<Text> = self.rows.with_untracked(|rows| {
            let rows = rows.iter();
            let published = rows.filter(|row| row.origin.as_deref() == Some(PUBLISHED));
            published.map(|row| row.id.clone()).collect()
        });
        let mut ids = ids;
        ids.retain(|id| !published.contains(id));
        self.drop_rows(&ids);
        self.ask(&Request::Forget { number, ids });
    }

    /// Runs an episode again; `checked` hears what came of it in words, and the first step that differs.
    pub fn check(
        self,
        id: &str,
        checked: impl FnOnce(Result<(String, Option<usize>), String>) + 'static,
    ) {
        let number = self.next();
        let checked: Checked = Box::new(checked);
        self.state
            .update_value(|state| state.checking.push((number, checked)));
        self.ask(&Request::Check {
            number,
            id: id.into(),
        });
    }

    /// Marks trajectories with a word, or no longer.
    pub fn tag(self, ids: Vec<Text>, tag: &str, on: bool) {
        let number = self.next();
        self.ask(&Request::Tag {
            number,
            ids,
            tag: tag.into(),
            on,
        });
    }

    /// Makes a file of trajectories and saves it.
    pub fn export(self, ids: Vec<Text>) {
        let number = self.next();
        self.ask(&Request::Export { number, ids });
    }

    /// Looks for words in all texts; nothing is looked for without words.
    pub fn search(self, words: &str) {
        let number = self.next();
        self.state.update_value(|state| state.search = number);
        if words.trim().is_empty() {
            self.searching.set(None);
            self.matches.set(None);
            return;
        }
        self.ask(&Request::Search {
            number,
            words: words.into(),
        });
    }

    /// Tells the library whether its table is shown.
    pub fn look_through(self, is_shown: bool) {
        self.state
            .update_value(|state| state.looks_through = is_shown);
        if is_shown {
            self.flush();
        }
        self.settle();
    }

    /// Indexes all texts, if a search is to be expected.
    fn settle(self) {
        if self.state.with_value(|state| state.looks_through) {
            let number = self.next();
            self.ask(&Request::Settle { number });
        }
    }

    fn next(self) -> Number {
        self.state
            .try_update_value(|state| {
                state.number = state.number.wrapping_add(1);
                state.number
            })
            .unwrap_or_default()
    }

    fn ask(self, request: &Request) {
        self.with_link(|link| link.post(&request.to_text()));
    }

    fn with_link(self, act: impl FnOnce(&WorkerLink)) {
        if self.state.with_value(|state| state.link.is_none()) {
            match WorkerLink::start(move |report| self.hear(report)) {
                Ok(link) => self.state.update_value(|state| state.link = Some(link)),
                Err(reason) => self.lost(&reason),
            }
        }
        self.state.with_value(|state| {
            if let Some(link) = &state.link {
                act(link);
            }
        });
    }
}

impl Default for Shelf {
    fn default() -> Self {
        Shelf::new()
    }
}
