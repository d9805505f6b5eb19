//! Sends events to the playground's state machine and carries out its effects: worker, players, timers, storage, messages.
//!
//! Invariant: an event is handled completely, with all its effects, before the next one. Events that arrive meanwhile wait
//! in order.
//!

use std::task::Waker;
use std::time::Duration;

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::session::Command;
use volary_app::playground::{Effect, Event};
use volary_protocol::environments::{self, EnvironmentId, Request, ServerEnvironment};
use volary_view::form::Form;

use super::manual_action;
use super::mirror::show_machine;
use super::opening_record;
use super::redraws;
use super::remote_environments;
use super::saving;
use super::setup;
use super::shown_place;
use super::state::Playground;
use super::turns;
use super::url_sync;
use super::worker;
use volary_browser as browser;
use volary_browser::lazy::Unloaded;
use volary_browser::timers::{self};
use volary_browser::worker_client::Replies;

/// How long Stop waits for the step in progress before its worker is ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// Handles an event.
pub fn update(playground: Playground, event: Event) {
    let driver = playground.driver();
    let is_handling = driver.try_update_value(|driver| {
        driver.events.push_back(event);
        std::mem::replace(&mut driver.is_handling, true)
    });
    if is_handling != Some(false) {
        return;
    }
    while let Some(event) = driver
        .try_update_value(|driver| driver.events.pop_front())
        .flatten()
    {
        if event.is_attempt() {
            playground.notice().set(None);
        }
        if event.changes_episode() {
            playground.say("");
        }
        let selected = playground.selected().get_untracked();
        let effects = playground.machine().try_update_value(|machine| {
            // The timeline and the transcript write the selection directly.
            machine.select(selected);
            machine.update(event)
        });
        show_machine(playground);
        for effect in effects.into_iter().flatten() {
            carry_out(playground, effect);
        }
    }
    driver.update_value(|driver| driver.is_handling = false);
    if playground.with_untracked(|machine| !machine.session().is_busy()) {
        let waiting = driver.try_update_value(|driver| std::mem::take(&mut driver.waiting));
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}

fn carry_out(playground: Playground, effect: Effect) {
    match effect {
        Effect::Send(command) => send(playground, command),
        Effect::StartWorker => worker::warm_up(playground),
        Effect::DropWorker => {
            clear_questions(playground);
            let worker = playground
                .driver()
                .try_update_value(|driver| driver.worker.take());
            // Dropping the worker ends its replies, and this may run inside one of them.
            drop(worker);
        }
        Effect::CloseOthers(environment) => close_others(playground, environment),
        Effect::CloseOnServers(open) => {
            for ServerEnvironment { url, env_id } in open {
                playground.with_code("The connection to the server", move |code| {
                    (code.connected.close)(&url, &env_id);
                });
            }
        }
        Effect::StopPython => {
            if let Some(code) = playground.lazy_code_untracked() {
                (code.connected.stop)(playground);
            }
        }
        Effect::Ask { id, question } => {
            playground.with_code("The answer to the environment", move |code| {
                (code.ask)(playground, id, question);
            });
        }
        Effect::Seat { run } => seat(playground, run),
        Effect::Decide { run, steps } => turns::decide(playground, run, steps),
        Effect::Pause { run, seconds } => {
            after(
                playground,
                Duration::from_secs_f64(seconds),
                Event::Paused { run },
            );
        }
        Effect::DropPlayer => turns::drop_player(playground),
        Effect::AwaitStep { edition, steps } => {
            after(playground, PATIENCE, Event::StepIsLate { edition, steps });
        }
        Effect::ChoosePolicy => playground.with_code("The choice of a policy", move |_| {
            playground.policy().is_choosing.set(true);
        }),
        Effect::StartOver => {
            setup::reset(playground);
            update(playground, Event::RunOnceOpened);
        }
        Effect::Configure {
            environment,
            configuration,
        } => setup::configure(playground, &environment, configuration.as_ref()),
        Effect::ShowRecipe(recipe) => setup::show_recipe(playground, &recipe),
        Effect::ShowSeed(seed) => playground.setup().seed.set(seed.to_string()),
        Effect::Reset => setup::reset(playground),
        Effect::Proceed(attempt) => proceed(playground, attempt),
        Effect::ShowOpening => {
            opening_record::begin_known(playground);
        }
        Effect::AgreeToCode(recipe) => {
            if let Some(code) = playground.lazy_code_untracked() {
                (code.connected.agree)(playground, &recipe);
            }
        }
        Effect::RestoreAddress => shown_place::restore(playground),
        Effect::AdaptAction => manual_action::adapt_to_episode(playground),
        Effect::StopPlayback => playground.transfer().playing.set(false),
        Effect::RefuseField { key, reason } => {
            let form = playground.setup().form;
            form.update(|form: &mut Form| form.refuse(&key, &reason));
        }
        Effect::ReadStored { id } => {
            playground.with_code("The stored episode", move |code| {
                (code.read_stored)(playground, id);
            });
        }
        Effect::StoredIsMissing => url_sync::say_not_stored(playground),
        Effect::WriteAddress => url_sync::write_now(playground),
        // At once: the page may be about to close.
        Effect::Store(episode) => saving::store(playground, *episode),
        Effect::Alert(notice) => playground.alert(notice),
        Effect::SayNotConnected(url) => remote_environments::say_not_connected(playground, &url),
        Effect::SayUnloaded => playground.say_unloaded("The environments", Unloaded),
        Effect::Say(text) => playground.say(text.to_string()),
        Effect::Redraw => {
            playground
                .driver()
                .update_value(|driver| driver.late = None);
            redraws::redraw(playground);
        }
        Effect::RedrawForStep => redraws::redraw_for_step(playground),
    }
}

/// Creates the player of a run.
fn seat(playground: Playground, run: u32) {
    browser::spawn(async move {
        match playground.load_code().await {
            Ok(code) => (code.seat)(playground, run),
            Err(error) => {
                playground.say_unloaded("The policy", error);
                playground.update(Event::NotSeated { run });
            }
        }
    });
}

/// Drops all questions because their worker is gone. A later worker reuses their ids.
fn clear_questions(playground: Playground) {
    let questions = playground
        .driver()
        .try_update_value(|driver| driver.questions.take());
    drop(questions);
}

fn proceed(playground: Playground, attempt: EpisodeAttempt) {
    match attempt {
        EpisodeAttempt::Step => manual_action::step(playground),
        EpisodeAttempt::StepByHand => manual_action::step_by_hand(playground),
        EpisodeAttempt::EditLastAction => manual_action::edit_last_action(playground),
        EpisodeAttempt::Run => {
            playground.with_code("The policy", move |code| (code.run)(playground));
        }
        // The machine does these itself.
        EpisodeAttempt::GoBack(_) | EpisodeAttempt::RunAgain => {}
    }
}

/// Handles an event after some time.
fn after(playground: Playground, time: Duration, event: Event) {
    browser::spawn(async move {
        timers::sleep(time).await;
        update(playground, event);
    });
}

fn send(playground: Playground, command: Command) {
    worker::warm_up(playground);
    let environment = command.environment();
    let connected = playground.lazy_code_untracked().map(|code| &code.connected);
    let request = command.into_request(|recipe| {
        connected.map_or_else(Vec::new, |connected| (connected.access)(playground, recipe))
    });
    if let (Request::Open { recipe, .. }, Some(connected)) = (&request, connected) {
        (connected.prepare_worker)(playground, recipe);
    }
    if let Some(replies) = worker::call(playground, &request) {
        browser::spawn(report_replies(playground, environment, replies));
    }
}

/// Reports the replies to a command as they arrive. The stream ends with the worker.
async fn report_replies(
    playground: Playground,
    environment: EnvironmentId,
    mut replies: Replies<environments::Event>,
) {
    let worker = playground.with_untracked(|machine| machine.worker());
    while let Some(reply) = replies.next().await {
        let event = match reply {
            Ok(reply) => Event::Replied {
                worker,
                environment,
                event: reply.event,
            },
            Err(loss) => Event::WorkerLost { worker, loss },
        };
        update(playground, event);
    }
}

/// Closes all environments except the one that is open now.
fn close_others(playground: Playground, environment: EnvironmentId) {
    let request = Request::CloseOthers { environment };
    let Some(mut replies) = worker::call(playground, &request) else {
        return;
    };
    browser::spawn(async move {
        while let Some(Ok(reply)) = replies.next().await {
            update(playground, Event::Closing(reply.event));
        }
    });
}
