//! Environments on task dataset servers: which ones the playground knows, and their end.

use leptos::prelude::*;
use volary_core::json::{Object, Text};
use volary_protocol::environments::{Event, ServerAccess, ServerEnvironment};
use volary_remote::task;
use volary_trajectory::{Episode, Recipe};

use super::python;
use super::session_driver;
use super::setup::{self, CONFIGURATION_FORM};
use super::state::Playground;
use crate::browser;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::remote::servers::{self, Server};
use crate::remote::{keeping, transport};

/// An environment on a server that nobody has closed yet.
pub(super) struct RemoteEnvironment {
    url: Text,
    env_id: Text,
}

/// The server of an address, if the person connected to it.
pub fn server(playground: Playground, url: &str) -> Option<Server> {
    playground
        .setup
        .servers
        .with(|servers| servers.iter().find(|server| *server.url == *url).cloned())
}

/// Whether an environment of this name, or address, can be opened. On a server the user must agree first
/// ([`volary_app::playground::consent`]).
pub fn knows(playground: Playground, environment: &str) -> bool {
    setup::entry(playground, environment).is_some()
        || server(playground, environment).is_some()
        || python::python_entry(playground, environment).is_some()
}

/// Whether a server is chosen.
pub fn is_server_chosen(playground: Playground) -> bool {
    playground.setup.environment.with(|name| is_server(name))
}

/// Whether the shown episode was played on a server.
pub fn shows_remote(playground: Playground) -> bool {
    playground
        .episode
        .with_untracked(|episode| is_remote(episode))
}

/// Follows the list of servers, which other tabs change as well.
pub(super) fn follow_servers(playground: Playground) {
    playground.setup.servers.set(untrack(keeping::servers));
    Effect::new(move |_| playground.setup.servers.set(keeping::servers()));
}

/// Fills the set-up for a server.
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

/// Opens the task that is set up, if it is chosen as it should be.
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

/// Says that a server must be connected to first.
pub(super) fn say_not_connected(playground: Playground, url: &str) {
    playground.alert(Notice::new(
        "You are not connected to this server.",
        format!("The address names the task dataset server {url}."),
        "If you trust it, connect to it in the settings, then open the link again.",
    ));
}

/// Says that an environment on a server was lost, and what can be done.
pub(super) fn say_lost(playground: Playground, reason: Text) {
    playground.alert(Notice::new(
        "The environment on the server was lost, so the episode ended.",
        reason.to_string(),
        "All steps so far are kept. Reset starts a new environment. Going back to an earlier \
         step also starts a new one and repeats the actions there; the results may differ.",
    ));
}

/// How a worker may call the server of a recipe; nothing if it is played here.
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

/// Remembers what a worker has begun on servers, so that it can be closed without the worker.
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

/// Closes what is open on servers, without waiting.
pub fn leave_servers(playground: Playground) {
    let open_remotely = playground
        .driver
        .try_update_value(|driver| std::mem::take(&mut driver.open_remotely));
    for RemoteEnvironment { url, env_id } in open_remotely.into_iter().flatten() {
        transport::close_and_go(&url, keeping::key_of(&url).as_ref(), &env_id);
    }
}

/// Whether an episode was played on a server.
pub fn is_remote(episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    recipe.is_some_and(|recipe| is_server(&recipe.environment))
}

/// Whether the name of an environment is a server's. Names here and links there were held to be
/// addresses before, which this part of the code need not do again: no other name looks like one.
fn is_server(name: &str) -> bool {
    name.contains("://") && task::python_file(name).is_none()
}
