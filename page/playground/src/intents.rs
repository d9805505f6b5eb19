//! What user intents do, and the lazy loading of that code: when the first view is drawn; on other pages than the
//! playground, when the person first interacts with the page.
//!
//! Invariant: panes call [`Playground::intend`] and never the functions behind it: a single direct call would link those
//! into the first load.

use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::outside::PlayingPage;
use volary_app::playground::Event;
use volary_app::playground::tasks::{self};
use volary_core::registry::Registry;
use volary_view::route::Route;

use super::code_loading::{self, Handlers};
use super::demonstration;
use super::forks;
use super::hidden_members;
use super::intent::Intent;
use super::known_environments;
use super::linked_code::{self, FetchCodeDialog};
use super::manual_action;
use super::next_task;
use super::plan_dialog::plan_dialog;
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
use super::worker;
use volary_browser::lazy::Loaded;
use volary_browser::{
    self as browser, crash_recovery, first_interaction, location, offline, timers,
};
use volary_connections::outside;
use volary_connections::outside::dialog::OutsideDialog;
use volary_ui::later;
use volary_ui::navigation::Page;
use volary_ui::styles;
use volary_ui::whole;

fn act(playground: Playground, intent: Intent) {
    if intent.is_attempt() {
        playground.notice().set(None);
    }
    if matches!(intent, Intent::Reset) {
        // The message was about an episode that is about to change.
        playground.say("");
    }
    match intent {
        Intent::LoadCode => {}
        Intent::StoreOffline => browser::spawn(async {
            timers::sleep(BEFORE_STORING).await;
            offline::store().await;
        }),
        Intent::Follow(place) => url_sync::follow_place(playground, &place),
        Intent::GoToEnvironment(name) => url_sync::go_to_environment(playground, &name),
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
        Intent::ChoosePolicy(kind) => policy_settings::choose_policy(playground, kind),
        Intent::ScriptFromEpisode => policy_settings::script_from_episode(playground),
        Intent::RunWith(kind) => run_loop::run_with(playground, kind),
        Intent::Demonstrate => demonstration::demonstrate(playground),
        Intent::PickFile => transfer::pick_file(playground),
        Intent::TakeFiles(files) => transfer::take_files(playground, files),
        Intent::Share => transfer::share(playground),
        Intent::Do(act) => act(),
    }
}

/// The time before the page is stored for use offline. Storing takes bandwidth, and about 40 MB of memory meanwhile, from
/// what the user opens first.
const BEFORE_STORING: Duration = Duration::from_secs(5);

/// Everything that the first load of the playground does not contain.
struct Rest {
    registry: Registry,
    update: fn(Playground, Event),
    begin: fn(Playground),
    handlers: Handlers,
}

#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
fn rest() -> Loaded<Rest> {
    styles::adopt_later();
    whole::install();
    outside::costs::install();
    forks::install();
    rival::install();
    next_task::install();
    hidden_members::install();
    Ok(Rest {
        registry: volary_envs::described_registry_with_tau_bench(),
        update: session_driver::update,
        begin: |playground| {
            let sources = playground.registry().with_value(tasks::built_in);
            playground.update(Event::Sources(sources));
            // These belong to the page's owner, not to the first component that uses them.
            linked_code::linked_code(playground);
            remote_environments::follow_servers(playground);
            python::follow_python_files(playground);
            known_environments::follow_known(playground);
            tau_bench::follow(playground);
            location::on_leave(move || playground.update(Event::CloseServers));
            saving::keep_on_leaving(playground);
            url_sync::write_address(playground);
            playback::play_along(playground);
            watch_for_slow_steps(playground);
            demonstration::follow(playground);
            transfer::offer_rescue(playground);
            // On other pages the worker starts with the first operation that needs it.
            if Page::of(&Route::parse(&location::hash())) == Page::Playground {
                worker::warm_up(playground);
            }
        },
        handlers: Handlers { act, dialogs },
    })
}

fn dialogs() -> AnyView {
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
}

/// Creates the page's playground and provides it as context.
pub fn provide() -> Playground {
    let playground = Playground::new(load);
    provide_context(playground);
    playground
}

/// Loads the rest of the code after the first view, or on the first user interaction. The caller's owner owns what is
/// created, and its context is used for it.
pub fn load_later(playground: Playground) {
    playground
        .code()
        .update_value(|code| code.owner = Owner::current());
    later::load_with(move |act| playground.intend(Intent::Do(act)));
    first_interaction::on_first_interaction(move || playground.intend(Intent::StoreOffline));
    if Page::of(&Route::parse(&location::hash())) == Page::Playground {
        timers::next_frame(move || playground.intend(Intent::LoadCode));
    }
    if crash_recovery::is_kept() {
        playground.intend(Intent::LoadCode);
    }
}

fn load(playground: Playground) {
    let owner = playground.code().with_value(|code| code.owner.clone());
    browser::spawn(async move {
        match rest().await {
            Ok(rest) => match owner {
                Some(owner) => owner.with(|| arrive(playground, rest)),
                None => arrive(playground, rest),
            },
            Err(error) => {
                if code_loading::give_up(playground) {
                    playground.say_unloaded("The environments", error);
                }
            }
        }
    });
}

fn arrive(playground: Playground, rest: Rest) {
    playground.registry().set_value(rest.registry);
    playground.whole().set(true);
    code_loading::handle_events(playground, rest.update);
    (rest.begin)(playground);
    code_loading::handle_intents(playground, rest.handlers);
    playground.switching().set(false);
}
