//! Session and worker together: sends commands, takes events in, and tells the panes of what changed
//! at most once a frame, however fast the steps come.
//!
//! What always holds: the episode changes at once, so that a policy sees the truth; signals are
//! notified later, so that the page is drawn no more often than it is painted.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_trace::{Episode, Recipe};

use super::drive::Run;
use super::session::{Change, Refusal, Session};
use super::state::Playground;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::protocol::{Command, Event};
use crate::shell::worker_link::{Report, WorkerLink};
use crate::shell::{self, timers};

/// The least time between two notifications, in seconds.
const FRAME: f64 = 0.016;

/// After so many workers that were lost without a word, no more are started before they are needed.
const MOST_LOSSES: u32 = 3;

/// What the engine keeps to itself.
#[derive(Default)]
pub struct Engine {
    link: Option<WorkerLink>,
    /// Which worker this is; reports of former ones are dropped.
    generation: u32,
    waiting: Vec<Waker>,
    /// When the panes were told last, in seconds.
    notified: f64,
    /// How long they took to draw it, in seconds.
    cost: f64,
    due: bool,
    /// How many workers were lost without a word.
    losses: u32,
}

/// When the panes are told of a change.
enum Told {
    Now,
    NextFrame,
    /// That was arranged before.
    Soon,
}

