//! Connects the session to its worker: sends commands, handles events, and notifies the panes of changes at most once
//! per frame, however fast the steps arrive.
//!
//! Invariant: the episode changes immediately, so that a policy sees the current state; signals are notified later, so
//! that the page is drawn no more often than it is painted.

mod changes;
pub(super) mod redraws;
pub(super) mod second_play;

use std::sync::Arc;
use std::task::{Poll, Waker};

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::chosen_action::ChosenAction;
use volary_app::playground::redraw::RedrawThrottle;
use volary_app::playground::session::{Change, Command, Refusal, Session};
use volary_app::playground::worker_losses::WorkerLosses;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{EnvironmentId, Event, Request};
use volary_protocol::{WorkerLoss, WorkerPart};
use volary_remote::task;

use super::intents;
use super::manual_action;
use super::planned;
use super::questions;
use super::remote_environments::{self, RemoteEnvironment};
use super::run_loop;
use super::saving;
use super::setup;
use super::state::Playground;
use crate::browser;
use crate::browser::lazy::Unloaded;
use crate::browser::timers::Alarm;
use crate::browser::worker_client::{Replies, WorkerClient};
use crate::python::{self, files};

/// The worker of the session, and the tasks that wait for it.
#[derive(Default)]
pub struct SessionDriver {
    worker: Option<WorkerClient>,
    waiting: Vec<Waker>,
    redraws: RedrawThrottle,
    /// Fires when a step is slow.
    late: Option<Alarm>,
    losses: WorkerLosses,
    /// The open environments on servers.
    pub(super) open_remotely: Vec<RemoteEnvironment>,
}

/// Starts the worker before it is needed, unless a working one exists.
pub fn warm_up(playground: Playground) {
    let is_working = |worker: &WorkerClient| !worker.is_lost();
    if playground
        .driver
        .with_value(|driver| driver.worker.as_ref().is_some_and(is_working))
    {
        return;
    }
    match WorkerClient::start(WorkerPart::Environments) {
        Ok(worker) => playground
            .driver
            .update_value(|driver| driver.worker = Some(worker)),
        Err(reason) => playground.alert(Notice::new(
            "The environment's worker failed to start.",
            reason,
            "Reload the page. If that does not help, use another browser.",
        )),
    }
}

/// Opens an episode, replacing the shown one. Python code that the user does not know is shown first, and waits for
/// consent.
pub fn open(playground: Playground, recipe: Recipe, actions: Vec<AnyMessage>) {
    let recipe = files::renamed(recipe);
    if planned::must_show_code(playground, &recipe, &actions) {
        return;
    }
    run_loop::halt(playground);
    playground.reading_stored.set_value(None);
    if playground.session.with_untracked(Session::is_busy) {
        // Nothing waits for the current work of that worker, and it may never end.
        drop_worker(playground);
    }
    let (id, name) = names(Some(&recipe));
    let command = playground
        .session
        .try_update_untracked(|session| session.open(recipe, actions, id, name));
    if let Some(command) = command {
        send(playground, command);
        redraws::redraw(playground);
    }
}

/// Generates the id and the name of a new episode.
pub(super) fn names(recipe: Option<&Recipe>) -> (Text, Text) {
    let id = browser::random_id();
    let name = recipe.map_or_else(String::new, |recipe| {
        let environment = task::shown_name(&recipe.environment);
        match &recipe.task {
            Some(task) => format!("{environment} {}", task.id),
            None => environment.to_owned(),
        }
    });
    (id, name.into())
}

/// Returns whether an action may be taken, or why not.
pub fn may_step(playground: Playground) -> Result<(), Refusal> {
    if intents::waits(playground) {
        return Err(Refusal::Busy);
    }
    playground
        .session
        .with(|session| playground.episode.with(|episode| session.may_step(episode)))?;
    is_known(playground).then_some(()).ok_or(Refusal::Unknown)
}

/// Returns whether the episode may go back to an earlier step and continue from there.
pub fn may_go_back(playground: Playground) -> bool {
    !playground.session.with(Session::is_busy) && is_known(playground)
}

/// Returns whether the environment of the episode can be opened here.
fn is_known(playground: Playground) -> bool {
    playground.episode.with(|episode| {
        let recipe = episode.recipe.as_ref();
        recipe.is_some_and(|recipe| remote_environments::knows(playground, &recipe.environment))
    })
}

pub fn take_action(playground: Playground, action: impl Into<ChosenAction>) {
    command(playground, |session, episode| session.step(episode, action));
}

