//! Plays cells of an evaluation without the page: several concurrently, because environments may wait.
//!
//! Invariants: a batch of results is sent with the texts to store, which the page only passes on. Orders to play are
//! carried out in the order in which they arrived.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::{StreamExt, future, stream};
use volary_agent::Cancel;
use volary_agent::evaluation::play::play_on;
use volary_agent::evaluation::{CellResult, Job};
use volary_analysis::table::Row;
use volary_core::Clock;
use volary_core::registry::Registry;
use volary_episode::{Episode, native};
use volary_protocol::environments::ServerAccess;
use volary_protocol::evaluation::{Event, Request};

use super::batches::{BatchLimits, send_in_batches};
use super::environments::Environments;
use super::live::{Announced, LiveEnvironment, ServerNotice};
use super::outside::PageOutside;
use volary_browser::database::KeptText;
use volary_core::in_flight::InFlight;
use volary_storage::episodes::StoredEpisode;
use volary_storage::origin::EVALUATED;

/// The maximum number of concurrent cells of an order.
const CONCURRENT_CELLS: usize = 16;
/// When a batch of results is sent. The length is that of its texts, in UTF-16 units.
const BATCH: BatchLimits = BatchLimits {
    length: 500_000,
    seconds: 0.1,
};
/// No cell is started this many seconds after the start of an order: the page may want something else by then.
const ORDER_SECONDS: f64 = 0.3;

/// Sends an event, with the [texts](EpisodeText) of each result.
pub type Send<'a, T> = &'a dyn Fn(Event, Option<Vec<T>>);

/// A text that the page stores. A trait, so that tests need no JavaScript strings.
pub trait EpisodeText: Sized {
    /// The row and the text of an episode; empty texts if there is none.
    fn of(episode: Option<&Episode>) -> [Self; 2];

    /// The length in UTF-16 units.
    fn length(&self) -> usize;
}

impl EpisodeText for KeptText {
    fn of(episode: Option<&Episode>) -> [Self; 2] {
        let Some(episode) = episode else {
            return ["", ""].map(KeptText::from);
        };
        let row = Row::of(episode, Vec::new());
        let text = native::to_text(episode).into();
        let stored = StoredEpisode::new(row, text, EVALUATED);
        [stored.row, stored.text]
    }

    fn length(&self) -> usize {
        KeptText::length(self) as usize
    }
}

/// The evaluation service of a worker.
pub struct EvaluationService {
    registry: Registry,
    clock: Rc<dyn Clock>,
    /// The number of orders received.
    came: Cell<u64>,
    done: Cell<u64>,
    in_flight: InFlight,
    shutdown: Cancel,
    outside: PageOutside,
}

impl EvaluationService {
    /// Creates a service that plays environments of this registry, and those of servers that a request names.
    pub fn new(registry: Registry, clock: Rc<dyn Clock>) -> Self {
        EvaluationService {
            registry,
            clock,
            came: Cell::new(0),
            done: Cell::new(0),
            in_flight: InFlight::default(),
            shutdown: Cancel::default(),
            outside: PageOutside::default(),
        }
    }

    /// Handles a request. `environments` are those that the page plays in this worker.
    pub async fn handle<T: EpisodeText>(
        &self,
        request: Request,
        environments: &Environments,
        send: Send<'_, T>,
    ) {
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

    async fn play<T: EpisodeText>(
        &self,
        jobs: Vec<Job>,
        servers: &[ServerAccess],
        send: Send<'_, T>,
    ) {
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
        let playing = stream::iter(playing).buffer_unordered(CONCURRENT_CELLS);
        let played = playing
            .filter_map(future::ready)
            .map(|(result, episode)| (result, T::of(episode.as_ref())));
        let length = |(_, texts): &(CellResult, [T; 2])| texts.iter().map(T::length).sum();
        send_in_batches(played, &*self.clock, BATCH, length, |batch| {
            let (mut results, mut texts) = (Vec::new(), Vec::new());
            for (result, stored) in batch {
                results.push(result);
                texts.extend(stored);
            }
            send(Event::Played { results }, Some(texts));
        })
        .await;
        let cells = late.into_inner();
        if !cells.is_empty() {
            send(Event::NotStarted { cells }, None);
        }
    }

    /// Plays a cell, unless the worker is shutting down.
    async fn play_one<T>(
        &self,
        job: &Job,
        servers: &[ServerAccess],
        send: Send<'_, T>,
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
}

fn announce<T>(notice: ServerNotice, send: Send<'_, T>) {
    let event = match notice {
        ServerNotice::Started(environment) => Event::Started(environment),
        ServerNotice::Stopped { env_id } => Event::Stopped { env_id },
    };
    send(event, None);
}

#[cfg(test)]
mod tests;
