//! Sends events to the playground's state machine and carries out its effects: worker, players, timers, storage, messages.
//!
//! Invariant: an event is handled completely, with all its effects, before the next one. Events that arrive meanwhile wait
//! in order.
//!
//! Invariant: every event that opens an episode passes [`update`], which lets no Python code run that the user does not
//! know.

pub(super) mod players;
pub(super) mod redraws;
pub(super) mod second_play;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::AbortHandle;
use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::known::KnownEnvironments;
use volary_app::playground::redraw::RedrawThrottle;
use volary_app::playground::session::{Command, Refusal};
use volary_app::playground::tasks::TaskPlace;
use volary_app::playground::{Effect, Event, episode_name};
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_protocol::WorkerPart;
use volary_protocol::environments::{self, EnvironmentId, Request, ServerEnvironment};
use volary_remote::task;
use volary_view::form::Form;

use super::intents;
use super::manual_action;
use super::planned;
use super::player::Player;
use super::python;
use super::questions::{self, AnswerQuestions};
use super::remote_environments;
use super::saving;
use super::setup;
use super::state::Playground;
use super::url_sync;
use volary_browser as browser;
use volary_browser::lazy::Unloaded;
use volary_browser::timers::{self, Alarm};
use volary_browser::worker_client::{Replies, WorkerClient};
use volary_connections::python::files;

