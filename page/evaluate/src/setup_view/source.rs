//! The task source: its fields, and the forms that depend on it.

use leptos::prelude::*;
use volary_agent::evaluation::Plan;
use volary_app::evaluation::summary;
use volary_app::evaluation::task_source::EvaluationTasks;
use volary_app::playground::tasks;
use volary_core::json::{Json, Text};
use volary_core::quantity::plural;
use volary_remote::task::is_server;
use volary_view::form::Form;

use super::state::EvaluationSetup;
use crate::setup::PolicyChoice;
use crate::setup::tasks::{CHOICE_LABEL, CHOICES, SelectableTasks, arguments_schema, tasks_schema};
use volary_playground::entries::entry;
use volary_playground::python;
use volary_playground::python_entries::PythonEntry;
use volary_playground::remote_environments;
use volary_ui::SchemaForm;
use volary_ui::field::Field;

/// The select for the task source.
#[component]
pub(super) fn SourceField(setup: EvaluationSetup) -> impl IntoView {
    let known = setup.evaluations.playground.setup();
    let playground = setup.evaluations.playground;
    let datasets = move || {
        let datasets = known.sources.with(|sources| {
            let lists = sources.iter().enumerate();
            lists
                .map(|(place, list)| {
                    let tasks = plural(list.tasks.len(), "task");
                    let words = format!("{} ({tasks})", list.dataset);
                    (EvaluationTasks::Dataset(place), words)
                })
                .collect()
        });
        group("Datasets", datasets)
    };
    let python = move || {
        let python = known.python.with(|entries| {
            let runnable = entries.iter().filter(|entry| entry.description.is_some());
            runnable
                .map(|entry| {
                    let words = server_words(&entry.name, python_size(entry));
                    (EvaluationTasks::Python(entry.environment.clone()), words)
                })
                .collect()
        });
        group("Your Python environments", python)
    };
    let servers = move || {
        let servers = known.servers.with(|servers| {
            let servers = servers.iter();
            servers
                .map(|server| {
                    let words = server_words(&server.name, server.size);
                    (EvaluationTasks::Server(server.url.clone()), words)
                })
                .collect()
        });
        group("Task dataset servers", servers)
    };
    let copied = move || {
        setup.copied.with(|plan| {
            let plan = plan.as_ref()?;
            let words = format!("{} ({})", plan.name, plural(plan.tasks.len(), "task"));
            // The option is selected before it is mounted, so the value of the select does not apply to it.
            let is_selected = move || setup.source.with(|source| *source == EvaluationTasks::Copy);
            Some(view! {
                <optgroup label="Tasks of an evaluation">
                    <option value=EvaluationTasks::Copy.value() prop:selected=is_selected>
                        {words}
                    </option>
                </optgroup>
            })
        })
    };
    let environments = move || {
        playground.can_play();
        let environments = playground.registry().with_value(|registry| {
            // The environments of a checkout can be played only if there is one.
            let is_there = |name: &str| {
                let is_built_in = volary_envs::CARDS.iter().any(|card| card.name == name);
                is_built_in
                    || known
                        .sources
                        .with(|sources| tasks::first(sources, Some(name)).is_some())
            };
            let entries = registry.environments.iter();
            entries
                .filter(|entry| is_there(entry.name))
                .map(|entry| {
                    (
                        EvaluationTasks::Environment(entry.name.into()),
                        entry.name.to_owned(),
                    )
                })
                .collect()
        });
        group("Environments (each seed is a task)", environments)
    };
    view! {
        <Field id="evaluation-source" label="Task source">
            <select
                id="evaluation-source"
                prop:value=move || setup.source.with(EvaluationTasks::value)
                on:change=move |event| pick_source(setup, &event_target_value(&event))
            >
                {copied}
                {datasets}
                {python}
                {servers}
                {environments}
            </select>
        </Field>
    }
}

/// A group of options, each with its value and label; `None` if there are none.
fn group(label: &'static str, options: Vec<(EvaluationTasks, String)>) -> Option<impl IntoView> {
    (!options.is_empty()).then(|| {
        let options = options.into_iter();
        let options =
            options.map(|(source, words)| view! { <option value=source.value()>{words}</option> });
        view! { <optgroup label=label>{options.collect_view()}</optgroup> }
    })
}

/// The fields that select tasks, or the environment of the tasks.
#[component]
pub(super) fn TasksFields(setup: EvaluationSetup) -> impl IntoView {
    let are_numbered = Memo::new(move |_| shape(setup).length().is_some());
    let fields = move || view! { <SchemaForm form=setup.tasks id_prefix="evaluation-tasks"/> };
    // Selecting all tasks needs no numbers.
    let are_some = move || setup.choice.with(|choice| choice != CHOICES[0]);
    move || {
        if are_numbered.get() {
            let options = CHOICES.map(|name| view! { <option value=name>{name}</option> });
            let choose = move |event| pick_choice(setup, event_target_value(&event));
            view! {
                <Field id="evaluation-choice" label=CHOICE_LABEL>
                    <select
                        id="evaluation-choice"
                        prop:value=move || setup.choice.get()
                        on:change=choose
                    >
                        {options.into_iter().collect_view()}
                    </select>
                </Field>
                <Show when=are_some>{fields()}</Show>
            }
            .into_any()
        } else {
            view! {
                {fields()}
                <SchemaForm
                    form=setup.configuration
                    id_prefix="evaluation-configuration"
                    legend="Configuration"
                />
            }
            .into_any()
        }
    }
}

