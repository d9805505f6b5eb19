//! The stored servers: a list without an expiry, and keys with all other keys.

use leptos::prelude::*;
use volary_agent::model::ApiKey;
use volary_core::json::{Json, Text};
use volary_protocol::environments::ServerAccess;

use super::servers::Server;
use volary_browser::shared::{Shared, Unsaved};
use volary_secrets::{self as secrets, KeyOrigin, NotKept};

/// The prefix of owners of server keys, before the address.
const OWNERS: &str = "server.";

thread_local! {
    static SERVERS: Shared<Vec<Server>> = Shared::new(
        "servers",
        |text| Json::parse(text).is_ok().then(|| Server::list_of(text)),
        |servers| Server::list_to_text(servers),
        // Another tab, or an earlier visit, may have removed a server whose key is still stored.
        |servers| {
            secrets::keep_owners(OWNERS, |url| servers.iter().any(|server| *server.url == *url));
        },
    );
}

/// The servers to which the user connected. Tracks changes.
pub fn servers() -> Vec<Server> {
    SERVERS.with(Shared::signal).get()
}

/// Changes the list, in all tabs.
pub fn change(act: impl FnOnce(&mut Vec<Server>)) {
    SERVERS.with(|servers| servers.change(act));
}

/// Whether changes of the list are only in memory.
pub fn unsaved() -> Unsaved {
    SERVERS.with(Shared::unsaved)
}

/// Returns the key of a server.
pub fn key_of(url: &str) -> Option<Text> {
    let key = secrets::key(&owner(url), &KeyOrigin::of(url));
    (!key.is_empty()).then(|| key.expose().into())
}

/// Stores the key of a server; an empty one is deleted.
pub fn keep_key(url: &str, key: &str) -> Result<(), NotKept> {
    secrets::put(&owner(url), &KeyOrigin::of(url), &ApiKey::new(key))
}

/// Deletes the key of a server.
pub fn forget_key(url: &str) -> Result<(), NotKept> {
    secrets::remove(&owner(url))
}

/// The data that a worker needs to call the servers.
pub fn access(servers: &[Server]) -> Vec<ServerAccess> {
    let access = servers.iter().map(|server| ServerAccess {
        url: server.url.clone(),
        key: key_of(&server.url),
        frames: server.frames,
    });
    access.collect()
}

fn owner(url: &str) -> String {
    format!("{OWNERS}{url}")
}
