//! Converts the form into a plan.

use leptos::prelude::*;
use volary_agent::evaluation::{Plan, PlannedPolicy, PlannedTask};
use volary_app::evaluation::summary;
use volary_core::json::{Json, Object};
use volary_core::object;
use volary_remote::task::TASK_INDEX;

use super::Setup;
use super::source::{COPY, place_of};
use crate::evaluate::setup;
use crate::evaluate::setup::tasks::{self, Source, Tasks};
use crate::playground::python;
use crate::playground::remote_environments;
use crate::projection::form::Form;
use crate::python::files;

impl Setup {
    /// The plan if all fields are valid; otherwise invalid ones are marked.
    pub(super) fn plan(self) -> Option<Plan> {
        let submit = |form: RwSignal<Form>| form.try_update(Form::submit).flatten();
        let (tasks, general, pace) = (submit(self.tasks), submit(self.general), submit(self.pace));
        let posts = self.policies.get_untracked();
        let policies: Vec<Option<PlannedPolicy>> = posts
            .into_iter()
            .map(|post| {
                let value = submit(post.form)?;
                match post.kind.with_untracked(|kind| setup::policy(kind, &value)) {
                    Ok(policy) => Some(policy),
                    Err((key, reason)) => {
                        post.form.update(|form| form.refuse(key, &reason));
                        None
                    }
                }
            })
            .collect();
        let tasks = self.planned_tasks(&tasks?)?;
        let policies = policies.into_iter().collect::<Option<Vec<_>>>()?;
        Some(setup::plan(tasks, policies, &general?, &pace?))
    }

    fn planned_tasks(self, value: &Json) -> Option<Tasks> {
        let source = self.source.get_untracked();
        let configuration = || self.configuration.try_update(Form::submit).flatten();
        if let Some(name) = source.strip_prefix("environment:") {
            return Some(Tasks {
                title: name.into(),
                dataset: None,
                list: tasks::seeds(&name.into(), configuration()?.as_object()?, value),
            });
        }
        let choice = self.choice.get_untracked();
        let playground = self.evaluations.playground;
        if source == COPY {
            let selection = tasks::selection(untrack(|| self.origin()), &choice, value);
            return self.copied.with_untracked(|plan| {
                let plan = plan.as_ref()?;
                let places = selection.places(plan.tasks.len()).into_iter();
                Some(Tasks {
                    title: summary::source(plan)?,
                    dataset: plan.dataset.clone(),
                    list: places
                        .filter_map(|place| plan.tasks.get(place).cloned())
                        .collect(),
                })
            });
        }
        if let Some(environment) = source.strip_prefix("python:") {
            let entry = untrack(|| python::python_entry(playground, environment))?;
            let description = entry.description.unwrap_or_default();
            let list = match description.size {
                Some(size) => {
                    let source = Source::of_server(Some(size));
                    let length = source.length().unwrap_or_default();
                    let places = tasks::selection(source, &choice, value).places(length);
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
                    let values = configuration()?;
                    let recipe = files::recipe(&entry.source, &description, values.as_object()?, 0);
                    tasks::seeds(&recipe.environment, &recipe.configuration, value)
                }
            };
            return Some(Tasks {
                title: entry.name,
                dataset: description.size.map(|_| entry.environment.clone()),
                list,
            });
        }
        if let Some(url) = source.strip_prefix("server:") {
            let server = untrack(|| remote_environments::server(playground, url))?;
            let (dataset, arguments) = match server.size {
                Some(_) => (Some(server.url.clone()), Object::new()),
                None => (None, configuration()?.as_object()?.clone()),
            };
            return Some(Tasks {
                title: server.name.clone(),
                dataset,
                list: tasks::of_server(&server, &choice, &arguments, value),
            });
        }
        let selection = tasks::selection(untrack(|| self.origin()), &choice, value);
        playground.setup.sources.with_untracked(|sources| {
            let list = sources.get(place_of(&source)?)?;
            let places = selection.places(list.tasks.len());
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
        })
    }
}
