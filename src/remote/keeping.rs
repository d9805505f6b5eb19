//! What the browser keeps of servers: the list for always, keys where all keys are.

use leptos::prelude::*;
use volary_agent::model::ApiKey;
use volary_core::json::{Json, Text};
use volary_protocol::environments::ServerAccess;

use super::servers::Server;
use crate::secrets::{self, NotKept, Origin};
use crate::shared::Shared;

/// Before the address of a server that owns keys.
const OWNERS: &str = "server.";

thread_local! {
    static SERVERS: Shared<Vec<Server>> = Shared::new(
        "servers",
        |text| Json::parse(text).is_ok().then(|| Server::list_of(text)),
        |servers| Server::list_to_text(servers),
        // Another tab, or an earlier visit, may have forgotten a server whose key is still here.
        |servers| {
            secrets::keep_owners(OWNERS, |url| servers.iter().any(|server| *server.url == *url));
        },
    );
}

/// The servers that the person connected to. Tracks changes.
pub fn servers() -> Vec<Server> {
    SERVERS.with(Shared::signal).get()
}

/// Changes the list, here and in all other tabs.
pub fn change(act: impl FnOnce(&mut Vec<Server>)) {
    SERVERS.with(|servers| servers.change(act));
}

/// The key of a server.
pub fn key_of(url: &str) -> Option<Text> {
    let key = secrets::key(&owner(url), &Origin::of(url));
    (!key.is_empty()).then(|| key.expose().into())
}

/// Keeps the key of a server, as all keys are kept; an empty one is forgotten.
pub fn keep_key(url: &str, key: &str) -> Result<(), NotKept> {
    secrets::put(&owner(url), &Origin::of(url), &ApiKey::new(key))
}

/// Forgets the key of a server.
pub fn forget_key(url: &str) -> Result<(), NotKept> {
    secrets::remove(&owner(url))
}

/// What a worker needs to call the servers.
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
