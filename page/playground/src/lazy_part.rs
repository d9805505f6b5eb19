//! The part of the page's code that fills [`LazyCode`].

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::outside::PlayingPage;
use volary_browser::lazy::Loaded;
use volary_connections::outside::costs::RoleCosts;
use volary_connections::outside::dialog::OutsideDialog;
use volary_ui::styles;

use super::connected;
use super::demonstration;
use super::lazy_code::{ConnectedEnvironments, LazyCode};
use super::linked_code::{self, FetchCodeDialog};
use super::links;
use super::plan_dialog::plan_dialog;
use super::players;
use super::policy_dialog::policy_dialog;
use super::python;
use super::questions;
use super::remote_environments;
use super::rival;
use super::run_loop;
use super::saving;
use super::second_run::SecondRun;
use super::state::Playground;
use super::transfer;
use super::transfer_dialogs::{export_dialog, share_dialog};

static CODE: LazyCode = LazyCode {
    demonstrate: demonstration::demonstrate,
    open_code: linked_code::open,
    leave_code: linked_code::leave,
    is_code_pending: linked_code::is_pending,
    open_link: links::open,
    address: links::address,
    seat: players::seat,
    ask: questions::ask,
    play_rival: rival::play,
    run: run_loop::run,
    read_stored: saving::read_stored,
    second_run: || view! { <SecondRun/> }.into_any(),
    take_files: transfer::take_files,
    share: transfer::share,
    dialogs,
    role_costs: || view! { <RoleCosts/> }.into_any(),
    connected: ConnectedEnvironments {
        known: connected::known,
        configure: connected::configure,
        reset: connected::reset,
        adopt: python::adopt_python,
        agree: python::agree,
        prepare_worker: connected::give_python,
        stop: connected::stop,
        access: remote_environments::access,
        close: remote_environments::close,
        plan_task: remote_environments::plan_task,
    },
};

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

/// Loads the code. The first call also starts what follows stored servers, files and the last crash.
pub(super) fn load(playground: Playground) -> LocalBoxFuture<'static, Loaded<&'static LazyCode>> {
    part(playground).boxed_local()
}

#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
fn part(playground: Playground) -> Loaded<&'static LazyCode> {
    if playground.lazy_code_untracked().is_none() {
        styles::adopt_connections();
        playground.set_code(&CODE);
        let follow = || {
            connected::follow(playground);
            transfer::offer_rescue(playground);
        };
        match playground.owner().get_value() {
            Some(owner) => owner.with(follow),
            None => follow(),
        }
    }
    Ok(&CODE)
}
