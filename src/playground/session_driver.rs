//! Session and worker together: sends commands, takes events in, and tells the panes of what changed
//! at most once a frame, however fast the steps come.
//!
//! What always holds: the episode changes at once, so that a policy sees the truth; signals are
//! notified later, so that the page is drawn no more often than it is painted.

mod changes;
mod telling;

use std::sync::Arc;
use std::task::{Poll, Waker};

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_protocol::environments::{EnvironmentId, Event, Request};
use volary_remote::task;
use volary_trajectory::{Episode, Recipe};

use super::questions;
use super::remote_environments::Abroad;
use super::state::Playground;
use crate::browser;
use crate::browser::lazy::Unloaded;
use crate::browser::timers::Alarm;
use crate::browser::worker_client::{Replies, WorkerClient};
use crate::projection::notice::Notice;
use crate::python;
use volary_app::playground::redraw::RedrawThrottle;
use volary_app::playground::session::{Change, Command, Refusal, Session};
use volary_protocol::WorkerLoss;

/// After so many workers that were lost without a word, no more are started before they are needed.
const MOST_LOSSES: u32 = 3;

/// What the engine keeps to itself.
#[derive(Default)]
pub struct Engine {
    worker: Option<WorkerClient>,
    waiting: Vec<Waker>,
    redraws: RedrawThrottle,
    /// Rings when a step takes its time.
    late: Option<Alarm>,
    /// How many workers were lost without a word.
    losses: u32,
    /// What is open on servers.
    pub(super) abroad: Vec<Abroad>,
}

impl Playground {
    /// Starts the worker before it is needed, unless it is there and works.
    pub fn warm_up(self) {
        let is_working = |worker: &WorkerClient| !worker.is_lost();
        if self
            .engine
            .with_value(|engine| engine.worker.as_ref().is_some_and(is_working))
        {
            return;
        }
        match WorkerClient::start() {
            Ok(worker) => self
                .engine
                .update_value(|engine| engine.worker = Some(worker)),
            Err(reason) => self.alert(Notice::new(
                "The environment's worker failed to start.",
                reason,
                "Reload the page. If that does not help, use another browser.",
            )),
        }
    }

    /// Opens an episode in the place of the shown one.
    pub fn open(self, recipe: Recipe, actions: Vec<AnyMessage>) {
        self.halt();
        if self.session.with_untracked(Session::is_busy) {
            // Nobody waits for what that worker is doing, and it may never end.
            self.drop_worker();
        }
        let (id, name) = self.names(Some(&recipe));
        let command = self
            .session
            .try_update_untracked(|session| session.open(recipe, actions, id, name));
        if let Some(command) = command {
            self.send(command);
            self.tell();
        }
    }

    /// The id and the name of a new episode.
    pub(super) fn names(self, recipe: Option<&Recipe>) -> (Text, Text) {
        let id = format!("{:013x}", browser::random_number());
        let name = recipe.map_or_else(String::new, |recipe| match &recipe.task {
            Some(task) => format!("{} {}", recipe.environment, task.id),
            None => recipe.environment.to_string(),
        });
        (id.into(), name.into())
    }

    /// Whether an action may be taken.
    pub fn may_step(self) -> Result<(), Refusal> {
        if self.waits() {
            return Err(Refusal::Busy);
        }
        self.session
            .with(|session| self.episode.with(|episode| session.may_step(episode)))?;
        self.is_known().then_some(()).ok_or(Refusal::Unknown)
    }

    /// Whether one may go back to an earlier step, and on from there.
    pub fn may_go_back(self) -> bool {
        !self.session.with(Session::is_busy) && self.is_known()
    }

    /// Whether the environment of the episode can be made here.
    fn is_known(self) -> bool {
        self.episode.with(|episode| {
            let recipe = episode.recipe.as_ref();
            recipe.is_some_and(|recipe| self.knows(&recipe.environment))
        })
    }

    /// Takes an action.
    pub fn take_action(self, action: AnyMessage) {
        self.command(|session, episode| session.step(episode, action));
    }

    /// Goes back to a step: the episode is run again up to there.
    pub fn go_back(self, steps: usize) {
        self.halt();
        self.keep_played();
        if self.is_abroad() {
            self.say("Starting a new environment on the server and repeating the actions there.");
        }
        self.command(|session, episode| session.go_back(episode, steps));
    }

