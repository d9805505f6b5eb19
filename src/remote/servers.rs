//! The servers that the person connected to. Pure.

use serde::{Deserialize, Serialize};
use volary_core::Object;
use volary_core::json::{Json, Text, from_json, to_json};
use volary_protocol::environments::ServerAccess;
use volary_remote::request::Start;
use volary_remote::{Frames, task};
use volary_trajectory::{Recipe, TaskReference};

/// A server, under a name. It holds no key: keys are stored separately, so that a list of servers can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// What the person calls it.
    pub name: Text,
    /// Its address, without a slash at the end; unique among the person's servers.
    pub url: Text,
    /// How many tasks it had when the person connected; `None` if it did not say.
    pub size: Option<u64>,
    /// Whether it sends frames, if it says so.
    pub frames: Option<bool>,
}

impl Server {
    /// The list as it is stored.
    pub fn list_to_text(servers: &[Server]) -> String {
        // Texts and numbers can always be written.
        to_json(servers).unwrap_or_default().to_compact_text()
    }

    /// Reads a stored list. Servers that cannot be read are left out.
    pub fn list_of(text: &str) -> Vec<Server> {
        let stored = Json::parse(text).ok();
        let servers = stored.as_ref().and_then(Json::as_list).unwrap_or(&[]);
        let servers = servers.iter().filter_map(|server| from_json(server).ok());
        servers
            .filter(|server: &Server| task::is_server(&server.url))
            .collect()
    }
}

/// Whether the frames of a server are worth asking for.
pub fn frames_of(access: &ServerAccess) -> Frames {
    match access.frames {
        Some(true) => Frames::Shown,
        Some(false) => Frames::NotShown,
        None => Frames::Unknown,
    }
}

/// What is wrong with the choice of a task: the key at fault, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The key.
    pub key: &'static str,
    /// Why.
    pub reason: String,
}

/// The task of a recipe's configuration.
pub fn start_of(configuration: &Object) -> Result<Start, Unfit> {
    Start::read(Some(&configuration.clone().into())).map_err(|problems| Unfit {
        key: task::TASK_ARGUMENTS,
        reason: problems
            .first()
            .map_or_else(String::new, |problem| problem.message.to_string()),
    })
}

/// The recipe of a task on a server. Seeds are the server's business.
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

/// What stands in the form of a server that was just chosen: its first task, if its tasks are numbered.
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
    fn servers_are_kept() {
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
