//! Environments that are no part of the page: on task dataset servers ([`super::remote_environments`]), in Python files
//! ([`super::python`]), and the tasks of the user's checkout of tau-bench. Loaded after the first view.

use leptos::prelude::*;
use volary_app::playground::known::KnownEnvironments;
use volary_core::json::Object;
use volary_episode::Recipe;
use volary_remote::task;

use super::python;
use super::remote_environments;
use super::state::Playground;
use super::tau_bench;

/// Follows the stored servers, Python files and checkout, now and whenever one of them changes.
pub(super) fn follow(playground: Playground) {
    remote_environments::follow_servers(playground);
    python::follow_python_files(playground);
    tau_bench::follow(playground);
}

/// The environments that can be opened. Tracks changes.
pub(super) fn known(playground: Playground) -> KnownEnvironments {
    KnownEnvironments {
        others: remote_environments::others(playground),
        code: python::known_code(playground),
        ..playground.built_in_environments()
    }
}

/// Fills the form of the configuration; see [`super::lazy_code::ConnectedEnvironments`].
pub(super) fn configure(
    playground: Playground,
    name: &str,
    configuration: Option<&Object>,
) -> bool {
    if let Some(server) = untrack(|| remote_environments::server(playground, name)) {
        remote_environments::configure_server(playground, &server, configuration);
        return true;
    }
    if let Some(entry) = untrack(|| python::python_entry(playground, name)) {
        python::configure_python(playground, &entry, configuration);
        return true;
    }
    false
}

/// Opens an episode of the setup; see [`super::lazy_code::ConnectedEnvironments`]. A server has no seed.
pub(super) fn reset(playground: Playground, configuration: &Object, seed: Option<u64>) -> bool {
    if untrack(|| remote_environments::is_server_chosen(playground)) {
        remote_environments::reset_on_server(playground, configuration);
        return true;
    }
    let Some(seed) = seed else { return false };
    match python::python_recipe(playground, configuration, seed) {
        Some(recipe) => {
            playground.open(recipe, Vec::new());
            true
        }
        None => false,
    }
}

/// Transfers a port to Python to the worker if a recipe needs it.
pub(super) fn give_python(playground: Playground, recipe: &Recipe) {
    if task::python_file(&recipe.environment).is_some() {
        playground.driver().with_value(|driver| {
            if let Some(worker) = &driver.worker {
                worker.give_python_port(volary_connections::python::runtime::port);
            }
        });
    }
}

/// Ends Python code that does not end by itself.
pub(super) fn stop(playground: Playground) {
    if untrack(|| python::is_python_chosen(playground)) {
        volary_connections::python::runtime::stop();
    }
}