    /// Shows an episode that comes from elsewhere.
    pub fn show(self, episode: Episode) {
        self.halt();
        self.leave_servers();
        self.keep_former();
        if let Some(recipe) = &episode.recipe {
            self.show_recipe(recipe);
        }
        self.begin_with(episode);
    }

    /// Shows a record where nothing has to be left for it.
    pub(super) fn begin_with(self, episode: Episode) {
        *self.episode.write_untracked() = Arc::new(episode);
        self.session.update_untracked(|session| session.show());
        self.replaced();
        self.tell();
    }

    /// Ends a worker that takes too long, and brings the episode back to its last good step.
    pub fn end_worker(self) {
        if self.is_abroad() && self.session.with_untracked(Session::is_stepping) {
            // Nobody knows whether the server takes the step all the same, so nothing is run again
            // unless the person says so.
            return self.lose(
                "The server did not answer in time. It is unknown whether it took the step.".into(),
            );
        }
        if untrack(|| self.is_python_chosen()) {
            python::runtime::stop();
        }
        self.drop_worker();
        let command = self.session.try_update_untracked(|session| {
            self.episode
                .try_update_untracked(|episode| session.interrupted(Arc::make_mut(episode)))
                .flatten()
        });
        self.warm_up();
        if let Some(command) = command.flatten() {
            self.send(command);
        }
        self.replaced();
        self.tell();
        self.wake();
    }

    /// Shows the episode again that was shown before.
    pub fn bring_back(self) {
        if let Some(former) = self.former.try_update(Option::take).flatten() {
            self.show(Episode::clone(&former));
        }
    }

    fn keep_former(self) {
        self.keep_played();
        let former = self.episode.get_untracked();
        if !former.steps.is_empty() {
            self.former.set(Some(former));
        }
    }

