//! The task source: its fields, and the forms that depend on it.

use leptos::prelude::*;

use super::Setup;
use crate::components::SchemaForm;
use crate::components::erased::{dynamic, shown, words};
use crate::components::markup::{El, all, el, nothing};
use crate::evaluate::setup::Kind;
use crate::evaluate::setup::tasks::{
    CHOICE_LABEL, CHOICES, Source, arguments_schema, tasks_schema,
};
use crate::playground::controls::{choice, field, option};
use crate::playground::python::PythonEntry;
use crate::projection::form::Form;
use crate::projection::text::plural;

impl Setup {
    pub(super) fn source_field(self) -> El {
        let playground = self.evaluations.playground;
        let options = dynamic(move || {
            playground.whole.track();
            let datasets = playground.setup.sources.with(|sources| {
                let lists = sources.iter().enumerate();
                lists
                    .map(|(place, list)| {
                        let tasks = plural(list.tasks.len(), "task");
                        option(
                            format!("dataset:{place}"),
                            format!("{} ({tasks})", list.dataset),
                        )
                        .view()
                    })
                    .collect::<Vec<_>>()
            });
            let environments = playground.registry.with_value(|registry| {
                let entries = registry.environments.iter();
                entries
                    .map(|entry| option(format!("environment:{}", entry.name), entry.name).view())
                    .collect::<Vec<_>>()
            });
            let servers = playground.setup.servers.with(|servers| {
                let options = servers.iter().map(|server| {
                    option(
                        format!("server:{}", server.url),
                        server_words(&server.name, server.size),
                    )
                    .view()
                });
                options.collect::<Vec<_>>()
            });
            let python = playground.setup.python.with(|entries| {
                let runnable = entries.iter().filter(|entry| entry.description.is_some());
                let options = runnable.map(|entry| {
                    let text = server_words(&entry.name, python_size(entry));
                    option(format!("python:{}", entry.environment), text).view()
                });
                options.collect::<Vec<_>>()
            });
            let group = |label: &'static str, options: Vec<AnyView>| match options.is_empty() {
                true => nothing(),
                false => el("optgroup").attr("label", label).child(options).view(),
            };
            all(vec![
                group("Datasets", datasets),
                group("Your Python environments", python),
                group("Task dataset servers", servers),
                group("Environments (each seed is a task)", environments),
            ])
        });
        let value = words(move || self.source.get());
        let control = choice(value, move |source| self.pick_source(source)).child(options);
        field("evaluation-source", "Task source", control)
    }

    /// How tasks are selected, or the environment that they use.
    pub(super) fn tasks_fields(self) -> AnyView {
        let are_numbered = Memo::new(move |_| self.origin().length().is_some());
        dynamic(move || {
            let fields = move || {
                view! { <SchemaForm form=self.tasks id_prefix="evaluation-tasks"/> }.into_any()
            };
            match are_numbered.get() {
                true => {
                    let value = words(move || self.choice.get());
                    let options = CHOICES.map(|name| option(name, name).view());
                    let control = choice(value, move |choice| self.pick_choice(choice))
                        .child(Vec::from(options));
                    all(vec![
                        field("evaluation-choice", CHOICE_LABEL, control).view(),
                        // All tasks need no numbers.
                        shown(move || self.choice.with(|choice| choice != CHOICES[0]), fields),
                    ])
                }
                false => all(vec![
                    fields(),
                    view! {
                        <SchemaForm form=self.configuration id_prefix="evaluation-configuration" legend="Configuration"/>
                    }
                    .into_any(),
                ]),
            }
        })
    }

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
                    let entry = untrack(|| playground.python_entry(environment));
                    let description = entry.and_then(|entry| entry.description);
                    let schema = description.unwrap_or_default().form();
                    return self.configuration.set(Form::new(schema));
                }
                let name = name.strip_prefix("environment:").unwrap_or_default();
                if let Some(entry) = untrack(|| playground.entry(name)) {
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
                let server = playground.server(url);
                return server.map_or(Source::Server(0), |server| Source::of_server(server.size));
            }
            if let Some(environment) = source.strip_prefix("python:") {
                let entry = playground.python_entry(environment);
                return match entry.and_then(|entry| python_size(&entry)) {
                    Some(size) => Source::of_server(Some(size)),
                    None => Source::Environment,
                };
            }
            let place = place_of(source);
            let sources = playground.setup.sources;
            let length = sources.with(|sources| Some(sources.get(place?)?.tasks.len()));
            Source::Dataset(length.unwrap_or_default())
        })
    }

    /// Whether a selected policy cannot play on the selected server.
    pub(super) fn wants_what_servers_lack(self) -> bool {
        let is_server = self
            .source
            .with(|source| source.starts_with("server:") || source.starts_with("python:"));
        let mut posts = self.policies.get().into_iter();
        is_server && posts.any(|post| post.kind.with(|kind| *kind == Kind::Oracle))
    }
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
