//! The task source: its fields, and the forms that depend on it.

use leptos::prelude::*;
use volary_agent::evaluation::Plan;
use volary_app::evaluation::summary;
use volary_app::playground::tasks;
use volary_core::json::Text;
use volary_remote::task::is_server;

use super::Setup;
use crate::components::SchemaForm;
use crate::components::field::Field;
use crate::evaluate::setup::Kind;
use crate::evaluate::setup::tasks::{
    CHOICE_LABEL, CHOICES, Source, arguments_schema, tasks_schema,
};
use crate::playground::python::{self, PythonEntry};
use crate::playground::remote_environments;
use crate::playground::setup;
use crate::projection::form::Form;
use crate::projection::text::plural;

/// The task source that takes the tasks of another evaluation.
pub(super) const COPY: &str = "copy";

/// The choice of the task source.
#[component]
pub(super) fn SourceField(setup: Setup) -> impl IntoView {
    let known = setup.evaluations.playground.setup;
    let playground = setup.evaluations.playground;
    let datasets = move || {
        let datasets = known.sources.with(|sources| {
            let lists = sources.iter().enumerate();
            lists
                .map(|(place, list)| {
                    let tasks = plural(list.tasks.len(), "task");
                    let words = format!("{} ({tasks})", list.dataset);
                    (format!("dataset:{place}"), words)
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
                    (format!("python:{}", entry.environment), words)
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
                    (format!("server:{}", server.url), words)
                })
                .collect()
        });
        group("Task dataset servers", servers)
    };
    let copied = move || {
        setup.copied.with(|plan| {
            let plan = plan.as_ref()?;
            let words = format!("{} ({})", plan.name, plural(plan.tasks.len(), "task"));
            // It is selected before it is there, so the value of the select does not reach it.
            let is_selected = move || setup.source.with(|source| source == COPY);
            Some(view! {
                <optgroup label="Tasks of an evaluation">
                    <option value=COPY prop:selected=is_selected>
                        {words}
                    </option>
                </optgroup>
            })
        })
    };
    let environments = move || {
        playground.whole.track();
        let environments = playground.registry.with_value(|registry| {
            // Those of a checkout can be played once there is one.
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
                .map(|entry| (format!("environment:{}", entry.name), entry.name.to_owned()))
                .collect()
        });
        group("Environments (each seed is a task)", environments)
    };
    view! {
        <Field id="evaluation-source" label="Task source">
            <select
                id="evaluation-source"
                prop:value=move || setup.source.get()
                on:change=move |event| setup.pick_source(event_target_value(&event))
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

/// A group of options, each with its value and words; nothing if there are none.
fn group(label: &'static str, options: Vec<(String, String)>) -> Option<impl IntoView> {
    (!options.is_empty()).then(|| {
        let options = options.into_iter();
        let options = options.map(|(value, words)| view! { <option value=value>{words}</option> });
        view! { <optgroup label=label>{options.collect_view()}</optgroup> }
    })
}

/// How tasks are selected, or the environment that they use.
#[component]
pub(super) fn TasksFields(setup: Setup) -> impl IntoView {
    let are_numbered = Memo::new(move |_| setup.origin().length().is_some());
    let fields = move || view! { <SchemaForm form=setup.tasks id_prefix="evaluation-tasks"/> };
    // All tasks need no numbers.
    let are_some = move || setup.choice.with(|choice| choice != CHOICES[0]);
    move || match are_numbered.get() {
        true => {
            let options = CHOICES.map(|name| view! { <option value=name>{name}</option> });
            let choose = move |event| setup.pick_choice(event_target_value(&event));
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
        }
        false => view! {
            {fields()}
            <SchemaForm
                form=setup.configuration
                id_prefix="evaluation-configuration"
                legend="Configuration"
            />
        }
        .into_any(),
    }
}

impl Setup {
    fn pick_source(self, source: String) {
        self.source.set(source);
        self.refresh();
    }

    fn pick_choice(self, choice: String) {
        self.choice.set(choice);
        self.refresh();
    }

    /// Builds the forms of the selected source.
    pub(super) fn refresh(self) {
        let source = untrack(|| self.origin());
        let choice = self.choice.get_untracked();
        self.tasks.set(Form::new(tasks_schema(source, &choice)));
        match source {
            Source::Environment => {
                let playground = self.evaluations.playground;
                let name = self.source.get_untracked();
                if let Some(environment) = name.strip_prefix("python:") {
                    let entry = untrack(|| python::python_entry(playground, environment));
                    let description = entry.and_then(|entry| entry.description);
                    let schema = description.unwrap_or_default().form();
                    return self.configuration.set(Form::new(schema));
                }
                let name = name.strip_prefix("environment:").unwrap_or_default();
                if let Some(entry) = untrack(|| setup::entry(playground, name)) {
                    self.configuration.set(Form::new((entry.configuration)()));
                }
            }
            Source::Choosing => self.configuration.set(Form::new(arguments_schema())),
            Source::Dataset(_) | Source::Server(_) => {}
        }
    }

    /// The task source.
    pub(super) fn origin(self) -> Source {
        let playground = self.evaluations.playground;
        self.source.with(|source| {
            if source.starts_with("environment:") {
                return Source::Environment;
            }
            if let Some(url) = source.strip_prefix("server:") {
                // It may have been removed meanwhile.
                let server = remote_environments::server(playground, url);
                return server.map_or(Source::Server(0), |server| Source::of_server(server.size));
            }
            if let Some(environment) = source.strip_prefix("python:") {
                let entry = python::python_entry(playground, environment);
                return match entry.and_then(|entry| python_size(&entry)) {
                    Some(size) => Source::of_server(Some(size)),
                    None => Source::Environment,
                };
            }
            if source == COPY {
                let length = self
                    .copied
                    .with(|plan| plan.as_ref().map(|plan| plan.tasks.len()));
                return Source::Dataset(length.unwrap_or_default());
            }
            let place = place_of(source);
            let sources = playground.setup.sources;
            let length = sources.with(|sources| Some(sources.get(place?)?.tasks.len()));
            Source::Dataset(length.unwrap_or_default())
        })
    }

    /// What the tasks are of, as the heads of evaluations name it.
    pub(super) fn source_name(self) -> Option<Text> {
        let source = self.source.get();
        if source == COPY {
            return self.copied.with(|plan| summary::source(plan.as_ref()?));
        }
        for prefix in ["environment:", "server:", "python:"] {
            if let Some(name) = source.strip_prefix(prefix) {
                return Some(name.into());
            }
        }
        let sources = self.evaluations.playground.setup.sources;
        sources.with(|sources| Some(sources.get(place_of(&source)?)?.dataset.clone()))
    }

    /// Whether a selected policy cannot play on the selected server.
    pub(super) fn wants_what_servers_lack(self) -> bool {
        let is_server = self.source.with(|source| {
            source.starts_with("server:")
                || source.starts_with("python:")
                || source == COPY
                    && self
                        .copied
                        .with(|plan| plan.as_ref().is_some_and(is_remote))
        });
        let mut posts = self.policies.get().into_iter();
        is_server && posts.any(|post| post.kind.with(|kind| *kind == Kind::Oracle))
    }
}

/// Whether a plan has tasks that are not of built-in environments.
fn is_remote(plan: &Plan) -> bool {
    let mut tasks = plan.tasks.iter();
    tasks.any(|task| is_server(&task.environment))
}

/// The list of tasks of a choice.
pub(super) fn place_of(source: &str) -> Option<usize> {
    source.strip_prefix("dataset:")?.parse().ok()
}

fn server_words(name: &str, size: Option<u64>) -> String {
    let size = size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    match size {
        Some(size) => format!("{name} ({})", plural(size, "task")),
        None => name.to_owned(),
    }
}

/// How many tasks a Python file has, if it defines a dataset.
fn python_size(entry: &PythonEntry) -> Option<u64> {
    entry.description.as_ref()?.size
}
