//! User intents of the playground and the lazy loading of the code that handles them. That code is loaded when the first
//! view is drawn; on other pages than the playground, when the person first interacts with the page.
//!
//! Invariants: intents are handled in order of arrival, at once if the code is loaded. Panes call
//! [`Playground::intend`] and never the functions behind it: a single direct call would link those into the first load.

use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::notice::Notice;
use volary_app::outside::PlayingPage;
use volary_app::playground::Event;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::tasks::{self, TaskPlace};
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_view::form::Form;
use volary_view::route::{PlaygroundPlace, Route};

use super::first_view;
use super::forks;
use super::hidden_members;
use super::linked_code::{self, FetchCodeDialog};
use super::manual_action;
use super::next_task;
use super::plan_dialog::plan_dialog;
use super::planned;
use super::playback;
use super::policy_dialog::policy_dialog;
use super::policy_settings;
use super::python;
use super::remote_environments;
use super::rival;
use super::run_controls::watch_for_slow_steps;
use super::run_loop;
use super::saving;
use super::session_driver;
use super::setup;
use super::state::Playground;
use super::tau_bench;
use super::transfer;
use super::transfer_dialogs::{export_dialog, share_dialog};
use super::url_sync;
use volary_browser::files::GivenFile;
use volary_browser::lazy::{Loaded, Unloaded};
use volary_browser::{
    self as browser, crash_recovery, first_interaction, location, offline, timers,
};
use volary_connections::outside;
use volary_connections::outside::dialog::OutsideDialog;
use volary_ui::later;
use volary_ui::navigation::Page;
use volary_ui::styles;

/// A request of the user to the playground.
#[derive(Clone)]
#[allow(
    missing_docs,
    reason = "each is the function of the playground of that name"
)]
pub enum Intent {
    /// Only loads the code.
    LoadCode,
    /// Stores the page for use offline in a while, because a user is present.
    StoreOffline,
    Follow(PlaygroundPlace),
    GoToEnvironment(String),
    PickTask(Option<TaskPlace>),
    PickSplit(usize, String),
    Reset,
    ChooseTool(Text),
    ChooseNoTool,
    AddCall,
    EditCall(usize),
    RemoveCall(usize),
    Step,
    StepByHand,
    EditLastAction,
    GoBack(usize),
    ChoosePolicy(PolicyKind),
    ScriptFromEpisode,
    Run,
    RunWith(PolicyKind),
    RunAgain,
    Stop,
    Undo,
    BringBack,
    PickFile,
    TakeFiles(Vec<GivenFile>),
    Share,
    RunPlanned,
    DismissPlanned,
    /// Runs an act of another part of the page that needs the lazily loaded code.
    Do(later::Act),
}

impl Intent {
    /// Returns whether this intent starts a new attempt. A notice belongs to the attempt that failed, so the next
    /// attempt removes it.
    fn is_attempt(&self) -> bool {
        match self {
            Intent::Follow(_)
            | Intent::GoToEnvironment(_)
            | Intent::PickTask(_)
            | Intent::PickSplit(..)
            | Intent::Reset
            | Intent::Step
            | Intent::StepByHand
            | Intent::EditLastAction
            | Intent::GoBack(_)
            | Intent::ScriptFromEpisode
            | Intent::Run
            | Intent::RunWith(_)
            | Intent::Undo
            | Intent::RunAgain
            | Intent::BringBack
            | Intent::PickFile
            | Intent::TakeFiles(_)
            | Intent::Share
            | Intent::RunPlanned => true,
            Intent::LoadCode
            | Intent::StoreOffline
            | Intent::ChooseTool(_)
            | Intent::ChooseNoTool
            | Intent::AddCall
            | Intent::EditCall(_)
            | Intent::RemoveCall(_)
            | Intent::ChoosePolicy(_)
            | Intent::Stop
            | Intent::DismissPlanned
            | Intent::Do(_) => false,
        }
    }
}

