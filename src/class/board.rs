//! The hand-ins that the board shows: those of a class server, followed while the page is shown, and those of files.
//!
//! Invariant: nothing is requested before [`Board::connect`], which a click calls.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_agent::model::ApiKey;
use volary_classroom::{BoardRow, HandIn, Name, board};
use volary_core::random::stable_hash;
use volary_trajectory::table::Row;
use volary_trajectory::{Episode, native};

use super::service;
use crate::browser::database::KeptText;
use crate::browser::{self, timers};
use crate::navigation::{Page, use_pages};
use crate::projection::notice::Notice;
use crate::secrets::{self, KeyOrigin};
use crate::storage;
use crate::storage::episodes::{self, StoredEpisode};

/// The time between two looks at the server.
const PERIOD: Duration = Duration::from_secs(2);

/// The maximum time between two looks at a server that fails.
const LONGEST_PERIOD: Duration = Duration::from_secs(30);

/// The label of the episodes in the library.
const ORIGIN: &str = "class";

/// The connection to a class server.
#[derive(Clone, Debug, PartialEq)]
pub enum Connection {
    Off,
    Connecting,
    /// The rows are those of this time, in seconds since 1970.
    Live {
        /// The name of the class.
        class: String,
        at: f64,
    },
    /// The last request failed. A connection that worked once is polled again, with growing intervals; one that never worked
    /// is not.
    Failed(Notice),
}

/// The hand-ins of a class server and of files, and the connection to the server.
#[derive(Clone, Copy)]
pub struct Board {
    pub connection: RwSignal<Connection>,
    /// The rows of the server.
    served: RwSignal<Vec<BoardRow>>,
    /// The hand-ins of files, under the ids of their rows.
    files: RwSignal<Vec<(BoardRow, Arc<HandIn>)>>,
    /// What could not be read.
    pub problem: RwSignal<Option<Notice>>,
    /// The address and the key of the connection.
    server: StoredValue<Option<(String, ApiKey)>>,
    /// Incremented with each connection: only the last one is followed.
    generation: StoredValue<u32>,
    /// The page that is shown.
    shown: Memo<Page>,
}

impl Board {
    pub fn new() -> Board {
        Board {
            connection: RwSignal::new(Connection::Off),
            served: RwSignal::default(),
            files: RwSignal::default(),
            problem: RwSignal::new(None),
            server: StoredValue::new(None),
            generation: StoredValue::new(0),
            shown: use_pages().shown,
        }
    }

    /// All rows, sorted.
    pub fn rows(self) -> Vec<BoardRow> {
        let mut rows = self.served.get();
        self.files
            .with(|files| rows.extend(files.iter().map(|(row, _)| row.clone())));
        board::sort(&mut rows);
        rows
    }

    /// Connects to a class server and follows it. An empty key is the one that is known for its origin.
    pub fn connect(self, url: &str, key: &str) {
        let url = match service::address(url) {
            Ok(url) => url,
            Err(why) => {
                let notice = Notice::new("The class could not be read.", why, "Check the address.");
                return self.connection.set(Connection::Failed(notice));
            }
        };
        let origin = KeyOrigin::of(&url);
        let key = match key.trim() {
            "" => untrack(|| secrets::key(service::OWNER, &origin)),
            typed => ApiKey::new(typed),
        };
        self.generation.update_value(|generation| *generation += 1);
        let generation = self.generation.get_value();
        self.connection.set(Connection::Connecting);
        self.server.set_value(Some((url.clone(), key.clone())));
        browser::spawn(async move {
            match service::info(&url, &key).await {
                Ok(info) => {
                    // If it cannot be stored, it is known until the page is left.
                    let _ = secrets::put(service::OWNER, &origin, &key);
                    self.poll(generation, url, key, info.name).await;
                }
                Err(notice) if self.generation.get_value() == generation => {
                    self.connection.set(Connection::Failed(notice));
                }
                Err(_) => {}
            }
        });
    }

