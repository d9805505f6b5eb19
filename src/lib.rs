//! The page of Volary: it shows episodes, and lets a person or a policy act.
//!
//! - [`navigation`]: the page that is shown; [`pages`]: loads the code of each page.
//! - [`playground`]: the state of the playground, and its panes. [`app`]: the layout around it.
//! - [`review`]: reading trajectories. [`library`]: the library of trajectories; its worker stores it.
//! - [`evaluate`]: evaluations over many episodes. [`environments`]: the environments, and the user's own in Python.
//! - [`learn`]: lessons. [`class`]: assignments and hand-ins. [`lab`]: shows what a chat template makes of messages.
//! - [`settings`]: the settings page. [`embed`]: the view for frames in other pages. [`present`]: slides in large type.
//! - [`models`]: model connections and requests; [`outside`]: what environments ask of pages, models and the person.
//! - [`remote`]: task dataset servers, whose environments are played like local ones. [`python`]: environments in Python.
//! - [`tokenizer`]: the tokenizer that the user picked. [`tau_bench`]: the user's checkout of tau-bench.
//! - Under `page/`: `volary_browser`, effects, the only crate that accesses the browser's APIs; `volary_storage`, what is
//!   stored between visits; `volary_secrets`, API keys; `volary_ui`, components that draw the projections of `volary_view`.
//! - [`workers`]: the code that runs in a worker.
//!
//! The same wasm binary runs as the page and as its workers; [`start`] detects which of them it is.

pub mod app;
pub mod class;
pub mod embed;
pub mod environments;
pub mod evaluate;
pub mod lab;
pub mod learn;
pub mod library;
pub mod models;
pub mod navigation;
pub mod outside;
pub mod pages;
pub mod playground;
pub mod present;
pub mod python;
pub mod remote;
pub mod review;
pub mod settings;
pub mod tau_bench;
pub mod tokenizer;
pub mod workers;

/// Starts the page or a worker, depending on the global scope.
pub fn start() {
    match volary_browser::worker_port::WorkerPort::of_this_worker() {
        Some(port) => workers::host::start(port),
        None => {
            volary_browser::crash_recovery::watch();
            let root = if volary_browser::location::is_embedded() {
                app::embedded
            } else {
                pages::load_ahead();
                app::app
            };
            leptos::mount::mount_to_body(root);
            volary_browser::crash_recovery::step_back();
        }
    }
}