fn act(playground: Playground, intent: Intent) {
    let intent = match intent {
        // Undo reruns the episode, so it needs the same consent as going back.
        Intent::Undo => match manual_action::before_last_step(playground) {
            Some(steps) => Intent::GoBack(steps),
            None => return,
        },
        other => other,
    };
    if planned::must_ask(playground, &intent) {
        return;
    }
    if intent.is_attempt() {
        playground.notice().set(None);
    }
    if matches!(
        intent,
        Intent::Reset
            | Intent::Step
            | Intent::StepByHand
            | Intent::EditLastAction
            | Intent::GoBack(_)
    ) {
        // The message was about an episode that is about to change.
        playground.say("");
    }
    match intent {
        Intent::LoadCode | Intent::Undo => {}
        Intent::StoreOffline => browser::spawn(async {
            timers::sleep(BEFORE_STORING).await;
            offline::store().await;
        }),
        Intent::Follow(place) => url_sync::follow_place(playground, &place),
        Intent::GoToEnvironment(name) => url_sync::go_to_environment(playground, &name),
        Intent::PickTask(place) => session_driver::update(playground, Event::PickTask(place)),
        Intent::PickSplit(source, split) => setup::pick_split(playground, source, &split),
        Intent::Reset => setup::reset(playground),
        Intent::ChooseTool(name) => manual_action::change(playground, |composer, tools, form| {
            composer.choose(&name, tools, form);
        }),
        Intent::ChooseNoTool => {
            manual_action::change(playground, |composer, _, form| composer.choose_none(form));
        }
        Intent::AddCall => {
            manual_action::add_call(playground);
        }
        Intent::EditCall(place) => manual_action::change(playground, |composer, tools, form| {
            composer.edit_call(place, tools, form);
        }),
        Intent::RemoveCall(place) => manual_action::change(playground, |composer, tools, form| {
            composer.remove_call(place, tools, form);
        }),
        Intent::Step => manual_action::step(playground),
        Intent::StepByHand => manual_action::step_by_hand(playground),
        Intent::EditLastAction => manual_action::edit_last_action(playground),
        Intent::GoBack(steps) => session_driver::update(playground, Event::GoBack(steps)),
        Intent::ChoosePolicy(kind) => policy_settings::choose_policy(playground, kind),
        Intent::ScriptFromEpisode => policy_settings::script_from_episode(playground),
        Intent::Run => run_loop::run(playground),
        Intent::RunWith(kind) => run_loop::run_with(playground, kind),
        Intent::RunAgain => session_driver::update(playground, Event::RunAgain),
        Intent::Stop => session_driver::update(playground, Event::Stop),
        Intent::BringBack => session_driver::update(playground, Event::BringBack),
        Intent::PickFile => transfer::pick_file(playground),
        Intent::TakeFiles(files) => transfer::take_files(playground, files),
        Intent::Share => transfer::share(playground),
        Intent::RunPlanned => planned::run_planned(playground),
        Intent::DismissPlanned => planned::dismiss_planned(playground),
        Intent::Do(act) => act(),
    }
}

/// The time before the page is stored for use offline. Storing takes bandwidth, and about 40 MB of memory meanwhile, from
/// what the user opens first.
const BEFORE_STORING: Duration = Duration::from_secs(5);

/// Everything that the first load of the playground does not contain.
struct Rest {
    registry: Registry,
    act: Act,
    begin: fn(Playground),
    dialogs: fn() -> AnyView,
}

type Act = fn(Playground, Intent);

#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
fn rest() -> Loaded<Rest> {
    styles::adopt_later();
    later::install();
    outside::costs::install();
    forks::install();
    rival::install();
    next_task::install();
    hidden_members::install();
    Ok(Rest {
        registry: volary_envs::described_registry_with_tau_bench(),
        act,
        begin: |playground| {
            let sources = playground.registry().with_value(tasks::built_in);
            session_driver::update(playground, Event::Sources(sources));
            // These belong to the page's owner, not to the first component that uses them.
            linked_code::linked_code(playground);
            remote_environments::follow_servers(playground);
            python::follow_python_files(playground);
            session_driver::follow_known(playground);
            tau_bench::follow(playground);
            location::on_leave(move || session_driver::update(playground, Event::CloseServers));
            saving::keep_on_leaving(playground);
            url_sync::write_address(playground);
            playback::play_along(playground);
            watch_for_slow_steps(playground);
            transfer::offer_rescue(playground);
            // On other pages the worker starts with the first operation that needs it.
            if Page::of(&Route::parse(&location::hash())) == Page::Playground {
                session_driver::warm_up(playground);
            }
        },
        dialogs: || {
            let questions = view! {
                <FetchCodeDialog/>
                <OutsideDialog page=PlayingPage::Playground/>
            };
            view! {
                {export_dialog()}
                {share_dialog()}
                {plan_dialog()}
                {policy_dialog()}
                {questions}
            }
            .into_any()
        },
    })
}

/// Loading state of the lazily loaded code.
#[derive(Default)]
pub struct CodeLoading {
    rest: Option<(Act, fn() -> AnyView)>,
    waiting: Vec<Intent>,
    loading: bool,
    /// Owner of the lazily loaded code's signals: the page itself, not the component that was used first.
    owner: Option<Owner>,
}

/// Loads the rest of the code after the first view, or on the first user interaction. The caller's owner owns what is
/// created, and its context is used for it.
pub fn load_later(playground: Playground) {
    playground
        .progress()
        .update_value(|progress| progress.owner = Owner::current());
    later::load_with(move |act| playground.intend(Intent::Do(act)));
    first_interaction::on_first_interaction(move || playground.intend(Intent::StoreOffline));
    if Page::of(&Route::parse(&location::hash())) == Page::Playground {
        timers::next_frame(move || playground.intend(Intent::LoadCode));
    }
    if crash_recovery::is_kept() {
        playground.intend(Intent::LoadCode);
    }
}

