//! Environments that the page plays action by action. Only this module opens environments and replays actions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::future::join_all;
use volary_agent::{RunnerError, Stage, Stepped};
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Clock, Object};
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{
    EnvironmentId, Event, Question, QuestionId, Request, ServerAccess,
};
use volary_protocol::episode::{CHUNK_STEPS, EpisodeChunk, Steps};

use super::live::{Announce, LiveEnvironment, OpeningRefusal, ServerNotice};
use super::outside::PageOutside;

/// The maximum number of seconds between two chunks of replayed steps, so that the page can show progress.
const REPORT_INTERVAL: f64 = 0.05;

/// Where replies go.
pub type Send<'a> = &'a dyn Fn(Event);

/// The open environments of this worker.
pub struct Environments {
    registry: Registry,
    clock: Rc<dyn Clock>,
    outside: PageOutside,
    /// `None` while an environment is being opened or stepped.
    open: RefCell<BTreeMap<EnvironmentId, Option<LiveEnvironment>>>,
}

impl Environments {
    /// Starts without open environments. Those of the registry can be opened, and those of servers that a request
    /// names.
    pub fn new(registry: Registry, clock: Rc<dyn Clock>) -> Self {
        Environments {
            registry,
            clock,
            outside: PageOutside::default(),
            open: RefCell::default(),
        }
    }

    /// Handles a request. Requests may be handled concurrently.
    pub async fn handle(&self, request: Request, send: Send<'_>) {
        match request {
            Request::Open {
                environment,
                recipe,
                actions,
                servers,
            } => {
                self.open(environment, recipe, actions, &servers, send)
                    .await;
            }
            Request::Step {
                environment,
                action,
            } => self.step(environment, action, send).await,
            Request::Close { environment } => {
                let live = self.open.borrow_mut().remove(&environment);
                close(live.flatten(), send).await;
            }
            Request::CloseOthers { environment } => {
                let others: Vec<LiveEnvironment> = {
                    let mut open = self.open.borrow_mut();
                    let kept = open.remove(&environment);
                    let others = std::mem::take(&mut *open).into_values().flatten();
                    open.extend(kept.map(|kept| (environment, kept)));
                    others.collect()
                };
                for live in others {
                    close(Some(live), send).await;
                }
            }
            Request::Answer { question, answer } => self.outside.answer(question, answer),
        }
    }

    /// Closes all environments.
    pub(super) async fn close_all(&self, announce: Announce<'_>) {
        let open = std::mem::take(&mut *self.open.borrow_mut());
        join_all(
            open.into_values()
                .flatten()
                .map(|live| live.leave(announce)),
        )
        .await;
    }

    async fn open(
        &self,
        environment: EnvironmentId,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        servers: &[ServerAccess],
        send: Send<'_>,
    ) {
        self.open.borrow_mut().insert(environment, None);
        let clock = Rc::clone(&self.clock);
        let given = recipe.clone();
        let opened = self.open_live(recipe, servers, clock, send).await;
        let (head, mut live) = match opened {
            Ok(opened) => opened,
            Err(refusal) => {
                self.open.borrow_mut().remove(&environment);
                return send(refused(refusal));
            }
        };
        send(Event::Episode(EpisodeChunk::Head(Box::new(head))));
        let replayed = self.replay(&mut live, actions.clone(), send);
        if let Err(error) = self.outside.asking(replayed, &question(send)).await {
            self.open.borrow_mut().remove(&environment);
            send(failed(error));
            return close(Some(live), send).await;
        }
        send(Event::Episode(EpisodeChunk::End { notes: Vec::new() }));
        let recorded = live.recorded();
        if differs(&given.configuration, &recorded) {
            send(Event::Recorded {
                members: recorded.clone(),
            });
            if let Some(fresh) = self.without_the_rest(given, recorded, actions).await {
                close(Some(std::mem::replace(&mut live, fresh)), send).await;
            }
        }
        self.put_back(environment, live, send).await;
    }