/// Goes back to a step by replaying the episode up to it.
pub fn go_back(playground: Playground, steps: usize) {
    run_loop::halt(playground);
    saving::keep_played(playground);
    if remote_environments::shows_remote(playground) {
        playground.say("Starting a new environment on the server and repeating the actions there.");
    }
    command(playground, |session, episode| {
        session.go_back(episode, steps)
    });
}

/// Shows an episode that comes from elsewhere.
pub fn show(playground: Playground, mut episode: Episode) {
    episode.recipe = episode.recipe.map(files::renamed);
    run_loop::halt(playground);
    playground.reading_stored.set_value(None);
    remote_environments::leave_servers(playground);
    keep_former(playground);
    if let Some(recipe) = &episode.recipe {
        setup::show_recipe(playground, recipe);
    }
    begin_with(playground, episode);
}

/// Shows a record when there is no shown episode to leave.
pub(super) fn begin_with(playground: Playground, episode: Episode) {
    *playground.episode.write_untracked() = Arc::new(episode);
    playground
        .session
        .update_untracked(|session| session.show());
    replaced(playground);
    redraws::redraw(playground);
}

/// Terminates a worker that takes too long, and restores the episode to its last good step.
pub fn end_worker(playground: Playground) {
    if remote_environments::shows_remote(playground)
        && playground.session.with_untracked(Session::is_stepping)
    {
        // The server may still take the step, so nothing is replayed unless the user asks for it.
        return lose(
            playground,
            "The server did not answer in time. It is unknown whether it took the step.".into(),
        );
    }
    if untrack(|| super::python::is_python_chosen(playground)) {
        python::runtime::stop();
    }
    drop_worker(playground);
    let command = playground.session.try_update_untracked(|session| {
        playground
            .episode
            .try_update_untracked(|episode| session.interrupted(Arc::make_mut(episode)))
            .flatten()
    });
    warm_up(playground);
    if let Some(command) = command.flatten() {
        send(playground, command);
    }
    replaced(playground);
    redraws::redraw(playground);
    redraws::wake(playground);
}

/// Shows the previous episode again.
pub fn bring_back(playground: Playground) {
    if let Some(former) = playground.former.try_update(Option::take).flatten() {
        show(playground, Episode::clone(&former));
    }
}

fn keep_former(playground: Playground) {
    saving::keep_played(playground);
    let former = playground.episode.get_untracked();
    if !former.steps.is_empty() {
        playground.former.set(Some(former));
    }
}

/// Resolves when no operation is in progress.
pub async fn settled(playground: Playground) {
    std::future::poll_fn(|context| {
        if playground
            .session
            .with_untracked(|session| !session.is_busy())
        {
            return Poll::Ready(());
        }
        playground
            .driver
            .update_value(|driver| driver.waiting.push(context.waker().clone()));
        Poll::Pending
    })
    .await;
}

/// Shows a notice with the reason why something is not possible now.
pub fn refuse(playground: Playground, refusal: Refusal) {
    playground.alert(Notice::new(
        "This is not possible right now.",
        refusal.to_string(),
        refusal.advice(),
    ));
}

fn command(
    playground: Playground,
    ask: impl FnOnce(&mut Session, &mut Episode) -> Result<Command, Refusal>,
) {
    let answer = playground.session.try_update_untracked(|session| {
        playground
            .episode
            .try_update_untracked(|episode| ask(session, Arc::make_mut(episode)))
    });
    match answer.flatten() {
        Some(Ok(command)) => {
            let is_step = matches!(command, Command::Step { .. });
            send(playground, command);
            match is_step {
                true => redraws::redraw_for_step(playground),
                false => redraws::redraw(playground),
            }
        }
        Some(Err(refusal)) => refuse(playground, refusal),
        None => {}
    }
}

fn send(playground: Playground, command: Command) {
    warm_up(playground);
    let environment = command.environment();
    let request = command.into_request(|recipe| remote_environments::access(playground, recipe));
    if let Request::Open { recipe, .. } = &request {
        give_python(playground, recipe);
    }
    if let Some(replies) = call(playground, &request) {
        browser::spawn(take_replies(playground, environment, replies));
    }
}

/// Transfers a port to Python to the worker if a recipe needs it.
fn give_python(playground: Playground, recipe: &Recipe) {
    if task::python_file(&recipe.environment).is_some() {
        playground.driver.with_value(|driver| {
            if let Some(worker) = &driver.worker {
                worker.give_python_port(python::runtime::port);
            }
        });
    }
}