/// Handles an intent: at once if the code is loaded, else after loading it.
pub fn intend(playground: Playground, intent: Intent) {
    let act = playground.progress().try_update_value(|progress| {
        let act = progress.rest.map(|(act, _)| act);
        if act.is_none() {
            progress.waiting.push(intent.clone());
        }
        act
    });
    if act.is_none_or(|act| act.is_none()) {
        match intent {
            Intent::GoToEnvironment(_) => playground.switching().set(true),
            // What waits may choose another environment first.
            Intent::PickTask(None) if !playground.wanted().get_untracked() => {
                session_driver::choose_custom(playground);
            }
            _ => {}
        }
    }
    match act.flatten() {
        Some(act) => act(playground, intent),
        None => load(playground),
    }
}

/// The dialogs; empty until their code is loaded.
pub fn dialogs(playground: Playground) -> AnyView {
    (move || {
        let whole = playground.whole().get();
        let rest = playground.progress().with_value(|progress| progress.rest);
        let (_, dialogs) = rest.filter(|_| whole)?;
        Some(dialogs())
    })
    .into_any()
}

/// Returns whether an intent of the user waits for code that is being loaded.
pub fn waits(playground: Playground) -> bool {
    !playground.whole().get() && playground.wanted().get()
}

fn load(playground: Playground) {
    let wants = playground.progress().try_update_value(|progress| {
        let wants = progress.waiting.iter();
        let wanted = wants
            .into_iter()
            .any(|intent| !matches!(intent, Intent::LoadCode | Intent::StoreOffline));
        (wanted, std::mem::replace(&mut progress.loading, true))
    });
    let Some((wanted, loading)) = wants else {
        return;
    };
    if wanted {
        playground.wanted().set(true);
    }
    if loading {
        return;
    }
    let owner = playground
        .progress()
        .with_value(|progress| progress.owner.clone());
    browser::spawn(async move {
        match rest().await {
            Ok(rest) => match owner {
                Some(owner) => owner.with(|| arrive(playground, rest)),
                None => arrive(playground, rest),
            },
            Err(error) => go_on_without(playground, error),
        }
    });
}

fn arrive(playground: Playground, rest: Rest) {
    playground.registry().set_value(rest.registry);
    let waiting = playground.progress().try_update_value(|progress| {
        progress.rest = Some((rest.act, rest.dialogs));
        std::mem::take(&mut progress.waiting)
    });
    playground.whole().set(true);
    (rest.begin)(playground);
    for intent in waiting.into_iter().flatten() {
        (rest.act)(playground, intent);
    }
    playground.switching().set(false);
}

/// Handles a failed load of the code. The next intent tries again.
fn go_on_without(playground: Playground, error: Unloaded) {
    playground.progress().update_value(|progress| {
        progress.loading = false;
        progress.waiting.clear();
    });
    playground.switching().set(false);
    // Report the failure only if an intent was waiting.
    if playground.wanted().get_untracked() {
        playground.wanted().set(false);
        say_unloaded(playground, "The environments", error);
    }
}

/// Shows a notice that a part of the code could not be loaded.
pub fn say_unloaded(playground: Playground, what: &str, error: Unloaded) {
    playground.alert(Notice::new(
        format!("{what} could not be loaded."),
        error.to_string(),
        Unloaded::ADVICE,
    ));
}

/// Shows the first task's episode from the opening record, which needs none of the lazily loaded code.
pub(super) fn begin_known(playground: Playground) -> bool {
    let Some((mut episode, schema)) = first_view::episode().zip(first_view::configuration()) else {
        return false;
    };
    (episode.id, episode.name) = session_driver::names(episode.recipe.as_ref());
    if let Some(recipe) = &episode.recipe {
        let setup = playground.setup();
        let value = recipe.configuration.clone().into();
        setup.form.set(Form::holding(schema, &value));
    }
    session_driver::begin_with(playground, episode, TaskPlace { source: 0, task: 0 });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_ends_with_the_next_attempt() {
        for attempt in [
            Intent::Step,
            Intent::StepByHand,
            Intent::Run,
            Intent::RunAgain,
            Intent::Undo,
            Intent::GoBack(1),
            Intent::Reset,
            Intent::PickFile,
            Intent::Share,
        ] {
            assert!(attempt.is_attempt());
        }
        // Preparing an action, or stopping one, does not make an error obsolete.
        for other in [
            Intent::ChooseTool("calculator".into()),
            Intent::AddCall,
            Intent::Stop,
            Intent::LoadCode,
        ] {
            assert!(!other.is_attempt());
        }
    }
}