    /// Opens an episode with only the answers that its steps used. An episode that continues from an earlier step was
    /// recorded with answers for later steps, which do not belong to its new continuation.
    async fn without_the_rest(
        &self,
        mut recipe: Recipe,
        used: Object,
        actions: Vec<AnyMessage>,
    ) -> Option<LiveEnvironment> {
        let is_longer = used
            .iter()
            .any(|(key, _)| recipe.configuration.contains_key(key));
        if !is_longer {
            return None;
        }
        recipe.configuration.extend(used);
        // All answers are recorded, so no question is expected; a question makes the replay fail instead of wait.
        let refuse: Send<'_> = &|event| {
            if let Event::Question { id, .. } = event {
                let reason = "The answer was not recorded.";
                self.outside.answer(id, Err(reason.into()));
            }
        };
        let clock = Rc::clone(&self.clock);
        let (_, mut live) = self.open_live(recipe, &[], clock, refuse).await.ok()?;
        let replayed = self.replay(&mut live, actions, refuse);
        let replayed = self.outside.asking(replayed, &question(refuse)).await;
        replayed.ok().map(|()| live)
    }

    async fn open_live(
        &self,
        recipe: Recipe,
        servers: &[ServerAccess],
        clock: Rc<dyn Clock>,
        send: Send<'_>,
    ) -> Result<(Episode, LiveEnvironment), OpeningRefusal> {
        let announce = |notice| announce(notice, send);
        let outside = Rc::new(self.outside.clone());
        let opened =
            LiveEnvironment::open(recipe, &self.registry, servers, clock, outside, &announce);
        self.outside.asking(opened, &question(send)).await
    }

    /// Takes actions and sends the resulting steps in chunks.
    async fn replay(
        &self,
        live: &mut LiveEnvironment,
        actions: Vec<AnyMessage>,
        send: Send<'_>,
    ) -> Result<(), RunnerError> {
        let mut steps = Steps::default();
        let mut reported = self.clock.now();
        for action in actions {
            let stepped = match live.step(action).await {
                Ok(stepped) => stepped,
                Err(error) => {
                    // The page keeps the steps before the crash.
                    send(Event::Episode(EpisodeChunk::Steps(steps)));
                    return Err(error);
                }
            };
            add(&mut steps, stepped, live.has_frames);
            let now = self.clock.now();
            if steps.records.len() >= CHUNK_STEPS || now - reported > REPORT_INTERVAL {
                reported = now;
                let steps = std::mem::take(&mut steps);
                send(Event::Episode(EpisodeChunk::Steps(steps)));
            }
        }
        if !steps.records.is_empty() {
            send(Event::Episode(EpisodeChunk::Steps(steps)));
        }
        Ok(())
    }

    async fn step(&self, environment: EnvironmentId, action: AnyMessage, send: Send<'_>) {
        // Taken out during the step: a step may wait, and a borrow must not be held across an await.
        let live = self
            .open
            .borrow_mut()
            .get_mut(&environment)
            .and_then(Option::take);
        let Some(mut live) = live else {
            return send(Event::Gone);
        };
        let before = live.recorded();
        let stepped = self
            .outside
            .asking(live.step(action), &question(send))
            .await;
        let recorded = live.recorded();
        if recorded != before {
            send(Event::Recorded { members: recorded });
        }
        match stepped {
            Ok(stepped) => {
                let mut steps = Steps::default();
                add(&mut steps, stepped, live.has_frames);
                send(Event::Episode(EpisodeChunk::Steps(steps)));
            }
            Err(_) if live.is_gone() => {
                self.open.borrow_mut().remove(&environment);
                return send(Event::Gone);
            }
            Err(error) => send(failed(error)),
        }
        self.put_back(environment, live, send).await;
    }

    /// Puts an environment back, or closes it if it was closed meanwhile.
    async fn put_back(&self, environment: EnvironmentId, live: LiveEnvironment, send: Send<'_>) {
        let left = match self.open.borrow_mut().get_mut(&environment) {
            Some(place) => {
                *place = Some(live);
                None
            }
            None => Some(live),
        };
        close(left, send).await;
    }
}

async fn close(live: Option<LiveEnvironment>, send: Send<'_>) {
    if let Some(live) = live {
        live.leave(&|notice| announce(notice, send)).await;
    }
}

fn question(send: Send<'_>) -> impl Fn(QuestionId, Question) {
    move |id, question| send(Event::Question { id, question })
}

/// Whether a configuration lacks one of these recorded members, or has another value for it.
fn differs(configuration: &Object, recorded: &Object) -> bool {
    let mut members = recorded.iter();
    members.any(|(key, value)| configuration.get(key) != Some(value))
}

fn announce(notice: ServerNotice, send: Send<'_>) {
    send(match notice {
        ServerNotice::Started(environment) => Event::Started(environment),
        ServerNotice::Stopped { env_id } => Event::Stopped { env_id },
    });
}

fn add(steps: &mut Steps, stepped: Stepped, has_frames: bool) {
    steps.records.push(stepped.record);
    steps.patches.extend(has_frames.then_some(stepped.frame));
}

fn refused(refusal: OpeningRefusal) -> Event {
    Event::Refused {
        reason: refusal.reason,
        key: refusal.key,
        is_server_lost: refusal.concerns_all,
    }
}

/// After a crash or the loss of a server it is unknown whether the action was taken; any other error refuses it.
fn failed(error: RunnerError) -> Event {
    match error {
        RunnerError::Crashed { message } => Event::Lost {
            reason: message,
            is_server_lost: false,
        },
        RunnerError::Elsewhere {
            message,
            concerns_all,
        } => Event::Lost {
            reason: message,
            is_server_lost: concerns_all,
        },
        error => refused(error.into()),
    }
}

#[cfg(test)]
mod tests;
