//! The page of Volary: it shows episodes, and lets a person, or a policy, act.
//!
//! - [`route`]: the hash as a value. Pure.
//! - [`projection`]: what is shown, computed without any front end.
//! - [`components`]: draw projections; they know nothing of the playground.
//! - [`playground`]: the state of the playground, and its panes. [`app`]: the layout around it.
//! - [`models`]: the models that the person connected, and asking one of them; [`secrets`]: keys; [`shared`]: values
//!   that all tabs share.
//! - [`evaluate`]: many episodes at once. [`storage`]: episodes and evaluations in the browser's database.
//! - [`tau_bench`]: the user's checkout of tau-bench.
//! - [`learn`]: lessons. [`review`]: episodes that people read. [`lab`]: what a chat template makes of messages.
//! - [`library`]: the library of trajectories, and the worker that keeps it.
//! - [`navigation`]: which page is shown; [`pages`]: where the code of each comes from.
//! - [`remote`]: task dataset servers, whose environments are played as those of this page.
//! - [`settings`]: what the person connected, as a page.
//! - [`browser`]: the one door for effects.
//! - [`workers`]: what a worker of the page does.
//!
//! The same wasm runs as the page and as its worker; [`start`] looks which of them it is.

pub mod app;
pub mod browser;
pub mod components;
pub mod environments;
pub mod evaluate;
pub mod lab;
pub mod later;
pub mod learn;
pub mod library;
pub mod models;
pub mod navigation;
pub mod outside;
pub mod pages;
pub mod playground;
pub mod projection;
pub mod python;
pub mod remote;
pub mod review;
pub mod route;
pub mod secrets;
pub mod settings;
pub mod shared;
pub mod storage;
pub mod tau_bench;
pub mod tokenizer;
pub mod workers;

/// Starts the page, or the worker.
pub fn start() {
    match browser::worker_port::WorkerPort::of_this_worker() {
        Some(port) => workers::host::start(port),
        None => {
            browser::crash_recovery::watch();
            leptos::mount::mount_to_body(app::app);
            browser::crash_recovery::step_back();
        }
    }
}
