//! The part of the page's code that fills [`PlayCode`].

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::playground::{Event, tasks};
use volary_browser::lazy::Loaded;
use volary_browser::location;
use volary_ui::navigation::Pages;

use super::demonstration;
use super::known_environments;
use super::manual_action;
use super::play_code::PlayCode;
use super::playback;
use super::policy_settings;
use super::run_controls::watch_for_slow_steps;
use super::saving;
use super::session_driver;
use super::setup;
use super::state::Playground;
use super::url_sync;

static CODE: PlayCode = PlayCode {
    arrive,
    update: session_driver::update,
    follow: url_sync::follow_place,
    go_to_environment: url_sync::go_to_environment,
    start_over: setup::start_over,
    pick_split: setup::pick_split,
    choose_policy: policy_settings::choose_policy,
    script_from_episode: policy_settings::script_from_episode,
    choose_tool: manual_action::choose_tool,
    add_call: |playground| {
        manual_action::add_call(playground);
    },
    edit_call: manual_action::edit_call,
    remove_call: manual_action::remove_call,
};

/// Loads the code.
pub(super) fn load() -> LocalBoxFuture<'static, Loaded<&'static PlayCode>> {
    part().boxed_local()
}

#[wasm_split(play, wasm_split_path = leptos::wasm_split, fallible)]
fn part() -> Loaded<&'static PlayCode> {
    Ok(&CODE)
}

/// Adds the environments and their tasks, and starts what follows the signals of the playground.
fn arrive(playground: Playground) {
    let registry = volary_envs::described_registry_with_tau_bench();
    let sources = tasks::built_in(&registry);
    playground.registry().set_value(registry);
    session_driver::update(playground, Event::Sources(sources));
    // These belong to the page's owner, not to the first component that uses them.
    let follow = || {
        if use_context::<Pages>().is_none() {
            // An embedded episode: it has no other environments, no address and no store.
            return;
        }
        known_environments::follow_known(playground);
        location::on_leave(move || playground.update(Event::CloseServers));
        saving::keep_on_leaving(playground);
        saving::preserve_in_crash(playground);
        url_sync::write_address(playground);
        playback::play_along(playground);
        watch_for_slow_steps(playground);
        demonstration::follow(playground);
    };
    match playground.owner().get_value() {
        Some(owner) => owner.with(follow),
        None => follow(),
    }
}