fn pick_source(setup: EvaluationSetup, value: &str) {
    if let Some(source) = EvaluationTasks::parse(value) {
        setup.source.set(source);
        refresh(setup);
    }
}

fn pick_choice(setup: EvaluationSetup, choice: String) {
    setup.choice.set(choice);
    refresh(setup);
}

/// Gives the forms the schemas of the selected source.
pub(super) fn refresh(setup: EvaluationSetup) {
    let shape = untrack(|| shape(setup));
    let choice = setup.choice.get_untracked();
    set_schema(setup.tasks, tasks_schema(shape, &choice));
    if shape == SelectableTasks::Choosing {
        set_schema(setup.configuration, arguments_schema());
    }
    let playground = setup.evaluations.playground;
    let schema = match setup.source.get_untracked() {
        EvaluationTasks::Python(id) if shape == SelectableTasks::Environment => {
            let entry = untrack(|| python::python_entry(playground, &id));
            let description = entry.and_then(|entry| entry.description);
            Some(description.unwrap_or_default().form())
        }
        EvaluationTasks::Environment(name) => {
            untrack(|| entry(playground, &name)).map(|entry| (entry.configuration)())
        }
        _ => None,
    };
    if let Some(schema) = schema {
        set_schema(setup.configuration, schema);
    }
}

/// Sets the schema of a form. The code of the environments may bring the same one while the user is typing.
fn set_schema(form: RwSignal<Form>, schema: Json) {
    form.maybe_update(|form| form.set_schema(schema));
}

/// Returns how the tasks of the selected source are counted and selected.
pub(super) fn shape(setup: EvaluationSetup) -> SelectableTasks {
    let playground = setup.evaluations.playground;
    match setup.source.get() {
        EvaluationTasks::Environment(_) => SelectableTasks::Environment,
        // The server may have been removed meanwhile.
        EvaluationTasks::Server(url) => remote_environments::server(playground, &url)
            .map_or(SelectableTasks::Server(0), |server| {
                SelectableTasks::of_server(server.size)
            }),
        EvaluationTasks::Python(id) => {
            let size = python::python_entry(playground, &id).and_then(|entry| python_size(&entry));
            match size {
                Some(size) => SelectableTasks::of_server(Some(size)),
                None => SelectableTasks::Environment,
            }
        }
        EvaluationTasks::Copy => {
            let length = |plan: &Option<Plan>| plan.as_ref().map(|plan| plan.tasks.len());
            SelectableTasks::Dataset(setup.copied.with(length).unwrap_or_default())
        }
        EvaluationTasks::Dataset(place) => {
            let sources = playground.setup().sources;
            let length = sources.with(|sources| Some(sources.get(place)?.tasks.len()));
            SelectableTasks::Dataset(length.unwrap_or_default())
        }
    }
}

/// The name of the source, as the heads of evaluations store it.
pub(super) fn name(setup: EvaluationSetup) -> Option<Text> {
    match setup.source.get() {
        EvaluationTasks::Copy => setup.copied.with(|plan| summary::source(plan.as_ref()?)),
        EvaluationTasks::Environment(name)
        | EvaluationTasks::Server(name)
        | EvaluationTasks::Python(name) => Some(name),
        EvaluationTasks::Dataset(place) => {
            let sources = setup.evaluations.playground.setup().sources;
            sources.with(|sources| Some(sources.get(place)?.dataset.clone()))
        }
    }
}

/// Returns whether the oracle is selected but does not know the answers of the source.
pub(super) fn lacks_oracle(setup: EvaluationSetup) -> bool {
    let is_unknown = match setup.source.get() {
        EvaluationTasks::Server(_) | EvaluationTasks::Python(_) => true,
        EvaluationTasks::Copy => setup
            .copied
            .with(|plan| plan.as_ref().is_some_and(is_remote)),
        EvaluationTasks::Environment(_) | EvaluationTasks::Dataset(_) => false,
    };
    let mut entries = setup.policies.get().into_iter();
    is_unknown && entries.any(|entry| entry.kind.with(|kind| *kind == PolicyChoice::Oracle))
}

/// Returns whether a plan has tasks of environments that are not built in.
fn is_remote(plan: &Plan) -> bool {
    let mut tasks = plan.tasks.iter();
    tasks.any(|task| is_server(&task.environment))
}

fn server_words(name: &str, size: Option<u64>) -> String {
    let size = size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    match size {
        Some(size) => format!("{name} ({})", plural(size, "task")),
        None => name.to_owned(),
    }
}

/// The number of tasks of a Python file, if it defines a dataset.
fn python_size(entry: &PythonEntry) -> Option<u64> {
    entry.description.as_ref()?.size
}
