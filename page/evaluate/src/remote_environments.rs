//! Environments of evaluations on task dataset servers: access to the servers, and a registry of open environments, so
//! that they are closed even if their worker crashes or the page is closed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use leptos::prelude::untrack;
use volary_agent::evaluation::Plan;
use volary_core::json::Text;
use volary_episode::Recipe;
use volary_protocol::environments::ServerAccess;
use volary_remote::task;

use volary_browser::location;
use volary_connections::remote::{keeping, transport};

thread_local! {
    /// The open environments and the addresses of their servers.
    static OPEN: RefCell<BTreeMap<Text, Text>> = const { RefCell::new(BTreeMap::new()) };
    /// Whether the handler that closes them with the page is installed.
    static CLOSES_ON_LEAVE: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a plan has tasks on servers.
pub fn has_server_tasks(plan: &Plan) -> bool {
    let mut tasks = plan.tasks.iter();
    tasks.any(|task| {
        task::is_server(&task.environment) && task::python_file(&task.environment).is_none()
    })
}

/// Access data for the servers of these recipes, with the current keys.
pub fn access<'a>(recipes: impl IntoIterator<Item = &'a Recipe>) -> Vec<ServerAccess> {
    let mut urls: Vec<&Text> = recipes
        .into_iter()
        .map(|recipe| &recipe.environment)
        .filter(|environment| task::is_server(environment))
        .collect();
    if urls.is_empty() {
        return Vec::new();
    }
    urls.dedup();
    let mut servers = untrack(keeping::servers);
    servers.retain(|server| urls.contains(&&server.url));
    keeping::access(&servers)
}

/// Records that a worker opened an environment.
pub fn opened(url: Text, env_id: Text) {
    if !CLOSES_ON_LEAVE.replace(true) {
        location::on_leave(|| {
            let all = OPEN.with_borrow(|open| open.keys().cloned().collect::<Vec<_>>());
            close(&all);
        });
    }
    OPEN.with_borrow_mut(|open| open.insert(env_id, url));
}

/// Records that a worker closed an environment.
pub fn closed(env_id: &Text) {
    OPEN.with_borrow_mut(|open| open.remove(env_id));
}

/// Closes environments whose worker is gone, without waiting for the result.
pub fn close<'a>(env_ids: impl IntoIterator<Item = &'a Text>) {
    for env_id in env_ids {
        if let Some(url) = OPEN.with_borrow_mut(|open| open.remove(env_id)) {
            transport::close_and_go(&url, keeping::key_of(&url).as_ref(), env_id);
        }
    }
}
