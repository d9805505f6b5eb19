//! The page of Volary: it shows episodes, and lets a person or a policy act.
//!
//! - [`app`]: the layout. [`pages`]: loads the code of each page.
//! - Each page is a crate under `page/`: `playground`, `review`, `evaluate`, `teach` and `settings`. They are made of `ui`
//!   (components), `connections` (models, servers, Python), `library` (trajectories), `storage`, `secrets` and `browser`, the
//!   only crate that accesses the browser's APIs. `workers` has the services that run in workers.
//!
//! The same wasm binary runs as the page and as its workers; [`start`] detects which of them it is.

pub mod app;
pub mod pages;

/// Starts the page or a worker, depending on the global scope.
pub fn start() {
    match volary_browser::worker_port::WorkerPort::of_this_worker() {
        Some(port) => volary_workers::host::start(port),
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
