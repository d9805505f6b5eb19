//! The model connections: a list with a default, stored between visits without the keys.
//!
//! [`Connections`] is a plain value; [`read`], [`get`] and [`change`] access that of the page.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use volary_agent::model::connection::{PRESETS, Preset};
use volary_agent::model::{ApiKey, Connection};
use volary_core::json::{self, Json, Text, from_json, to_json};

use volary_browser as browser;
use volary_browser::shared::{Shared, Unsaved};
use volary_secrets::{self as secrets, KeyOrigin};

/// A stored connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The id, which never changes.
    pub id: Text,
    /// The preset, if any, whose hints apply even if the address was changed.
    pub preset: Option<&'static Preset>,
    /// The connection, possibly incomplete: see [`Connection::check`].
    pub connection: Connection,
}

/// The stored form of a connection.
#[derive(Serialize, Deserialize)]
struct StoredConnection {
    id: Text,
    connection: Connection,
    /// The name of the preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
}

/// The stored form of all connections.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredConnections {
    /// Each is a [`StoredConnection`]. They are decoded separately, so that an invalid one does not hide the others.
    list: Vec<Json>,
    /// The id of the default connection, or `null`.
    default: Json,
}

impl Saved {
    /// The owner of its key in [`volary_secrets`].
    pub fn owner(&self) -> String {
        format!("{OWNERS}{}", self.id)
    }

    /// The origin of its requests.
    pub fn origin(&self) -> KeyOrigin {
        KeyOrigin::of(&self.connection.base_url)
    }

    /// The key for the origin of its base URL; empty if none was entered for it. Tracks changes.
    pub fn key(&self) -> ApiKey {
        secrets::key(&self.owner(), &self.origin())
    }

    /// Whether there is a key for the origin of its base URL. Tracks changes.
    pub fn has_key(&self) -> bool {
        secrets::has(&self.owner(), &self.origin())
    }
}

/// The model connections of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    list: Vec<Saved>,
    default: Option<Text>,
}

impl Connections {
    /// The connections in display order.
    pub fn list(&self) -> &[Saved] {
        &self.list
    }

    /// The connection with an id.
    pub fn find(&self, id: &str) -> Option<&Saved> {
        self.list.iter().find(|saved| *saved.id == *id)
    }

    /// Returns the default connection, or else the first one.
    pub fn default_one(&self) -> Option<&Saved> {
        let chosen = self.default.as_deref().and_then(|id| self.find(id));
        chosen.or_else(|| self.list.first())
    }

    pub fn set_default(&mut self, id: &str) {
        self.default = Some(id.into());
    }

    /// Adds a connection and makes its name unique.
    pub fn add(&mut self, mut saved: Saved) {
        saved.connection.name = self.free_name(&saved.connection.name, &saved.id);
        self.list.push(saved);
    }

    /// Adds a copy with a new id after the original.
    pub fn duplicate(&mut self, id: &str, copy: impl Into<Text>) {
        let Some(place) = self.list.iter().position(|saved| *saved.id == *id) else {
            return;
        };
        let mut saved = self.list[place].clone();
        saved.id = copy.into();
        saved.connection.name = self.free_name(&saved.connection.name, &saved.id);
        self.list.insert(place + 1, saved);
    }

    /// Removes a connection.
    pub fn remove(&mut self, id: &str) {
        self.list.retain(|saved| *saved.id != *id);
        if self.default.as_deref() == Some(id) {
            self.default = None;
        }
    }

    /// Edits a connection and makes its name unique again. Does nothing if the id is unknown.
    pub fn edit(&mut self, id: &str, change: impl FnOnce(&mut Saved)) {
        let Some(place) = self.list.iter().position(|saved| *saved.id == *id) else {
            return;
        };
        change(&mut self.list[place]);
        let name = self.free_name(&self.list[place].connection.name, id);
        self.list[place].connection.name = name;
    }

    /// The name, with a number appended if it is taken.
    fn free_name(&self, wanted: &str, id: &str) -> Text {
        let wanted = wanted.trim();
        let taken = |name: &str| {
            let mut others = self.list.iter().filter(|saved| *saved.id != *id);
            others.any(|saved| *saved.connection.name == *name)
        };
        if !taken(wanted) {
            return wanted.into();
        }
        let numbered = (2..).map(|number: u32| format!("{} {number}", without_number(wanted)));
        let mut free = numbered.filter(|name| !taken(name));
        free.next().unwrap_or_default().into()
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let list = self.list.iter().map(|saved| StoredConnection {
            id: saved.id.clone(),
            connection: saved.connection.clone(),
            preset: saved.preset.map(|preset| preset.name.to_owned()),
        });
        let stored = StoredConnections {
            list: list.filter_map(|stored| to_json(&stored).ok()).collect(),
            default: self.default.clone().into(),
        };
        // Strings can always be serialized.
        to_json(&stored).unwrap_or_default()
    }

