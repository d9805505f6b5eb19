//! The first view: the first task's episode after its reset, and everything that the panes around it show, from an
//! embedded record. It needs no code of any environment. Pure.
//!
//! Invariant: the record equals what the environments return; a test compares them.

use std::sync::Arc;
use volary_app::playground::tasks::TaskSource;

use volary_core::dataset::Task;
use volary_core::json::{Json, Object, Text};
use volary_core::message::Message;
use volary_core::registry::{EnvironmentEntry, Registry, RegistryError};
use volary_core::tool::{FunctionInfo, Parameters};
use volary_core::{Frame, Tool, json};
use volary_episode::{Episode, Recipe, TaskReference};

/// The member of the opening frame's state that the player does not see yet.
pub const HIDDEN_MEMBER: &str = "answer";

/// Written from `volary_envs` by the test below.
const RECORD: &str = include_str!("first_view.json");

/// The environments by name, as far as they are known without their code. None of them can be opened yet.
pub fn registry() -> Registry {
    let entry = |card: &volary_envs::Card| EnvironmentEntry {
        name: card.name,
        summary: card.summary,
        configuration: || configuration().unwrap_or_else(|| json!({"type": "object"})),
        make: |_, _| Err(RegistryError::Described),
        from_task: None,
        view: None,
        oracle: card.oracle.then_some(|_| None),
    };
    Registry {
        environments: volary_envs::CARDS.iter().map(entry).collect(),
        datasets: Vec::new(),
    }
}

/// The JSON Schema of the opening environment's configuration.
pub fn configuration() -> Option<Json> {
    part("configuration")
}

/// The episode, ready to be played.
///
/// It does not use the general reader of episodes: this one reads only the fields that an opening has, so that the
/// general reader stays out of the first load.
pub fn episode() -> Option<Episode> {
    let record = part("episode")?;
    let recipe = record.get("recipe")?;
    let task = recipe.get("task")?;
    let frame = Frame {
        state: part("frame")?.get("state")?.clone(),
        ..Frame::default()
    };
    let tools = record.get("tools")?.as_list()?.iter();
    let start = record.get("start")?.as_list()?.iter();
    Some(Episode {
        recipe: Some(Recipe {
            environment: text(recipe, "environment")?,
            configuration: recipe.get("configuration")?.as_object()?.clone(),
            seed: 0,
            task: Some(TaskReference {
                dataset: text(task, "dataset")?,
                id: text(task, "id")?,
            }),
        }),
        tools: tools.map(tool).collect::<Option<_>>()?,
        start: start
            .map(|message| Some(Message::user(text(message, "content")?).into()))
            .collect::<Option<_>>()?,
        frames: frame.into(),
        ..Episode::default()
    })
}

fn tool(tool: &Json) -> Option<Tool> {
    let parameters = tool.get("parameters")?;
    let required = parameters.get("required")?.as_list()?.iter();
    Some(Tool {
        info: FunctionInfo {
            name: text(tool, "name")?,
            description: text(tool, "description")?,
            parameters: Some(Parameters {
                properties: parameters.get("properties")?.as_object()?.clone(),
                required: required.filter_map(Json::as_text).cloned().collect(),
                extras: Object::default(),
            }),
        },
        concurrency_safe: true,
    })
}

fn text(of: &Json, key: &str) -> Option<Text> {
    of.get(key)?.as_text().cloned()
}

/// The list of tasks, truncated to the first one.
pub fn source() -> Option<TaskSource> {
    let recipe = episode()?.recipe?;
    let task = recipe.task?;
    Some(TaskSource {
        dataset: task.dataset,
        title: part("dataset")?.as_text()?.clone(),
        tasks: Arc::from([Task {
            id: task.id,
            title: part("task")?.as_text()?.clone(),
            environment: volary_envs::CARDS[0].name,
            configuration: recipe.configuration,
        }]),
        file: None,
    })
}

fn part(key: &str) -> Option<Json> {
    Json::parse(RECORD).ok()?.get(key).cloned()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use futures_util::FutureExt;
    use volary_agent::Runner;
    use volary_app::playground::tasks;
    use volary_core::clock::Standstill;
    use volary_core::view::ViewInput;
    use volary_episode::native;
    use volary_view::form::Form;

    use super::*;
    use crate::hidden_members;

    /// Set `UPDATE_FIRST_VIEW` to rewrite the record.
    #[test]
    fn the_record_is_what_the_environments_give() {
        let registry = volary_envs::registry();
        let sources = tasks::built_in(&registry);
        let list = &sources[0];
        let recipe = tasks::recipe(list, &list.tasks[0], 0);
        let entry = registry.environment(&recipe.environment).unwrap();
        assert_eq!(entry.name, volary_envs::CARDS[0].name);
        let (_, opening) = Runner::open(&registry, &recipe, Rc::new(Standstill))
            .now_or_never()
            .unwrap()
            .unwrap();
        let view = entry.view.unwrap()(&ViewInput {
            frame: &opening.frame,
            messages: &opening.messages,
            reward: None,
            done: false,
        });
        assert!(view.blocks.is_empty(), "the first view draws none");
        let given = json!({
            "configuration": ((entry.configuration)()),
            "dataset": (list.title.clone()),
            "task": (list.tasks[0].title.clone()),
            "frame": (native::frame_to_json(&opening.frame)),
            "episode": (native::episode_to_json(&opening.episode(recipe)))
        });
        let text = given.to_python_text();
        if std::env::var_os("UPDATE_FIRST_VIEW").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/first_view.json");
            std::fs::write(path, &text).unwrap();
        } else {
            assert_eq!(RECORD, text, "run this test with UPDATE_FIRST_VIEW=1");
        }
    }

    #[test]
    fn its_answer_is_hidden() {
        let marked = hidden_members::marked(&configuration().unwrap());
        assert_eq!(marked, [HIDDEN_MEMBER.into()]);
        let state = part("frame").unwrap().get("state").cloned().unwrap();
        assert!(state.get(HIDDEN_MEMBER).is_some());
    }

    #[test]
    fn the_short_way_of_reading_gives_the_whole_episode() {
        let whole = native::episode_from_json(&part("episode").unwrap()).unwrap();
        assert_eq!(episode().unwrap(), whole);
    }

    #[test]
    fn fields_hold_the_configuration_without_loss() {
        let value = episode().unwrap().recipe.unwrap().configuration.into();
        let schema = configuration().unwrap();
        let careful = Form::with_value(schema.clone(), &value);
        assert_eq!(Form::holding(schema, &value).mode(), careful.mode());
    }

    #[test]
    fn the_first_task_of_the_record_is_that_of_the_list() {
        let sources = tasks::built_in(&volary_envs::registry());
        let known = source().unwrap();
        assert_eq!(known.dataset, sources[0].dataset);
        assert_eq!(known.title, sources[0].title);
        assert_eq!(known.tasks[0], sources[0].tasks[0]);
    }

    #[test]
    fn cards_match_the_registry() {
        let (known, whole) = (registry(), volary_envs::registry());
        let said = |registry: &Registry| -> Vec<_> {
            let entries = registry.environments.iter();
            entries
                .map(|entry| (entry.name, entry.summary, entry.oracle.is_some()))
                .collect()
        };
        assert_eq!(said(&known), said(&whole));
    }
}
