//! Plays cells of an evaluation without the page: several concurrently, because environments may wait.
//!
//! Invariants: a batch of results is sent with the texts to store, which the page only passes on. Orders to play are
//! carried out in the order in which they arrived.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream;
use volary_agent::Cancel;
use volary_agent::evaluation::play::play_on;
use volary_agent::evaluation::{CellResult, Job};
use volary_core::Clock;
use volary_core::registry::Registry;
use volary_protocol::environments::ServerAccess;
use volary_protocol::evaluation::{Event, Request};
use volary_trajectory::table::Row;
use volary_trajectory::{Episode, native};

use super::environments::Environments;
use super::in_flight::InFlight;
use super::live::{Announced, LiveEnvironment, ServerNotice};
use super::outside::PageOutside;
use crate::browser::database::KeptText;
use crate::storage::episodes::StoredEpisode;
use crate::storage::origin::EVALUATED;

/// The maximum number of concurrent cells of an order.
const CONCURRENT_CELLS: usize = 16;
/// A batch of results is sent once its texts have this many UTF-16 units…
const BATCH_LENGTH: usize = 500_000;
/// …or after this many seconds.
const BATCH_SECONDS: f64 = 0.1;
/// No cell is started this many seconds after the start of an order: the page may want something else by then.
const ORDER_SECONDS: f64 = 0.3;

/// Sends an event, with the row and the text of the episode of each result; empty texts where there is no episode.
pub type Send<'a> = &'a dyn Fn(Event, Option<Vec<KeptText>>);

/// The evaluation service of a worker.
pub struct EvaluationService {
    registry: Registry,
    clock: Rc<dyn Clock>,
    /// Seconds since 1970.
    wall_clock: fn() -> f64,
    /// The number of orders received.
    came: Cell<u64>,
    done: Cell<u64>,
    in_flight: InFlight,
    shutdown: Cancel,
    outside: PageOutside,
}

impl EvaluationService {
    /// Creates a service that plays environments of this registry, and those of servers that a request names.
    pub fn new(registry: Registry, clock: Rc<dyn Clock>, wall_clock: fn() -> f64) -> Self {
        EvaluationService {
            registry,
            clock,
            wall_clock,
            came: Cell::new(0),
            done: Cell::new(0),
            in_flight: InFlight::default(),
            shutdown: Cancel::default(),
            outside: PageOutside::default(),
        }
    }

    /// Handles a request. `environments` are those that the page plays in this worker.
    pub async fn handle(&self, request: Request, environments: &Environments, send: Send<'_>) {
        match request {
            Request::Play { jobs, servers } => {
                let _flight = self.in_flight.begin();
                let turn = self.came.replace(self.came.get() + 1);
                while self.done.get() != turn {
                    self.in_flight.changed(self.in_flight.state()).await;
                }
                self.play(jobs, &servers, send).await;
                self.done.set(turn + 1);
            }
            Request::Answer { question, answer } => self.outside.answer(question, answer),
            Request::Shutdown => {
                self.shutdown.cancel();
                environments
                    .close_all(&|notice| announce(notice, send))
                    .await;
                self.in_flight.finished().await;
            }
        }
    }

    async fn play(&self, jobs: Vec<Job>, servers: &[ServerAccess], send: Send<'_>) {
        let (started, late) = (self.clock.now(), RefCell::new(Vec::new()));
        let is_late = || self.clock.now() - started > ORDER_SECONDS;
        let playing = jobs.into_iter().map(async |job| {
            if is_late() {
                late.borrow_mut().push(job.cell);
                return None;
            }
            let playing = self.play_one(&job, servers, send);
            let ask = |id, question| send(Event::Question { id, question }, None);
            self.outside.asking(playing, &ask).await
        });
        let mut playing = stream::iter(playing).buffer_unordered(CONCURRENT_CELLS);
        let mut batch = self.batch();
        while let Some(played) = playing.next().await {
            let Some((result, episode)) = played else {
                continue;
            };
            batch.add(result, episode.as_ref());
            let is_due = self.clock.now() - batch.since > BATCH_SECONDS;
            if is_due || batch.length > BATCH_LENGTH {
                std::mem::replace(&mut batch, self.batch()).send(send);
            }
        }
        drop(playing);
        batch.send(send);
        let cells = late.into_inner();
        if !cells.is_empty() {
            send(Event::NotBegun { cells }, None);
        }
    }

    /// Plays a cell, unless the worker is shutting down.
    async fn play_one(
        &self,
        job: &Job,
        servers: &[ServerAccess],
        send: Send<'_>,
    ) -> Option<(CellResult, Option<Episode>)> {
        if self.shutdown.is_cancelled() {
            return None;
        }
        let announce = |notice| announce(notice, send);
        let opened = async {
            let clock = Rc::clone(&self.clock);
            let recipe = job.recipe.clone();
            let (head, live) = LiveEnvironment::open(
                recipe,
                &self.registry,
                servers,
                clock,
                Rc::new(self.outside.clone()),
                &announce,
            )
            .await?;
            let announce = &announce;
            Ok((Announced { live, announce }, head))
        };
        Some(play_on(job, &self.registry, &*self.clock, &self.shutdown, opened).await)
    }

    fn batch(&self) -> Batch {
        Batch {
            results: Vec::new(),
            texts: Vec::new(),
            length: 0,
            since: self.clock.now(),
            added: (self.wall_clock)(),
        }
    }
}

/// Results that were not sent yet.
struct Batch {
    results: Vec<CellResult>,
    /// The row and the text of the episode of each result.
    texts: Vec<KeptText>,
    /// The length of the texts in UTF-16 units.
    length: usize,
    since: f64,
    /// The time at which its episodes are added to the library.
    added: f64,
}

impl Batch {
    fn add(&mut self, result: CellResult, episode: Option<&Episode>) {
        let texts = match episode {
            None => ["", ""].map(KeptText::from),
            Some(episode) => {
                let mut row = Row::of(episode, Vec::new());
                row.added = Some(self.added);
                let text = native::to_text(episode).into();
                let stored = StoredEpisode::new(row, text, EVALUATED);
                [stored.row, stored.text]
            }
        };
        let lengths = texts.iter().map(|text| text.length() as usize);
        self.length += lengths.sum::<usize>();
        self.texts.extend(texts);
        self.results.push(result);
    }

    fn send(self, send: Send<'_>) {
        if self.results.is_empty() {
            return;
        }
        let results = self.results;
        send(Event::Played { results }, Some(self.texts));
    }
}

fn announce(notice: ServerNotice, send: Send<'_>) {
    let event = match notice {
        ServerNotice::Started(environment) => Event::Started(environment),
        ServerNotice::Stopped { env_id } => Event::Stopped { env_id },
    };
    send(event, None);
}