    /// Parses the stored form; invalid entries are dropped.
    pub fn read(value: &Json) -> Self {
        let stored: StoredConnections = from_json(value).unwrap_or_default();
        let mut connections = Connections::default();
        let list = stored.list.iter();
        for stored in list.filter_map(|stored| from_json::<StoredConnection>(stored).ok()) {
            if connections.find(&stored.id).is_some() {
                continue;
            }
            connections.add(Saved {
                preset: stored.preset.as_deref().and_then(preset_of),
                id: stored.id,
                connection: stored.connection,
            });
        }
        connections.default = stored.default.as_text().cloned();
        connections
    }
}

/// The preset with a name.
pub fn preset_of(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// A name without the number that made it unique.
pub(super) fn without_number(name: &str) -> &str {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    match stem.strip_suffix(' ') {
        Some(stem) if stem.len() + 1 < name.len() => stem,
        _ => name,
    }
}

/// The prefix of ids of connections that own keys.
const OWNERS: &str = "model.";

thread_local! {
    static STATE: Shared<Connections> = Shared::new(
        "models",
        |text| Some(Connections::read(&json::read(text).ok()?)),
        |connections| connections.to_json().to_compact_text(),
        // Another tab, or an earlier visit, may have deleted a connection whose key is still stored.
        |connections| secrets::keep_owners(OWNERS, |id| connections.find(id).is_some()),
    );
}

/// Reads the connections. Tracks changes.
pub fn read<T>(look: impl FnOnce(&Connections) -> T) -> T {
    STATE.with(Shared::signal).with(look)
}

/// The connection with an id. Tracks changes.
pub fn get(id: &str) -> Option<Saved> {
    read(|connections| connections.find(id).cloned())
}

/// The id of a connection if it still exists, else that of the default one. Tracks changes.
pub fn chosen(id: Option<&str>) -> Option<Text> {
    read(|connections| {
        let chosen = id.and_then(|id| connections.find(id));
        let chosen = chosen.or_else(|| connections.default_one());
        chosen.map(|saved| saved.id.clone())
    })
}

/// Changes the connections, in all tabs. If they cannot be stored, they last as long as the page.
pub fn change(act: impl FnOnce(&mut Connections)) {
    STATE.with(|state| state.change(act));
}

/// Whether changes of the connections are only in memory.
pub fn unsaved() -> Unsaved {
    STATE.with(Shared::unsaved)
}

/// A new unique id.
pub fn new_id() -> Text {
    format!("{:x}", browser::random_number()).into()
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    fn saved(id: &str, preset: &'static Preset) -> Saved {
        Saved {
            id: id.into(),
            preset: Some(preset),
            connection: Connection::of(preset),
        }
    }

    fn names(connections: &Connections) -> Vec<&str> {
        let list = connections.list().iter();
        list.map(|saved| &*saved.connection.name).collect()
    }

    #[test]
    fn names_stay_unique() {
        let mut connections = Connections::default();
        connections.add(saved("1", &PRESETS[0]));
        connections.add(saved("2", &PRESETS[0]));
        connections.duplicate("1", "3");
        connections.duplicate("3", "4");
        connections.duplicate("9", "5");
        assert_eq!(
            names(&connections),
            ["OpenAI", "OpenAI 3", "OpenAI 4", "OpenAI 2"]
        );
        connections.edit("2", |saved| saved.connection.name = " OpenAI ".into());
        connections.edit("4", |saved| saved.connection.name = "Mine".into());
        assert_eq!(
            names(&connections),
            ["OpenAI", "OpenAI 3", "Mine", "OpenAI 2"]
        );
    }

    #[test]
    fn the_default_is_the_first_until_one_is_chosen() {
        let mut connections = Connections::default();
        assert_eq!(connections.default_one(), None);
        for (id, preset) in ["1", "2", "3"].into_iter().zip(&PRESETS) {
            connections.add(saved(id, preset));
        }
        let default = |connections: &Connections| connections.default_one().unwrap().id.to_string();
        assert_eq!(default(&connections), "1");
        connections.set_default("3");
        assert_eq!(default(&connections), "3");
        connections.remove("3");
        assert_eq!(default(&connections), "1");
    }

    #[test]
    fn stored_connections_round_trip_without_keys() {
        let mut connections = Connections::default();
        connections.add(saved("1", &PRESETS[2]));
        connections.add(saved("2", &PRESETS[9]));
        connections.edit("2", |saved| {
            saved.connection.base_url = "http://10.0.0.2/v1".into()
        });
        connections.set_default("2");
        assert_eq!(Connections::read(&connections.to_json()), connections);
        let stored = connections.to_json().to_compact_text();
        let former = r#"{"list":[{"id":"1","connection":{"name":"Anthropic","provider":"anthropic","base_url":"https://api.anthropic.com","model":"#;
        assert!(stored.starts_with(former), "{stored}");
        let partly = stored.replace(r#""default":"2""#, r#""default":7"#);
        let partly = Connections::read(&json::read(&partly).unwrap());
        assert_eq!(partly.list(), connections.list());
        let nonsense = json!({"list": [1, {"id": "x"}, {"id": 3, "connection": {}}], "default": 7});
        assert_eq!(Connections::read(&nonsense), Connections::default());
        assert_eq!(Connections::read(&Json::Null), Connections::default());
    }
}