/// How long Stop waits for the step in progress before its worker is ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the effects need from one to the next.
#[derive(Default)]
pub struct SessionDriver {
    worker: Option<WorkerClient>,
    /// The player of the current run, unless it is deciding.
    player: Option<(u32, Box<dyn Player>)>,
    /// Cancels the player's current work.
    abort: Option<AbortHandle>,
    /// Answers the questions of the worker.
    pub(super) questions: Option<Rc<dyn AnswerQuestions>>,
    /// The tasks that wait until no operation is in progress.
    waiting: Vec<Waker>,
    redraws: RedrawThrottle,
    /// Fires when a step is slow.
    late: Option<Alarm>,
    /// Events that arrived while another one is handled.
    events: VecDeque<Event>,
    is_handling: bool,
}

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
        let event = renamed(event);
        if must_show_code(playground, &event) {
            continue;
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

/// The event with the names that Python code has today, so that a name identifies the code.
fn renamed(mut event: Event) -> Event {
    match &mut event {
        Event::Open { recipe, .. } | Event::Replay { recipe, .. } => rename(recipe),
        Event::Show(episode)
        | Event::Rescued(episode)
        | Event::StoredRead {
            episode: Some(episode),
            ..
        } => {
            if let Some(recipe) = &mut episode.recipe {
                rename(recipe);
            }
        }
        _ => {}
    }
    event
}

fn rename(recipe: &mut Recipe) {
    *recipe = files::renamed(std::mem::take(recipe));
}

/// Plans the episode that an event opens if the user does not know its Python code. Returns whether it did; the event
/// is then dropped.
fn must_show_code(playground: Playground, event: &Event) -> bool {
    match event {
        Event::Open {
            recipe, actions, ..
        }
        | Event::Replay {
            recipe, actions, ..
        } => planned::must_show_code(playground, recipe, actions),
        Event::Reset {
            configuration,
            seed,
            ..
        } => {
            let environment =
                playground.with_untracked(|machine| machine.setup().environment().clone());
            let recipe = Recipe {
                environment,
                configuration: configuration.clone(),
                seed: *seed,
                ..Recipe::default()
            };
            planned::must_show_code(playground, &recipe, &[])
        }
        _ => false,
    }
}

/// Sets the signals that show the machine. The episode and its session are drawn by [`redraws`].
fn show_machine(playground: Playground) {
    let (edition, selected, run, policy, former) = playground.with_untracked(|machine| {
        (
            machine.edition(),
            machine.selected(),
            machine.current_run(),
            machine.policy(),
            machine.former().cloned(),
        )
    });
    let is_replaced = playground.edition().get_untracked() != edition;
    if playground.selected().get_untracked() != selected {
        *playground.selected().write_untracked() = selected;
    }
    if is_replaced {
        playground.edition().set(edition);
        playground.selected().notify();
    }
    let setup = playground.setup();
    let (environment, sources, task) = playground.with_untracked(|machine| {
        let setup = machine.setup();
        (
            setup.environment().clone(),
            Arc::clone(setup.sources()),
            setup.task(),
        )
    });
    if !setup
        .sources
        .with_untracked(|shown| Arc::ptr_eq(shown, &sources))
    {
        setup.sources.set(sources);
    }
    if setup
        .environment
        .with_untracked(|shown| *shown != environment)
    {
        setup.environment.set(environment);
    }
    if setup.task.get_untracked() != task {
        setup.task.set(task);
    }
    let settings = playground.policy();
    if settings.run.get_untracked() != run {
        settings.run.set(run);
    }
    if settings.kind.get_untracked() != policy {
        settings.kind.set(policy);
    }
    let same = playground
        .former()
        .with_untracked(|shown| match (shown, &former) {
            (Some(shown), Some(former)) => Arc::ptr_eq(shown, former),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        });
    if !same {
        playground.former().set(former);
    }
}

fn carry_out(playground: Playground, effect: Effect) {
    match effect {
        Effect::Send(command) => send(playground, command),
        Effect::StartWorker => warm_up(playground),
        Effect::DropWorker => {
            questions::clear(playground);
            let worker = playground
                .driver()
                .try_update_value(|driver| driver.worker.take());
            // Dropping the worker ends its replies, and this may run inside one of them.
            drop(worker);
        }
        Effect::CloseOthers(environment) => close_others(playground, environment),
        Effect::CloseOnServers(open) => {
            for ServerEnvironment { url, env_id } in open {
                remote_environments::close(&url, &env_id);
            }
        }
        Effect::StopPython => {
            if untrack(|| python::is_python_chosen(playground)) {
                volary_connections::python::runtime::stop();
            }
        }
        Effect::Ask { id, question } => questions::ask(playground, id, question),
        Effect::Seat { run } => players::seat(playground, run),
        Effect::Decide { run, steps } => players::decide(playground, run, steps),
        Effect::Pause { run, seconds } => {
            after(
                playground,
                Duration::from_secs_f64(seconds),
                Event::Paused { run },
            );
        }
        Effect::DropPlayer => players::drop_player(playground),
        Effect::AwaitStep { edition, steps } => {
            after(playground, PATIENCE, Event::StepIsLate { edition, steps });
        }
        Effect::ChoosePolicy => playground.policy().is_choosing.set(true),
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
        Effect::AdaptAction => manual_action::adapt_to_episode(playground),
        Effect::StopPlayback => playground.transfer().playing.set(false),
        Effect::RefuseField { key, reason } => {
            let form = playground.setup().form;
            form.update(|form: &mut Form| form.refuse(&key, &reason));
        }
        Effect::ReadStored { id } => saving::read_stored(playground, id),
        Effect::StoredIsMissing => url_sync::say_not_stored(playground),
        Effect::WriteAddress => url_sync::write_now(playground),
        Effect::Store(episode) => saving::store(playground, *episode),
        Effect::Alert(notice) => playground.alert(notice),
        Effect::SayNotConnected(url) => remote_environments::say_not_connected(playground, &url),
        Effect::SayUnloaded => intents::say_unloaded(playground, "The environments", Unloaded),
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

/// Handles an event after some time.
fn after(playground: Playground, time: Duration, event: Event) {
    browser::spawn(async move {
        timers::sleep(time).await;
        update(playground, event);
    });
}

/// Follows the environments that can be opened: the page's, those of servers, and those of Python files.
pub(super) fn follow_known(playground: Playground) {
    untrack(|| report_known(playground));
    leptos::prelude::Effect::new(move |_| report_known(playground));
}

/// Reports the environments that can be opened now. Tracks changes.
pub(super) fn report_known(playground: Playground) {
    playground.whole().track();
    let known = KnownEnvironments {
        built_in: playground
            .registry()
            .with_value(|registry| registry.available().collect()),
        others: remote_environments::others(playground),
    };
    if playground.with_untracked(|machine| *machine.known() != known) {
        update(playground, Event::Known(known));
    }
}

/// Starts the worker before it is needed, unless a working one exists.
pub fn warm_up(playground: Playground) {
    let is_working = |worker: &WorkerClient| !worker.is_lost();
    if playground
        .driver()
        .with_value(|driver| driver.worker.as_ref().is_some_and(is_working))
    {
        return;
    }
    match WorkerClient::start(WorkerPart::Environments) {
        Ok(worker) => playground
            .driver()
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
    let id = browser::random_id();
    update(
        playground,
        Event::Open {
            recipe,
            actions,
            id,
        },
    );
}

/// Fills the setup from a recipe and opens an episode of it.
pub fn replay(playground: Playground, recipe: Recipe, actions: Vec<AnyMessage>) {
    let id = browser::random_id();
    update(
        playground,
        Event::Replay {
            recipe,
            actions,
            id,
        },
    );
}

/// Generates the id and the name of a new episode.
pub(super) fn names(recipe: Option<&Recipe>) -> (Text, Text) {
    let name = recipe.map(episode_name);
    (browser::random_id(), name.unwrap_or_default())
}

/// Returns whether an action may be taken, or why not.
pub fn may_step(playground: Playground) -> Result<(), Refusal> {
    if intents::waits(playground) {
        return Err(Refusal::Busy);
    }
    playground.with(|machine| machine.may_step())
}

/// Returns whether the episode may go back to an earlier step and continue from there.
pub fn may_go_back(playground: Playground) -> bool {
    playground.with(|machine| machine.may_go_back())
}

/// Shows an episode that comes from elsewhere.
pub fn show(playground: Playground, episode: Episode) {
    update(playground, Event::Show(Box::new(episode)));
}

/// Shows a first episode. It needs none of the lazily loaded code.
pub(super) fn begin_with(playground: Playground, episode: Episode, task: TaskPlace) {
    playground
        .machine()
        .update_value(|machine| machine.start_with(episode, Some(task)));
    show_machine(playground);
    manual_action::adapt_to_episode(playground);
    redraws::redraw(playground);
}

/// Chooses a custom configuration, which keeps the one in the form. It needs none of the lazily loaded code.
pub(super) fn choose_custom(playground: Playground) {
    playground
        .machine()
        .update_value(|machine| machine.choose_custom());
    show_machine(playground);
}

/// Resolves when no operation is in progress.
pub async fn settled(playground: Playground) {
    std::future::poll_fn(|context| {
        if playground.with_untracked(|machine| !machine.session().is_busy()) {
            return Poll::Ready(());
        }
        playground
            .driver()
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

fn send(playground: Playground, command: Command) {
    warm_up(playground);
    let environment = command.environment();
    let request = command.into_request(|recipe| remote_environments::access(playground, recipe));
    if let Request::Open { recipe, .. } = &request {
        give_python(playground, recipe);
    }
    if let Some(replies) = call(playground, &request) {
        browser::spawn(report_replies(playground, environment, replies));
    }
}

/// Transfers a port to Python to the worker if a recipe needs it.
fn give_python(playground: Playground, recipe: &Recipe) {
    if task::python_file(&recipe.environment).is_some() {
        playground.driver().with_value(|driver| {
            if let Some(worker) = &driver.worker {
                worker.give_python_port(volary_connections::python::runtime::port);
            }
        });
    }
}

/// Sends a request that has no replies.
pub(super) fn send_request(playground: Playground, request: &Request) {
    drop(call(playground, request));
}

fn call(playground: Playground, request: &Request) -> Option<Replies<environments::Event>> {
    playground
        .driver()
        .with_value(|driver| Some(driver.worker.as_ref()?.call(request)))
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
    let Some(mut replies) = call(playground, &request) else {
        return;
    };
    browser::spawn(async move {
        while let Some(Ok(reply)) = replies.next().await {
            update(playground, Event::Closing(reply.event));
        }
    });
}