impl Playground {
    /// Starts the worker before it is needed.
    pub fn warm_up(self) {
        if self.engine.with_value(|engine| engine.link.is_some()) {
            return;
        }
        let generation = self
            .engine
            .try_update_value(|engine| {
                engine.generation += 1;
                engine.generation
            })
            .unwrap_or_default();
        match WorkerLink::start(move |report| self.hear(generation, report)) {
            Ok(link) => self.engine.update_value(|engine| engine.link = Some(link)),
            Err(reason) => self.alert(Notice::new(
                "The environment's worker could not be started.",
                reason,
                "Load the page again; if that does not help, use another browser.",
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
        let id = Text::from(format!("{:013x}", shell::random_number()));
        let name = match &recipe.task {
            Some(task) => format!("{} {}", recipe.environment, task.id),
            None => recipe.environment.to_string(),
        };
        let command = self
            .session
            .try_update_untracked(|session| session.open(recipe, actions, id, name.into()));
        if let Some(command) = command {
            self.send(&command);
            self.tell();
        }
    }

    /// Whether an action may be taken.
    pub fn may_step(self) -> Result<(), Refusal> {
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
            recipe.is_some_and(|recipe| self.entry(&recipe.environment).is_some())
        })
    }

    /// Takes an action.
    pub fn take_action(self, action: AnyMessage) {
        self.command(|session, episode| session.step(episode, action));
    }

    /// Goes back to a step: the episode is run again up to there.
    pub fn go_back(self, steps: usize) {
        self.halt();
        self.depart_from_link();
        self.command(|session, episode| session.go_back(episode, steps));
    }

    /// Shows an episode that comes from elsewhere.
    pub fn show(self, episode: Episode) {
        self.halt();
        self.keep_former();
        if let Some(recipe) = &episode.recipe {
            self.show_recipe(recipe);
        }
        *self.episode.write_untracked() = Arc::new(episode);
        self.session.update_untracked(|session| session.show());
        self.replaced();
        self.tell();
    }

    /// Ends a worker that takes too long, and brings the episode back to its last good step.
    pub fn end_worker(self) {
        self.drop_worker();
        let command = self.session.try_update_untracked(|session| {
            self.episode
                .try_update_untracked(|episode| session.interrupted(Arc::make_mut(episode)))
                .flatten()
        });
        self.warm_up();
        if let Some(command) = command.flatten() {
            self.send(&command);
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
        let advice = match refusal {
            Refusal::Busy => "Wait for it, or press Stop.",
            Refusal::Over => "Reset, or go back to an earlier step and on from there.",
            Refusal::NoRecipe | Refusal::Unknown => {
                "Look at it here, or pick an environment and start an episode of your own."
            }
            Refusal::Nothing => "Pick an environment and press Reset.",
        };
        self.alert(Notice::new(
            "That can't be done now.",
            refusal.to_string(),
            advice,
        ));
    }

    fn command(self, ask: impl FnOnce(&mut Session, &mut Episode) -> Result<Command, Refusal>) {
        let answer = self.session.try_update_untracked(|session| {
            self.episode
                .try_update_untracked(|episode| ask(session, Arc::make_mut(episode)))
        });
        match answer.flatten() {
            Some(Ok(command)) => {
                self.send(&command);
                self.tell();
            }
            Some(Err(refusal)) => self.refuse(refusal),
            None => {}
        }
    }

    fn send(self, command: &Command) {
        self.warm_up();
        self.engine.with_value(|engine| {
            if let Some(link) = &engine.link {
                link.post(&command.to_text());
            }
        });
    }

    fn hear(self, generation: u32, report: Report) {
        if self.engine.with_value(|engine| engine.generation) != generation {
            return;
        }
        if let Report::Said(_) = report {
            self.engine.update_value(|engine| engine.losses = 0);
        }
        match report {
            Report::Said(text) => match Event::read(&text) {
                Ok(Event::Panicked { message }) => self.lose(message),
                Ok(event) => self.take_in(event),
                Err(error) => self.lose(error.to_string().into()),
            },
            Report::Lost { message } => self.lose(message.into()),
        }
    }

    fn take_in(self, event: Event) {
        let before = self.episode.with_untracked(|episode| episode.steps.len());
        if self
            .session
            .with_untracked(|session| session.finishes_new(&event))
        {
            self.keep_former();
        }
        let change = self.session.try_update_untracked(|session| {
            self.episode
                .try_update_untracked(|episode| session.receive(event, Arc::make_mut(episode)))
        });
        match change.flatten() {
            None => {}
            Some(Err(error)) => self.lose(error.to_string().into()),
            Some(Ok(change)) => {
                self.act_on(change, before);
                self.tell();
                self.wake();
            }
        }
    }

    fn act_on(self, change: Change, before: usize) {
        match change {
            Change::Nothing => {}
            Change::Appended => {
                let mut selected = self.selected.write_untracked();
                if *selected == before {
                    *selected = self.episode.with_untracked(|episode| episode.steps.len());
                }
            }
            Change::Replaced { differs, then, .. } => {
                if let Some(step) = differs {
                    self.say(format!(
                        "Running it again gave something else than the record, from step {step} on. \
                         What is shown now is what happened here."
                    ));
                }
                self.replaced();
                if let Some(action) = then {
                    self.take_action(action);
                }
            }
            Change::Refused { reason, key } => {
                if let Some(key) = &key {
                    let form = self.setup.form;
                    form.update(|form: &mut Form| form.refuse(key, &reason));
                }
                self.alert(Notice::new(
                    "The environment did not take that.",
                    reason.to_string(),
                    "Change what is marked and try again; the episode that is shown is as it was.",
                ));
            }
            Change::Gone { action } => self.take_action(action),
            Change::Crashed { message } => self.alert(Notice::new(
                "The environment broke down; the episode ended with it.",
                message.to_string(),
                "All steps so far are kept. Go back to an earlier step to go on from there, or Reset.",
            )),
        }
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
        self.act_on(change.flatten().unwrap_or(Change::Nothing), before);
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

    fn drop_worker(self) {
        let link = self.engine.try_update_value(|engine| {
            engine.generation += 1;
            engine.link.take()
        });
        // It may be its own handler that runs here, so it goes a little later.
        shell::spawn(async move { drop(link) });
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

    /// Lets the panes know, now or with the next frame.
    pub(super) fn tell(self) {
        // In a run, drawing gets a third of the time at most: the rest is for the steps.
        let running = self.drive.run.get_untracked() != Run::Idle;
        let now = timers::now();
        let told = self.engine.try_update_value(|engine| {
            let pace = if running { 3.0 * engine.cost } else { 0.0 };
            if now - engine.notified >= FRAME.max(pace) {
                return Told::Now;
            }
            match std::mem::replace(&mut engine.due, true) {
                true => Told::Soon,
                false => Told::NextFrame,
            }
        });
        match told {
            Some(Told::Now) => self.notify(),
            Some(Told::NextFrame) => timers::next_frame(move || self.tell_due()),
            Some(Told::Soon) | None => {}
        }
    }

    /// The frame has come for which [`Playground::tell`] waited; it may still be too early.
    fn tell_due(self) {
        self.engine.update_value(|engine| engine.due = false);
        self.tell();
    }

    fn notify(self) {
        let started = timers::now();
        self.engine.update_value(|engine| engine.notified = started);
        self.session.notify();
        self.episode.notify();
        self.selected.notify();
        shell::spawn(async move {
            // What was notified is drawn before this comes back.
            timers::sleep(Duration::ZERO).await;
            self.engine
                .update_value(|engine| engine.cost = timers::now() - started);
        });
    }

    fn wake(self) {
        let waiting = self
            .engine
            .try_update_value(|engine| std::mem::take(&mut engine.waiting));
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}
