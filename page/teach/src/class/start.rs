//! The tasks of assignments: from the playground and its links, and as something to play.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::playground::sharing::What;
use volary_app::playground::tasks::{self, TaskPlace};
use volary_classroom::{AssignedTask, Name, TaskStart};
use volary_episode::share;
use volary_lesson::{Play, Recording};
use volary_view::route::{PlaygroundPlace, Route};

use volary_playground::entries;
use volary_playground::state::Playground;
use volary_playground::transfer;

/// The task of the episode that the playground shows, without its steps.
pub fn of_playground(playground: Playground) -> Result<AssignedTask, String> {
    let offer = transfer::offer(playground);
    of_link(playground, &offer.link(What::Task, false)?)
}

/// A task of one of the page's lists.
pub fn of_list(playground: Playground, place: TaskPlace) -> Option<AssignedTask> {
    playground.setup().sources.with_untracked(|sources| {
        let task = tasks::at(sources, place)?;
        Some(AssignedTask {
            title: Name::new(&task.title),
            start: TaskStart::Named {
                environment: task.environment.to_owned(),
                task: Some(task.id.to_string()),
                seed: 0,
            },
        })
    })
}

/// The task of a playground link. The steps in it, if any, are left out.
pub fn of_link(playground: Playground, link: &str) -> Result<AssignedTask, String> {
    let start = start_of(link)?;
    let environment = environment_of(&start).unwrap_or_default();
    match untrack(|| entries::entry(playground, &environment)) {
        Some(entry) => Ok(AssignedTask {
            title: title(playground, &start).unwrap_or_else(|| Name::new(entry.name)),
            start,
        }),
        None => Err(format!(
            "Pupils can play only environments that come with the page, and \"{environment}\" is not one of them."
        )),
    }
}

/// How the task of a link begins.
fn start_of(link: &str) -> Result<TaskStart, String> {
    let hash = link.trim().split_once('#').map(|(_, hash)| hash);
    let Some(Route::Playground(place)) = hash.map(Route::parse) else {
        return Err(
            "This is not a link to a task. Copy one from Share in the playground.".to_owned(),
        );
    };
    match &place.episode {
        Some(text) => {
            let shared = share::decode(text).map_err(|error| error.to_string())?;
            let recipe = share::encode(&shared.recipe, []).map_err(|error| error.to_string())?;
            Ok(TaskStart::Packed { recipe })
        }
        None => named(&place),
    }
}

fn named(place: &PlaygroundPlace) -> Result<TaskStart, String> {
    let environment = place.environment.clone().filter(|_| {
        // A stored episode and a file with code exist elsewhere.
        place.stored.is_none() && place.url.is_none()
    });
    let environment = environment.ok_or(
        "The link does not name a task that every browser has. Copy the link to the task from Share in the \
         playground.",
    )?;
    Ok(TaskStart::Named {
        environment,
        task: place.task.clone(),
        seed: place.seed.unwrap_or_default(),
    })
}

fn environment_of(start: &TaskStart) -> Option<String> {
    match start {
        TaskStart::Packed { recipe } => {
            let shared = share::decode(recipe).ok()?;
            Some(shared.recipe.environment.to_string())
        }
        TaskStart::Named { environment, .. } => Some(environment.clone()),
    }
}

/// The title of a task in the page's lists.
fn title(playground: Playground, start: &TaskStart) -> Option<Name> {
    let TaskStart::Named {
        environment, task, ..
    } = start
    else {
        return None;
    };
    playground.setup().sources.with_untracked(|sources| {
        let place = match task {
            Some(id) => tasks::find(sources, Some(environment), id),
            None => tasks::first(sources, Some(environment)),
        };
        Some(Name::new(&tasks::at(sources, place?)?.title))
    })
}

/// A task as something to play, without any recorded action.
pub fn play(
    playground: Playground,
    number: usize,
    task: &AssignedTask,
) -> Result<Arc<Play>, String> {
    let mut play = Play {
        id: format!("task-{number}"),
        title: format!("{number}. {}", task.title),
        environment: String::new(),
        task: None,
        configuration: Default::default(),
        seed: 0,
        recording: Recording::Actions(Vec::new()),
        is_playable: true,
        solution: Vec::new(),
        line: 0,
    };
    match &task.start {
        TaskStart::Packed { recipe } => {
            let recipe = share::decode(recipe)
                .map_err(|error| error.to_string())?
                .recipe;
            play.environment = recipe.environment.to_string();
            play.configuration = recipe.configuration;
            play.seed = recipe.seed;
        }
        TaskStart::Named {
            environment,
            task,
            seed,
        } => {
            play.environment = environment.clone();
            play.seed = *seed;
            play.task = task.clone().or_else(|| {
                playground.setup().sources.with_untracked(|sources| {
                    let first = tasks::first(sources, Some(environment))?;
                    Some(tasks::at(sources, first)?.id.to_string())
                })
            });
        }
    }
    Ok(Arc::new(play))
}

#[cfg(test)]
mod tests {
    use volary_core::{ToolRequestMessage, object};
    use volary_episode::Recipe;

    use super::*;

    #[test]
    fn a_link_names_a_task_of_the_page() {
        let named = |environment: &str, task: Option<&str>, seed| TaskStart::Named {
            environment: environment.to_owned(),
            task: task.map(str::to_owned),
            seed,
        };
        for (link, start) in [
            ("#/run/counter", named("counter", None, 0)),
            (
                "https://volary.example/app/#/run/calculator?task=easy-02&seed=7",
                named("calculator", Some("easy-02"), 7),
            ),
            (" #/run/counter?step=3\n", named("counter", None, 0)),
        ] {
            assert_eq!(start_of(link), Ok(start), "{link}");
        }
    }

    #[test]
    fn a_link_to_an_episode_gives_its_task_without_the_steps() {
        let recipe = Recipe {
            environment: "counter".into(),
            configuration: object!({ "target": 5 }),
            seed: 9,
            ..Recipe::default()
        };
        let action = ToolRequestMessage::default().into();
        let text = share::encode(&recipe, [&action]).unwrap();
        let start = start_of(&format!("#/run/counter?step=1&e={text}")).unwrap();
        let TaskStart::Packed { recipe: packed } = &start else {
            panic!("{start:?}");
        };
        let shared = share::decode(packed).unwrap();
        assert_eq!(shared.recipe, recipe);
        assert_eq!(shared.actions.len(), 0);
        assert_eq!(environment_of(&start).as_deref(), Some("counter"));
    }

    #[test]
    fn what_other_browsers_cannot_open_is_refused() {
        let not_a_link = "This is not a link to a task.";
        let not_everywhere = "The link does not name a task that every browser has.";
        for (link, reason) in [
            ("", not_a_link),
            ("counter", not_a_link),
            ("https://volary.example/", not_a_link),
            ("#/review?url=a.json", not_a_link),
            ("#/run/counter?id=stored", not_everywhere),
            (
                "#/run/python?url=https%3A%2F%2Fa.example%2Fa.py",
                not_everywhere,
            ),
        ] {
            let error = start_of(link).unwrap_err();
            assert!(error.starts_with(reason), "{link}: {error}");
        }
        assert!(start_of("#/run/counter?e=damaged").is_err());
    }
}