    /// Stops following the server. Its rows stay.
    pub fn disconnect(self) {
        self.generation.update_value(|generation| *generation += 1);
        self.connection.set(Connection::Off);
    }

    async fn poll(self, generation: u32, url: String, key: ApiKey, class: String) {
        let mut period = PERIOD;
        loop {
            let is_shown = self.shown.get_untracked() == Page::Class;
            if is_shown {
                let rows = service::rows(&url, &key).await;
                if self.generation.get_value() != generation {
                    return;
                }
                match rows {
                    Ok(rows) => {
                        period = PERIOD;
                        if self.served.with_untracked(|known| *known != rows) {
                            self.served.set(rows);
                        }
                        let (class, at) = (class.clone(), timers::wall_clock());
                        self.connection.set(Connection::Live { class, at });
                    }
                    Err(notice) => {
                        period = (period * 2).min(LONGEST_PERIOD);
                        self.connection.set(Connection::Failed(notice));
                    }
                }
            }
            timers::sleep(period).await;
            if self.generation.get_value() != generation {
                return;
            }
        }
    }

    /// Takes the text of a hand-in's file, or why it could not be read.
    pub fn take(self, name: &str, text: Result<String, String>) {
        let read = text.and_then(|text| HandIn::read(&text).map_err(|error| error.to_string()));
        match read {
            Ok(hand_in) => {
                let id = file_id(&hand_in);
                let row = hand_in.row(id, hand_in.handed_in, 1);
                self.files.update(|files| {
                    files.retain(|(known, _)| known.id != row.id);
                    files.push((row, Arc::new(hand_in)));
                });
            }
            Err(why) => self.problem.set(Some(Notice::new(
                format!("{name} could not be read."),
                why,
                "Choose files that pupils saved to hand in.",
            ))),
        }
    }

    /// The whole hand-in of a row.
    pub async fn whole(self, id: &str) -> Result<HandIn, Notice> {
        let in_file = self.files.with_untracked(|files| {
            let found = files.iter().find(|(row, _)| row.id == id);
            found.map(|(_, hand_in)| Arc::clone(hand_in))
        });
        if let Some(hand_in) = in_file {
            return Ok(Arc::unwrap_or_clone(hand_in));
        }
        match self.server.get_value() {
            Some((url, key)) => service::whole(&url, &key, id).await,
            None => Err(Notice::new(
                "The hand-in is gone.",
                "There is no connection.",
                "Connect again.",
            )),
        }
    }

    /// The episodes of rows, in the library's form.
    async fn episodes(self, ids: &[String]) -> Result<Vec<Episode>, Notice> {
        let mut all = Vec::new();
        for id in ids {
            let hand_in = self.whole(id).await?;
            all.extend(hand_in.into_episodes(id).into_iter().flatten());
        }
        Ok(all)
    }

    /// The lines of a file with all episodes of rows.
    pub async fn lines(self, ids: &[String]) -> Result<String, Notice> {
        let mut lines = String::new();
        for episode in self.episodes(ids).await? {
            native::write_text(&mut lines, &episode);
            lines.push('\n');
        }
        Ok(lines)
    }

    /// Stores the episodes of rows in the library, where Review shows them.
    pub async fn store(self, ids: &[String]) -> Result<(), Notice> {
        let episodes = self.episodes(ids).await?.into_iter();
        let episodes = episodes.map(|episode| {
            let row = Row::of(&episode, Vec::new());
            let text = KeptText::from(native::to_text(&episode));
            StoredEpisode::new(row, text, ORIGIN)
        });
        let changes = episodes::storing(Vec::new(), episodes.collect());
        // If the browser refuses, they are in memory, and Review shows them until the page is left.
        let _ = storage::write(changes).await;
        Ok(())
    }
}

/// The id of the row of a file: the same file has the same id.
fn file_id(hand_in: &HandIn) -> String {
    let of = |name: &Name| stable_hash(name.as_str().bytes());
    format!(
        "file-{}-{:x}-{:x}",
        hand_in.assignment,
        of(&hand_in.pupil),
        hand_in.handed_in.to_bits()
    )
}
