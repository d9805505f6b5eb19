//! Environments on task dataset servers: which ones the playground knows, and closing them.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::consent::{PlannedEpisode, Reach, Then};
use volary_app::playground::known;
use volary_core::json::{Object, Text};
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::ServerAccess;
use volary_remote::task;
use volary_view::form::Form;

use super::entries;
use super::python;
use super::signals::CONFIGURATION_FORM;
use super::state::Playground;
use volary_browser as browser;
use volary_connections::remote::servers::{self, Server};
use volary_connections::remote::{keeping, transport};

/// The server at an address, if the user connected to it.
pub fn server(playground: Playground, url: &str) -> Option<Server> {
    playground
        .setup()
        .servers
        .with(|servers| servers.iter().find(|server| *server.url == *url).cloned())
}

/// Returns whether an environment with this name or address can be opened. On a server the user must agree first
/// ([`volary_app::playground::consent`]).
pub fn knows(playground: Playground, environment: &str) -> bool {
    entries::entry(playground, environment).is_some()
        || server(playground, environment).is_some()
        || python::python_entry(playground, environment).is_some()
}

/// Returns whether a server is chosen.
pub fn is_server_chosen(playground: Playground) -> bool {
    playground
        .setup()
        .environment
        .with(|name| known::is_server_name(name))
}

/// The environments on servers and in Python files, and how far the page trusts each. Tracks changes.
pub(super) fn others(playground: Playground) -> Vec<(Text, Reach)> {
    let setup = playground.setup();
    let mut others: Vec<_> = setup.servers.with(|servers| {
        let urls = servers.iter().map(|server| server.url.clone());
        urls.map(|url| (url, Reach::Connected)).collect()
    });
    setup.python.with(|entries| {
        others.extend(entries.iter().map(|entry| {
            let reach = if entries.knows(&entry.source) {
                Reach::Local
            } else {
                Reach::Connected
            };
            (entry.environment.clone(), reach)
        }));
    });
    others
}

/// Follows the stored list of servers, which other tabs change as well.
pub(super) fn follow_servers(playground: Playground) {
    playground.setup().servers.set(untrack(keeping::servers));
    Effect::new(move |_| playground.setup().servers.set(keeping::servers()));
}

/// Fills the form for a server.
pub(super) fn configure_server(
    playground: Playground,
    server: &Server,
    configuration: Option<&Object>,
) {
    let schema = task::configuration(server.size);
    let chosen = configuration
        .cloned()
        .unwrap_or_else(|| servers::first_task(server));
    let form = playground.setup().form;
    form.set(Form::with_value(schema, &chosen.into()));
}

/// Plans a new environment on a server, when an address names the server without an episode.
pub(super) fn plan_task(playground: Playground, url: &str) {
    let Some(server) = untrack(|| server(playground, url)) else {
        return;
    };
    let configuration = servers::first_task(&server);
    let recipe = servers::recipe(&server.url, &configuration).unwrap_or_else(|_| Recipe {
        environment: server.url.clone(),
        ..Recipe::default()
    });
    playground.update(Event::Plan(PlannedEpisode {
        recipe,
        actions: Vec::new(),
        then: Then::Open(None),
    }));
}

/// Opens the configured task on the server, if the task is valid.
pub(super) fn reset_on_server(playground: Playground, configuration: &Object) {
    let url = playground.setup().environment.get_untracked();
    match servers::recipe(&url, configuration) {
        Ok(recipe) => {
            playground.open(recipe, Vec::new());
        }
        Err(unfit) => {
            let form = playground.setup().form;
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

/// Credentials with which a worker may call the server of a recipe; empty if the environment is local.
pub(super) fn access(playground: Playground, recipe: &Recipe) -> Vec<ServerAccess> {
    if !task::is_server(&recipe.environment) {
        return Vec::new();
    }
    let server = playground.setup().servers.with_untracked(|servers| {
        let mut servers = servers.iter();
        servers
            .find(|server| server.url == recipe.environment)
            .cloned()
    });
    keeping::access(server.as_slice())
}

/// Closes an environment on its server, without waiting for the result.
pub(super) fn close(url: &str, env_id: &str) {
    transport::close_and_go(url, keeping::key_of(url).as_ref(), env_id);
}

/// Returns whether an episode was played on a server.
pub fn is_remote(episode: &Episode) -> bool {
    known::is_remote(episode)
}
