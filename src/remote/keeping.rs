//! What the browser keeps of servers: the list for always, keys where all keys are.

use volary_agent::model::ApiKey;
use volary_core::json::Text;
use volary_protocol::environments::ServerAccess;

use super::servers::Server;
use crate::secrets::{self, NotKept};
use crate::shell::storage::{self, Keep};

const SERVERS: &str = "servers";

/// The servers that the person connected to.
pub fn servers() -> Vec<Server> {
    storage::get(Keep::Always, SERVERS).map_or_else(Vec::new, |text| Server::list_of(&text))
}

/// Keeps the list; false where the browser refused.
pub fn keep(servers: &[Server]) -> bool {
    storage::set(Keep::Always, SERVERS, &Server::list_to_text(servers))
}

/// The key of a server.
pub fn key_of(url: &str) -> Option<Text> {
    let key = secrets::key(&owner(url), url);
    (!key.is_empty()).then(|| key.expose().into())
}

/// Keeps the key of a server, as all keys are kept; an empty one is forgotten.
pub fn keep_key(url: &str, key: &str) -> Result<(), NotKept> {
    secrets::put(&owner(url), url, &ApiKey::new(key))
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
    format!("server.{url}")
}
