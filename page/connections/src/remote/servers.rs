//! The servers to which the user connected. Pure.

use serde::{Deserialize, Serialize};
use volary_core::Object;
use volary_core::json::{Json, Text, from_json, to_json};
use volary_episode::{Recipe, TaskReference};
use volary_protocol::environments::ServerAccess;
use volary_remote::request::Start;
use volary_remote::{Frames, task};

/// A named server. It contains no key: keys are stored separately, so that a list of servers can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// The name that the user chose.
    pub name: Text,
    /// The address without a trailing slash; unique among the user's servers.
    pub url: Text,
    /// The number of tasks at the time of connecting; `None` if the server did not report it.
    pub size: Option<u64>,
    /// Whether it sends frames; `None` if unknown.
    pub frames: Option<bool>,
}

impl Server {
    /// Encodes the list for storage.
    pub fn list_to_text(servers: &[Server]) -> String {
        // Strings and numbers can always be serialized.
        to_json(servers).unwrap_or_default().to_compact_text()
    }

    /// Decodes a stored list. Invalid entries are skipped.
    pub fn list_of(text: &str) -> Vec<Server> {
        let stored = Json::parse(text).ok();
        let servers = stored.as_ref().and_then(Json::as_list).unwrap_or(&[]);
        let servers = servers.iter().filter_map(|server| from_json(server).ok());
        servers
            .filter(|server: &Server| task::is_server(&server.url))
            .collect()
    }
}

/// Whether the frames of a server are worth a request.
pub fn frames_of(access: &ServerAccess) -> Frames {
    match access.frames {
        Some(true) => Frames::Shown,
        Some(false) => Frames::NotShown,
        None => Frames::Unknown,
    }
}

/// An invalid choice of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The invalid key.
    pub key: &'static str,
    pub reason: String,
}

/// Reads the task from a recipe's configuration.
pub fn start_of(configuration: &Object) -> Result<Start, Unfit> {
    Start::read(Some(&configuration.clone().into())).map_err(|problems| Unfit {
        key: task::TASK_ARGUMENTS,
        reason: problems
            .first()
            .map_or_else(String::new, |problem| problem.message.to_string()),
    })
}

/// Makes the recipe of a task on a server. The server chooses seeds.
pub fn recipe(url: &Text, configuration: &Object) -> Result<Recipe, Unfit> {
    let start = start_of(configuration)?;
    let task = match &start {
        Start::Index(index) => Some(TaskReference {
            dataset: url.clone(),
            id: index.to_string().into(),
        }),
        Start::Any | Start::Arguments(_) => None,
    };
    let mut configuration = configuration.clone();
    configuration.retain(|_, value| !value.is_null());
    Ok(Recipe {
        environment: url.clone(),
        configuration,
        seed: 0,
        task,
    })
}

/// The initial form values for a newly chosen server: its first task, if its tasks are numbered.
pub fn first_task(server: &Server) -> Object {
    let mut configuration = Object::new();
    if server.size.is_some_and(|size| size > 0) {
        configuration.insert(task::TASK_INDEX, 0);
    }
    configuration
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn servers_are_stored() {
        let servers = [
            Server {
                name: "Class".into(),
                url: "http://127.0.0.1:8041".into(),
                size: Some(78),
                frames: Some(true),
            },
            Server {
                name: "\"<b>".into(),
                url: "https://env.example/a".into(),
                size: None,
                frames: None,
            },
        ];
        let text = Server::list_to_text(&servers);
        assert_eq!(Server::list_of(&text), servers);
        let first =
            r#"[{"name":"Class","url":"http://127.0.0.1:8041","size":78,"frames":true},{"name":"#;
        assert!(text.starts_with(first), "{text}");
        for nonsense in [
            "",
            "{",
            "{}",
            "[5, {}, {\"name\": \"x\", \"url\": \"javascript:1\"}]",
        ] {
            assert_eq!(Server::list_of(nonsense), []);
        }
    }

    #[test]
    fn a_task_is_named_by_the_recipe() {
        let url = Text::from("http://a");
        let chosen = recipe(&url, &object!({"task_idx": 3, "task_kwargs": null}));
        let chosen = chosen.map(|recipe| (recipe.configuration, recipe.task.map(|task| task.id)));
        assert_eq!(chosen, Ok((object!({"task_idx": 3}), Some("3".into()))));
        let both = recipe(&url, &object!({"task_idx": 3, "task_kwargs": {}}));
        assert_eq!(both.map_err(|unfit| unfit.key), Err(task::TASK_ARGUMENTS));
    }
}