    /// Resolves when nothing is under way.
    pub async fn settled(self) {
        std::future::poll_fn(|context| {
            if self.session.with_untracked(|session| !session.is_busy()) {
                return Poll::Ready(());
            }
            self.engine
                .update_value(|engine| engine.waiting.push(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Says why something can't be done now.
    pub fn refuse(self, refusal: Refusal) {
        self.alert(Notice::new(
            "This is not possible right now.",
            refusal.to_string(),
            refusal.advice(),
        ));
    }

    fn command(self, ask: impl FnOnce(&mut Session, &mut Episode) -> Result<Command, Refusal>) {
        let answer = self.session.try_update_untracked(|session| {
            self.episode
                .try_update_untracked(|episode| ask(session, Arc::make_mut(episode)))
        });
        match answer.flatten() {
            Some(Ok(command)) => {
                let is_step = matches!(command, Command::Step { .. });
                self.send(command);
                match is_step {
                    true => self.tell_of_step(),
                    false => self.tell(),
                }
            }
            Some(Err(refusal)) => self.refuse(refusal),
            None => {}
        }
    }

    fn send(self, command: Command) {
        self.warm_up();
        let environment = command.environment();
        let request = match command {
            Command::Open {
                environment,
                recipe,
                actions,
            } => Request::Open {
                environment,
                servers: self.access(&recipe),
                recipe,
                actions,
            },
            Command::Step {
                environment,
                action,
            } => Request::Step {
                environment,
                action,
            },
        };
        if let Request::Open { recipe, .. } = &request
            && task::python_file(&recipe.environment).is_some()
        {
            self.engine.with_value(|engine| {
                if let Some(worker) = &engine.worker {
                    worker.give_python_port(python::runtime::port);
                }
            });
        }
        if let Some(replies) = self.call(&request) {
            browser::spawn(self.take_replies(environment, replies));
        }
    }

    /// Sends a request that has no replies.
    pub(super) fn send_request(self, request: &Request) {
        drop(self.call(request));
    }

    fn call(self, request: &Request) -> Option<Replies<Event>> {
        self.engine
            .with_value(|engine| Some(engine.worker.as_ref()?.call(request)))
    }

    /// Applies the replies to a command as they arrive. They end with the worker.
    async fn take_replies(self, environment: EnvironmentId, mut replies: Replies<Event>) {
        while let Some(reply) = replies.next().await {
            match reply {
                Ok(reply) => {
                    self.engine.update_value(|engine| engine.losses = 0);
                    self.take_in(environment, reply.event);
                }
                Err(WorkerLoss::Unloaded) => self.go_without(),
                Err(WorkerLoss::Crashed { message }) => self.lose(message),
            }
        }
    }

    /// Closes every environment but one, which is open now.
    fn close_others(self, environment: EnvironmentId) {
        let request = Request::CloseOthers { environment };
        let Some(mut replies) = self.call(&request) else {
            return;
        };
        browser::spawn(async move {
            while let Some(Ok(reply)) = replies.next().await {
                self.note_abroad(&reply.event);
            }
        });
    }

    fn take_in(self, environment: EnvironmentId, event: Event) {
        if let Event::Question { id, question } = event {
            return questions::ask(self, id, question);
        }
        let is_awaited = |session: &Session| session.awaited() == Some(environment);
        if self.session.with_untracked(is_awaited) {
            self.engine.update_value(|engine| engine.late = None);
        }
        let before = self.episode.with_untracked(|episode| episode.steps.len());
        self.note_abroad(&event);
        if self
            .session
            .with_untracked(|session| session.finishes_new(environment, &event))
        {
            self.keep_former();
        }
        let change = self.session.try_update_untracked(|session| {
            self.episode.try_update_untracked(|episode| {
                session.receive(environment, event, Arc::make_mut(episode))
            })
        });
        match change.flatten() {
            None => {}
            Some(Err(error)) => self.lose(error.to_string().into()),
            Some(Ok(change)) => {
                if matches!(change, Change::Replaced { .. }) {
                    self.close_others(environment);
                }
                self.write_aside(before);
                self.act_on(change, before);
                self.tell();
                self.wake();
            }
        }
    }

    /// Writes down with a new step what else is known of it.
    fn write_aside(self, before: usize) {
        let steps = self.episode.with_untracked(|episode| episode.steps.len());
        if steps != before + 1 {
            return;
        }
        let Some(aside) = self.drive.aside.try_update_value(Option::take).flatten() else {
            return;
        };
        self.episode.update_untracked(|episode| {
            let episode = Arc::make_mut(episode);
            if aside.details.model.is_some() {
                episode.model.clone_from(&aside.details.model);
            }
            if let Some(step) = episode.steps.last_mut() {
                step.details = aside.details;
                step.extras = aside.extras;
            }
        });
    }

    /// The worker is of no more use.
    fn lose(self, message: Text) {
        self.drop_worker();
        self.halt();
        let before = self.episode.with_untracked(|episode| episode.steps.len());
        let change = self.session.try_update_untracked(|session| {
            self.episode
                .try_update_untracked(|episode| session.lost(message, Arc::make_mut(episode)))
        });
        self.write_aside(before);
        self.act_on(change.flatten().unwrap_or(Change::Nothing), before);
        if self.episode.with_untracked(|episode| episode.steps.len()) > before {
            self.played();
        }
        let losses = self.engine.try_update_value(|engine| {
            engine.losses += 1;
            engine.losses
        });
        // Another one stands ready by the time it is needed, unless none ever comes up.
        if losses.is_some_and(|losses| losses < MOST_LOSSES) {
            self.warm_up();
        }
        self.replaced();
        self.tell();
        self.wake();
    }

    /// The worker's code did not come. Whatever needs it next asks for it again.
    fn go_without(self) {
        self.drop_worker();
        self.halt();
        if self.session.try_update_untracked(Session::unloaded) == Some(true) {
            self.say_unloaded("The environments", Unloaded);
        }
        self.tell();
        self.wake();
    }

    fn drop_worker(self) {
        self.leave_servers();
        questions::clear();
        let worker = self
            .engine
            .try_update_value(|engine| engine.worker.take())
            .flatten();
        // Its replies end with it, and may be what runs here.
        drop(worker);
    }

    /// Another episode is shown, or steps were taken away.
    fn replaced(self) {
        let steps = self.episode.with_untracked(|episode| episode.steps.len());
        self.edition.update(|edition| *edition += 1);
        let wanted = self.wanted_step.try_update_value(Option::take).flatten();
        self.selected
            .set(wanted.unwrap_or(steps).min(self.last_step()));
        self.suit_hands();
    }
}
