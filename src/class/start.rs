//! The tasks of assignments: from the playground and its links, and as something to play.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::playground::sharing::What;
use volary_app::playground::tasks::{self, TaskPlace};
use volary_classroom::{AssignedTask, Name, TaskStart};
use volary_lesson::{Play, Recording};
use volary_trajectory::share;

use crate::playground::setup;
use crate::playground::state::Playground;
use crate::playground::transfer;
use crate::route::{PlaygroundPlace, Route};

/// The task of the episode that the playground shows, without its steps.
pub fn of_playground(playground: Playground) -> Result<AssignedTask, String> {
    let offer = transfer::offer(playground);
    of_link(playground, &offer.link(What::Task, false)?)
}

/// A task of one of the page's lists.
pub fn of_list(playground: Playground, place: TaskPlace) -> Option<AssignedTask> {
    playground.setup.sources.with_untracked(|sources| {
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
    let hash = link.trim().split_once('#').map_or("", |(_, hash)| hash);
    let Route::Playground(place) = Route::parse(hash) else {
        return Err(
            "This is not a link to a task. Copy one from Share in the playground.".to_owned(),
        );
    };
    let start = match &place.episode {
        Some(text) => {
            let shared = share::decode(text).map_err(|error| error.to_string())?;
            let recipe = share::encode(&shared.recipe, []).map_err(|error| error.to_string())?;
            TaskStart::Packed { recipe }
        }
        None => named(&place)?,
    };
    let environment = environment_of(&start).unwrap_or_default();
    match untrack(|| setup::entry(playground, &environment)) {
        Some(entry) => Ok(AssignedTask {
            title: title(playground, &start).unwrap_or_else(|| Name::new(entry.name)),
            start,
        }),
        None => Err(format!(
            "Pupils can play only environments that come with the page, and \"{environment}\" is not one of them."
        )),
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
    playground.setup.sources.with_untracked(|sources| {
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
                playground.setup.sources.with_untracked(|sources| {
                    let first = tasks::first(sources, Some(environment))?;
                    Some(tasks::at(sources, first)?.id.to_string())
                })
            });
        }
    }
    Ok(Arc::new(play))
}
