//! Environments on task dataset servers: which ones the playground knows, and closing them.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_core::json::{Object, Text};
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{Event, ServerAccess, ServerEnvironment};
use volary_remote::task;
use volary_view::form::Form;

use super::python;
use super::session_driver;
use super::setup::{self, CONFIGURATION_FORM};
use super::state::Playground;
use crate::browser;
use crate::remote::servers::{self, Server};
use crate::remote::{keeping, transport};

/// An open environment on a server.
pub(super) struct RemoteEnvironment {
    url: Text,
    env_id: Text,
}

/// The server at an address, if the user connected to it.
pub fn server(playground: Playground, url: &str) -> Option<Server> {
    playground
        .setup
        .servers
        .with(|servers| servers.iter().find(|server| *server.url == *url).cloned())
}

/// Returns whether an environment with this name or address can be opened. On a server the user must agree first
/// ([`volary_app::playground::consent`]).
pub fn knows(playground: Playground, environment: &str) -> bool {
    setup::entry(playground, environment).is_some()
        || server(playground, environment).is_some()
        || python::python_entry(playground, environment).is_some()
}

/// Returns whether a server is chosen.
pub fn is_server_chosen(playground: Playground) -> bool {
    playground.setup.environment.with(|name| is_server(name))
}

/// Returns whether the shown episode was played on a server.
pub fn shows_remote(playground: Playground) -> bool {
    playground
        .episode
        .with_untracked(|episode| is_remote(episode))
}

/// Follows the stored list of servers, which other tabs change as well.
pub(super) fn follow_servers(playground: Playground) {
    playground.setup.servers.set(untrack(keeping::servers));
    Effect::new(move |_| playground.setup.servers.set(keeping::servers()));
}

/// Fills the setup for a server.
pub(super) fn configure_server(
    playground: Playground,
    server: &Server,
    configuration: Option<&Object>,
) {
    let setup = playground.setup;
    setup.environment.set(server.url.clone());
    setup.task.set(None);
    let schema = task::configuration(server.size);
    let chosen = configuration
        .cloned()
        .unwrap_or_else(|| servers::first_task(server));
    setup.form.set(Form::with_value(schema, &chosen.into()));
}

/// Opens the configured task on the server, if the task is valid.
pub(super) fn reset_on_server(playground: Playground, configuration: &Object) {
    let url = playground.setup.environment.get_untracked();
    match servers::recipe(&url, configuration) {
        Ok(recipe) => {
            session_driver::open(playground, recipe, Vec::new());
        }
        Err(unfit) => {
            let form = playground.setup.form;
            form.update(|form| form.refuse(unfit.key, &unfit.reason));
            browser::show_fault(CONFIGURATION_FORM);
        }
    }
}

/// Shows a notice that the user must connect to a server first.
pub(super) fn say_not_connected(playground: Playground, url: &str) {
    playground.alert(Notice::new(
        "You are not connected to this server.",
        format!("The address names the task dataset server {url}."),
        "If you trust it, connect to it in the settings, then open the link again.",
    ));
}

/// Shows a notice that an environment on a server was lost, and what to do.
pub(super) fn say_lost(playground: Playground, reason: Text) {
    playground.alert(Notice::new(
        "The environment on the server was lost, so the episode ended.",
        reason.to_string(),
        "All steps so far are kept. Reset starts a new environment. Going back to an earlier \
         step also starts a new one and repeats the actions there; the results may differ.",
    ));
}

/// Credentials with which a worker may call the server of a recipe; empty if the environment is local.
pub(super) fn access(playground: Playground, recipe: &Recipe) -> Vec<ServerAccess> {
    if !task::is_server(&recipe.environment) {
        return Vec::new();
    }
    let server = playground.setup.servers.with_untracked(|servers| {
        let mut servers = servers.iter();
        servers
            .find(|server| server.url == recipe.environment)
            .cloned()
    });
    keeping::access(server.as_slice())
}

/// Tracks the environments that a worker opened on servers, so that they can be closed without the worker.
pub(super) fn note_remote(playground: Playground, event: &Event) {
    match event {
        Event::Started(ServerEnvironment { url, env_id }) => {
            let (url, env_id) = (url.clone(), env_id.clone());
            playground.driver.update_value(|driver| {
                driver.open_remotely.push(RemoteEnvironment { url, env_id });
            });
        }
        Event::Stopped { env_id } => playground.driver.update_value(|driver| {
            driver
                .open_remotely
                .retain(|open_remotely| open_remotely.env_id != *env_id);
        }),
        _ => {}
    }
}

/// Closes all open environments on servers, without waiting for the result.
pub fn leave_servers(playground: Playground) {
    let open_remotely = playground
        .driver
        .try_update_value(|driver| std::mem::take(&mut driver.open_remotely));
    for RemoteEnvironment { url, env_id } in open_remotely.into_iter().flatten() {
        transport::close_and_go(&url, keeping::key_of(&url).as_ref(), &env_id);
    }
}

/// Returns whether an episode was played on a server.
pub fn is_remote(episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    recipe.is_some_and(|recipe| is_server(&recipe.environment))
}

/// Returns whether an environment name is a server's. Names here, and those in links, were validated as addresses
/// before, which this code need not repeat: no other name looks like an address.
fn is_server(name: &str) -> bool {
    name.contains("://") && task::python_file(name).is_none()
}