/// Sends a request that has no replies.
pub(super) fn send_request(playground: Playground, request: &Request) {
    drop(call(playground, request));
}

fn call(playground: Playground, request: &Request) -> Option<Replies<Event>> {
    playground
        .driver
        .with_value(|driver| Some(driver.worker.as_ref()?.call(request)))
}

/// Applies the replies to a command as they arrive. The stream ends with the worker.
async fn take_replies(
    playground: Playground,
    environment: EnvironmentId,
    mut replies: Replies<Event>,
) {
    while let Some(reply) = replies.next().await {
        match reply {
            Ok(reply) => {
                playground
                    .driver
                    .update_value(|driver| driver.losses.replied());
                take_in(playground, environment, reply.event);
            }
            Err(WorkerLoss::Unloaded) => go_without(playground),
            Err(WorkerLoss::Crashed { message }) => lose(playground, message),
        }
    }
}

/// Closes all environments except the one that is open now.
fn close_others(playground: Playground, environment: EnvironmentId) {
    let request = Request::CloseOthers { environment };
    let Some(mut replies) = call(playground, &request) else {
        return;
    };
    browser::spawn(async move {
        while let Some(Ok(reply)) = replies.next().await {
            remote_environments::note_remote(playground, &reply.event);
        }
    });
}

fn take_in(playground: Playground, environment: EnvironmentId, event: Event) {
    if let Event::Question { id, question } = event {
        return questions::ask(playground, id, question);
    }
    let is_awaited = |session: &Session| session.awaited() == Some(environment);
    if playground.session.with_untracked(is_awaited) {
        playground.driver.update_value(|driver| driver.late = None);
    }
    let before = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    remote_environments::note_remote(playground, &event);
    if playground
        .session
        .with_untracked(|session| session.finishes_new(environment, &event))
    {
        keep_former(playground);
    }
    let change = playground.session.try_update_untracked(|session| {
        playground.episode.try_update_untracked(|episode| {
            session.receive(environment, event, Arc::make_mut(episode))
        })
    });
    match change.flatten() {
        None => {}
        Some(Err(error)) => lose(playground, error.to_string().into()),
        Some(Ok(change)) => {
            if matches!(change, Change::Replaced { .. }) {
                close_others(playground, environment);
            }
            changes::act_on(playground, change, before);
            redraws::redraw(playground);
            redraws::wake(playground);
        }
    }
}

/// Handles the loss of the worker.
fn lose(playground: Playground, message: Text) {
    drop_worker(playground);
    run_loop::halt(playground);
    let before = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    let change = playground.session.try_update_untracked(|session| {
        playground
            .episode
            .try_update_untracked(|episode| session.lost(message, Arc::make_mut(episode)))
    });
    changes::act_on(
        playground,
        change.flatten().unwrap_or(Change::Nothing),
        before,
    );
    if playground
        .episode
        .with_untracked(|episode| episode.steps.len())
        > before
    {
        saving::played(playground);
    }
    let is_replaced = playground
        .driver
        .try_update_value(|driver| driver.losses.lost());
    if is_replaced == Some(true) {
        warm_up(playground);
    }
    replaced(playground);
    redraws::redraw(playground);
    redraws::wake(playground);
}

/// Handles that the worker's code failed to load. The next operation that needs it tries again.
fn go_without(playground: Playground) {
    drop_worker(playground);
    run_loop::halt(playground);
    if playground.session.try_update_untracked(Session::unloaded) == Some(true) {
        intents::say_unloaded(playground, "The environments", Unloaded);
    }
    redraws::redraw(playground);
    redraws::wake(playground);
}

fn drop_worker(playground: Playground) {
    remote_environments::leave_servers(playground);
    questions::clear();
    let worker = playground
        .driver
        .try_update_value(|driver| driver.worker.take())
        .flatten();
    // Dropping the worker ends its replies, and this may run inside one of them.
    drop(worker);
}

/// Handles that another episode is shown, or steps were removed.
fn replaced(playground: Playground) {
    let steps = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    playground.edition.update(|edition| *edition += 1);
    let wanted = playground
        .wanted_step
        .try_update_value(Option::take)
        .flatten();
    playground
        .selected
        .set(wanted.unwrap_or(steps).min(playground.last_step()));
    manual_action::adapt_to_episode(playground);
}
