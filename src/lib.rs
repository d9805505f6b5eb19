//! The page of Volary: it shows episodes, and lets a person, or a policy, act.
//!
//! - [`route`]: the hash as a value. [`protocol`]: what page and worker say to each other. Both pure.
//! - [`projection`]: what is shown, computed without any front end.
//! - [`components`]: draw projections; they know nothing of the playground.
//! - [`playground`]: the state of the playground, and its panes. [`app`]: the layout around it.
//! - [`shell`]: the one door for effects.
//!
//! The same wasm runs as the page and as its worker; [`start`] looks which of them it is.

pub mod app;
pub mod components;
pub mod playground;
pub mod projection;
pub mod protocol;
pub mod route;
pub mod shell;

/// Starts the page, or the worker.
pub fn start() {
    match shell::worker_scope() {
        Some(scope) => shell::worker_loop::serve(scope),
        None => {
            shell::rescue::watch();
            leptos::mount::mount_to_body(app::App);
            shell::rescue::step_back();
        }
    }
}
