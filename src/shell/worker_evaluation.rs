//! The worker's part in evaluations: plays cells beside each other, and keeps several environments for
//! policies that act from the page.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::future::{LocalBoxFuture, join_all};
use futures_util::stream;
use js_sys::Array;
use volary_agent::evaluation::play::play_on;
use volary_agent::evaluation::{CellResult, Job};
use volary_agent::{Cancel, RunnerError, Stage, Stepped};
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_trace::table::Row;
use volary_trace::{Episode, Recipe, native};

use super::database::Packing;
use super::worker_loop::Host;
use super::{spawn, timers};
use crate::evaluate::protocol::{Order, Results, Word};
use crate::library::origin::EVALUATED;
use crate::protocol::{Event, Token};
use crate::storage::{episodes, evaluations};
use crate::workers::live::{Live, Refusal};
use volary_protocol::environments::ServerAccess as Access;

/// So many cells of an order are played at once: environments may wait.
const BESIDE: usize = 16;
/// Played cells are handed over when their texts are so long…
const MOST_TEXT: usize = 500_000;
/// …or when so many seconds have passed.
const LONGEST_SILENCE: f64 = 0.1;

/// No cell is begun after so many seconds of an order: the page may have something else in mind.
const LONGEST_ORDER: f64 = 0.3;
/// What the worker does for evaluations.
#[derive(Default)]
pub(super) struct Evaluating {
    /// The environments that are played from the page; one that is being opened or stepped is taken out.
    stages: RefCell<BTreeMap<Token, Option<Live>>>,
    /// Cells to be played, an order after the other.
    plays: RefCell<VecDeque<(Vec<Job>, Vec<Access>)>>,
    is_playing: Cell<bool>,
    /// How many orders are not done yet.
    under_way: Cell<usize>,
    /// Whether it shall come to an end.
    end: Cancel,
}

/// Cells that were played and not handed over yet.
struct Batch {
    /// The results as the page reads them, which are also what is kept of them.
    results: Results,
    packing: Packing,
    since: f64,
    /// When its episodes are added to those that are kept.
    added: f64,
}

impl Batch {
    fn add(&mut self, job: &Job, result: CellResult, episode: Option<Episode>) {
        if let Some(episode) = episode {
            let mut row = Row::of(&episode, Vec::new());
            row.added = Some(self.added);
            episodes::pack_new(&mut self.packing, row, EVALUATED, |out| {
                native::write_text(out, &episode);
            });
        }
        let text = self.results.add(&result);
        evaluations::pack_result(&mut self.packing, &job.evaluation, job.cell, text);
    }
}

impl Host {
    /// Does what an evaluation wants; orders don't wait for each other, but for cells to be played.
    pub(super) fn order(self: Rc<Self>, order: Order) {
        let under_way = &self.evaluating.under_way;
        under_way.set(under_way.get() + 1);
        spawn(async move {
            match order {
                Order::Play { jobs, servers } => {
                    self.evaluating
                        .plays
                        .borrow_mut()
                        .push_back((jobs, servers));
                    self.play_all().await;
                }
                Order::Open {
                    token,
                    recipe,
                    actions,
                    servers,
                } => self.open_stage(token, recipe, actions, &servers).await,
                Order::Step { token, action } => self.step_stage(token, action).await,
                Order::Leave { token } => {
                    let stage = self.evaluating.stages.borrow_mut().remove(&token);
                    if let Some(live) = stage.flatten() {
                        self.leave(live).await;
                    }
                }
                Order::End => {
                    self.evaluating.end.cancel();
                    let stages = std::mem::take(&mut *self.evaluating.stages.borrow_mut());
                    let stages = stages.into_values().flatten();
                    join_all(stages.map(|live| self.leave(live))).await;
                }
            }
            let under_way = &self.evaluating.under_way;
            under_way.set(under_way.get() - 1);
            if self.evaluating.end.is_cancelled() && under_way.get() == 0 {
                self.word(&Word::Idle);
            }
        });
    }

    async fn play_all(&self) {
        let evaluating = &self.evaluating;
        if evaluating.is_playing.replace(true) {
            return;
        }
        let next = || evaluating.plays.borrow_mut().pop_front();
        while let Some((jobs, servers)) = next() {
            self.play(jobs, &servers).await;
        }
        evaluating.is_playing.set(false);
    }

    async fn play(&self, jobs: Vec<Job>, servers: &[Access]) {
        let (started, left) = (self.clock.now(), RefCell::new(Vec::new()));
        let is_late = || self.clock.now() - started > LONGEST_ORDER;
        let playing = jobs.into_iter().map(async |job| {
            if is_late() {
                left.borrow_mut().push(job.cell);
                return None;
            }
            let played = self.play_one(&job, servers).await?;
            Some((job, played))
        });
        let mut playing = stream::iter(playing).buffer_unordered(BESIDE);
        let mut batch = self.batch();
        while let Some(played) = playing.next().await {
            let Some((job, (result, episode))) = played else {
                continue;
            };
            batch.add(&job, result, episode);
            let is_long = self.clock.now() - batch.since > LONGEST_SILENCE;
            if is_long || batch.packing.length() > MOST_TEXT {
                self.hand_over(std::mem::replace(&mut batch, self.batch()));
            }
        }
        drop(playing);
        self.hand_over(batch);
        let cells = left.into_inner();
        if !cells.is_empty() {
            self.word(&Word::Left { cells });
        }
    }

