//! Converts the form into a plan.

use leptos::prelude::*;
use volary_agent::evaluation::{Plan, PlannedPolicy, PlannedTask};
use volary_app::evaluation::summary;
use volary_app::evaluation::task_source::EvaluationTasks;
use volary_core::json::{Json, Object};
use volary_core::object;
use volary_remote::task::TASK_INDEX;
use volary_view::form::Form;

use super::source;
use super::state::EvaluationSetup;
use crate::setup;
use crate::setup::tasks::{self, SelectableTasks, Tasks};
use volary_app::python::files;
use volary_playground::python;
use volary_playground::python_entries::PythonEntry;
use volary_playground::remote_environments;

/// Builds the plan. If a field is invalid, marks it and returns `None`.
pub(super) fn plan(setup: EvaluationSetup) -> Option<Plan> {
    let (tasks, general, pace) = (
        submit(setup.tasks),
        submit(setup.general),
        submit(setup.pace),
    );
    let entries = setup.policies.get_untracked();
    let policies: Vec<Option<PlannedPolicy>> = entries
        .into_iter()
        .map(|entry| {
            let value = submit(entry.form)?;
            match entry
                .kind
                .with_untracked(|kind| setup::policy(kind, &value))
            {
                Ok(policy) => Some(policy),
                Err((key, reason)) => {
                    entry.form.update(|form| form.refuse(key, &reason));
                    None
                }
            }
        })
        .collect();
    let tasks = planned_tasks(setup, &tasks?)?;
    let policies = policies.into_iter().collect::<Option<Vec<_>>>()?;
    Some(setup::plan(tasks, policies, &general?, &pace?))
}

fn submit(form: RwSignal<Form>) -> Option<Json> {
    form.try_update(Form::submit).flatten()
}

/// The tasks that the form selects; `None` if the source is gone or a field is invalid.
fn planned_tasks(setup: EvaluationSetup, value: &Json) -> Option<Tasks> {
    let choice = setup.choice.get_untracked();
    let playground = setup.evaluations.playground;
    let selection = || tasks::selection(untrack(|| source::shape(setup)), &choice, value);
    match setup.source.get_untracked() {
        EvaluationTasks::Environment(name) => Some(Tasks {
            title: name.clone(),
            dataset: None,
            list: tasks::seeds(&name, submit(setup.configuration)?.as_object()?, value),
        }),
        EvaluationTasks::Copy => setup.copied.with_untracked(|plan| {
            let plan = plan.as_ref()?;
            let places = selection().indices(plan.tasks.len()).into_iter();
            Some(Tasks {
                title: summary::source(plan)?,
                dataset: plan.dataset.clone(),
                list: places
                    .filter_map(|place| plan.tasks.get(place).cloned())
                    .collect(),
            })
        }),
        EvaluationTasks::Python(id) => {
            let entry = untrack(|| python::python_entry(playground, &id))?;
            python_tasks(setup, entry, &choice, value)
        }
        EvaluationTasks::Server(url) => {
            let server = untrack(|| remote_environments::server(playground, &url))?;
            let (dataset, arguments) = match server.size {
                Some(_) => (Some(server.url.clone()), Object::new()),
                None => {
                    let arguments = submit(setup.configuration)?;
                    (None, arguments.as_object()?.clone())
                }
            };
            Some(Tasks {
                title: server.name.clone(),
                dataset,
                list: tasks::of_server(&server, &choice, &arguments, value),
            })
        }
        EvaluationTasks::Dataset(place) => playground.setup().sources.with_untracked(|sources| {
            let list = sources.get(place)?;
            let places = selection().indices(list.tasks.len());
            let chosen = places.into_iter().filter_map(|place| list.tasks.get(place));
            let chosen = chosen.map(|task| PlannedTask {
                id: task.id.clone(),
                title: task.title.clone(),
                environment: task.environment.into(),
                configuration: task.configuration.clone(),
            });
            Some(Tasks {
                title: list.dataset.clone(),
                dataset: Some(list.dataset.clone()),
                list: chosen.collect(),
            })
        }),
    }
}

/// The numbered tasks of a Python dataset, or seeds of a Python environment.
fn python_tasks(
    setup: EvaluationSetup,
    entry: PythonEntry,
    choice: &str,
    value: &Json,
) -> Option<Tasks> {
    let description = entry.description.unwrap_or_default();
    let list = match description.size {
        Some(size) => {
            let source = SelectableTasks::of_server(Some(size));
            let length = source.length().unwrap_or_default();
            let places = tasks::selection(source, choice, value).indices(length);
            let task = |place: usize| {
                let values = object!({ TASK_INDEX: (place as i64) });
                let recipe = files::recipe(&entry.source, &description, &values, 0);
                PlannedTask {
                    id: place.to_string().into(),
                    title: format!("Task {place}").into(),
                    environment: recipe.environment,
                    configuration: recipe.configuration,
                }
            };
            places.into_iter().map(task).collect()
        }
        None => {
            let values = submit(setup.configuration)?;
            let recipe = files::recipe(&entry.source, &description, values.as_object()?, 0);
            tasks::seeds(&recipe.environment, &recipe.configuration, value)
        }
    };
    Some(Tasks {
        title: entry.name,
        dataset: description.size.map(|_| entry.environment.clone()),
        list,
    })
}
