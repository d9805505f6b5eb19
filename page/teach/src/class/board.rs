//! The board as signals: carries out the effects of [`volary_app::class::board`], and exports the hand-ins of rows.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_app::class::board::{
    ClassBoard, ClassConnection, ClassServer, Effect, Event, HandInSource,
};
use volary_app::notice::Notice;
use volary_classroom::{BoardRow, HandIn};
use volary_episode::{Episode, native};

use super::board_rows::ExportedRow;
use super::given::Given;
use super::service;
use volary_browser::database::KeptText;
use volary_browser::{self as browser, timers};
use volary_storage as storage;
use volary_storage::episodes::{self, StoredEpisode};
use volary_ui::navigation::{Page, use_pages};

/// The label of the episodes in the library.
const ORIGIN: &str = "class";

/// Signals of the board. They live as long as its page.
#[derive(Clone, Copy)]
pub struct Board {
    state: RwSignal<ClassBoard>,
    pub connection: Memo<ClassConnection>,
    /// All rows, sorted.
    pub rows: Memo<Vec<BoardRow>>,
    /// What could not be read.
    pub problem: RwSignal<Option<Notice>>,
    /// The page that is shown.
    shown: Memo<Page>,
}

impl Board {
    pub fn new() -> Board {
        let state = RwSignal::new(ClassBoard::default());
        Board {
            state,
            connection: Memo::new(move |_| state.with(ClassBoard::connection)),
            rows: Memo::new(move |_| state.with(ClassBoard::rows)),
            problem: RwSignal::new(None),
            shown: use_pages().shown,
        }
    }

    /// Connects to a class server and follows it. An empty key is the one that is known for its origin.
    pub fn connect(self, url: &str, key: &str) {
        let server = service::server(url, key);
        self.handle(Event::Connect(server));
    }

    /// Stops following the server. Its rows stay.
    pub fn disconnect(self) {
        self.handle(Event::Disconnect);
    }

    /// Takes the text of a hand-in's file, or why it could not be read.
    pub fn take(self, name: &str, text: Result<String, String>) {
        let name = name.to_owned();
        self.handle(Event::File { name, text });
    }

    fn handle(self, event: Event) {
        let effects = self.state.try_update(|board| board.update(event));
        for effect in effects.into_iter().flatten() {
            self.carry_out(effect);
        }
    }

    fn carry_out(self, effect: Effect) {
        match effect {
            Effect::Greet { connection, server } => browser::spawn(async move {
                let info = service::info(&server.url, &server.key).await;
                if let Ok(info) = &info {
                    Given::of_browser().update_code(&server.url, &info.code);
                }
                self.handle(Event::Greeted {
                    connection,
                    class: info.map(|info| info.name),
                    is_shown: self.is_shown(),
                });
            }),
            Effect::StoreKey(server) => service::store_key(&server),
            Effect::FetchRows { connection, server } => browser::spawn(async move {
                let rows = service::rows(&server.url, &server.key).await;
                let at = timers::wall_clock();
                self.handle(Event::Fetched {
                    connection,
                    rows,
                    at,
                });
            }),
            Effect::Wait {
                connection,
                seconds,
            } => browser::spawn(async move {
                timers::sleep(Duration::from_secs_f64(seconds)).await;
                let is_shown = self.is_shown();
                self.handle(Event::Waited {
                    connection,
                    is_shown,
                });
            }),
            Effect::Show(notice) => self.problem.set(Some(notice)),
        }
    }

    fn is_shown(self) -> bool {
        self.shown.get_untracked() == Page::Class
    }

    /// The whole hand-in of a row.
    pub async fn whole(self, id: &str) -> Result<HandIn, Notice> {
        let source = self.state.with_untracked(|board| board.source(id));
        match source {
            Some(HandInSource::File(hand_in)) => Ok(Arc::unwrap_or_clone(hand_in)),
            Some(HandInSource::Server(ClassServer { url, key })) => {
                service::whole(&url, &key, id).await
            }
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

    /// The lines of a file with all episodes of rows. The names replace those of the pupils.
    pub async fn lines(self, rows: &[ExportedRow]) -> Result<String, Notice> {
        let mut lines = String::new();
        for ExportedRow { id, pupil } in rows {
            let mut hand_in = self.whole(id).await?;
            if let Some(pupil) = pupil {
                hand_in = hand_in.under_name(pupil.clone());
            }
            for episode in hand_in.into_episodes(id).into_iter().flatten() {
                native::write_text(&mut lines, &episode);
                lines.push('\n');
            }
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