    /// Plays a cell, unless it shall come to an end.
    async fn play_one(
        &self,
        job: &Job,
        servers: &[Access],
    ) -> Option<(CellResult, Option<Episode>)> {
        let end = &self.evaluating.end;
        if end.is_cancelled() {
            return None;
        }
        let opened = async {
            let (head, live) = self.enter(job.recipe.clone(), servers).await?;
            Ok((Told { host: self, live }, head))
        };
        Some(play_on(job, &self.registry, &*self.clock, end, opened).await)
    }

    /// Opens an environment, and tells the page if it is on a server.
    async fn enter(&self, recipe: Recipe, servers: &[Access]) -> Result<(Episode, Live), Refusal> {
        let clock = Rc::clone(&self.clock);
        let known = RefCell::new(None);
        let begun = |url: &Text, env_id: &Text| {
            known.replace(Some(env_id.clone()));
            let (url, env_id) = (url.clone(), env_id.clone());
            self.word(&Word::Opened { url, env_id });
        };
        let opened = Live::open(recipe, &self.registry, servers, clock, &begun).await;
        if let (Err(_), Some(env_id)) = (&opened, known.take()) {
            self.word(&Word::Closed { env_id });
        }
        opened
    }

    async fn leave(&self, live: Live) {
        Told { host: self, live }.close().await;
    }

    fn word(&self, word: &Word) {
        // A text can always be cloned to the page.
        let _ = self.scope.post_message(&word.to_text().into());
    }

    fn batch(&self) -> Batch {
        Batch {
            results: Results::default(),
            packing: Packing::default(),
            since: self.clock.now(),
            added: timers::wall_clock(),
        }
    }

    /// A letter: what the page reads, then the parcel, which it only passes on.
    fn hand_over(&self, batch: Batch) {
        if batch.results.is_empty() {
            return;
        }
        let parcel = batch.packing.finish();
        let letter = Array::of2(&batch.results.finish().into(), parcel.as_js());
        // Texts and bytes can always be handed to the page.
        let _ = (self.scope).post_message_with_transfer(&letter, &parcel.buffers());
    }

    async fn open_stage(
        &self,
        token: Token,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        servers: &[Access],
    ) {
        self.evaluating.stages.borrow_mut().insert(token, None);
        let (head, mut live) = match self.enter(recipe, servers).await {
            Ok(opened) => opened,
            Err(refusal) => return self.fail(token, &refusal.into()),
        };
        self.say(&Event::Opened { token, head });
        let (mut steps, mut patches) = (Vec::new(), Vec::new());
        for action in actions {
            match live.step(action).await {
                Ok(stepped) => {
                    steps.push(stepped.record);
                    patches.push(stepped.frame);
                }
                Err(error) => {
                    self.fail(token, &error);
                    return self.leave(live).await;
                }
            }
        }
        self.say(&Event::Stepped {
            token,
            steps,
            patches,
        });
        self.say(&Event::Finished {
            token,
            notes: Vec::new(),
        });
        self.put_back(token, live).await;
    }

    async fn step_stage(&self, token: Token, action: AnyMessage) {
        // Taken out for the time of the step: a step may wait, and no borrow may.
        let stage = self
            .evaluating
            .stages
            .borrow_mut()
            .get_mut(&token)
            .map(Option::take);
        let Some(Some(mut live)) = stage else {
            self.say(&Event::Gone { token });
            return;
        };
        match live.step(action).await {
            Ok(stepped) => self.say(&Event::Stepped {
                token,
                steps: vec![stepped.record],
                patches: vec![stepped.frame],
            }),
            Err(error) => self.fail(token, &error),
        }
        self.put_back(token, live).await;
    }

    /// Puts an environment back, unless the page has left it meanwhile.
    async fn put_back(&self, token: Token, live: Live) {
        let left = match self.evaluating.stages.borrow_mut().get_mut(&token) {
            Some(place) => {
                *place = Some(live);
                None
            }
            None => Some(live),
        };
        if let Some(live) = left {
            self.leave(live).await;
        }
    }

    /// Says that an environment is of no more use, or that its whole server is.
    fn fail(&self, token: Token, error: &RunnerError) {
        let reason = error.to_string().into();
        self.say(&match error {
            RunnerError::Elsewhere {
                concerns_all: true, ..
            } => Event::Lost { token, reason },
            _ => Event::Refused {
                token,
                reason,
                key: None,
            },
        });
    }
}

/// An environment whose end the page is told of, if it is on a server.
struct Told<'host> {
    host: &'host Host,
    live: Live,
}

impl Stage for Told<'_> {
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        self.live.step(action)
    }

    fn close(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            Stage::close(&mut self.live).await;
            if let Some((_, env_id)) = self.live.names() {
                let env_id = env_id.clone();
                self.host.word(&Word::Closed { env_id });
            }
        })
    }
}
