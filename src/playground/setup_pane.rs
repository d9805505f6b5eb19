//! The set-up: environment, task, seed and Reset above; the configuration on its own, below what is
//! used more often.

use leptos::prelude::*;

use super::controls::{buttons, choice, field, form, help, option, typed};
use super::intents::Intent;
use super::setup::{CONFIGURATION_FORM, Setup, TASKS_IN_A_LIST};
use super::state::{Playground, use_playground};
use super::tasks::{self, TaskPlace, TaskSource};
use crate::components::SchemaForm;
use crate::components::erased::{dynamic, maybe_words, shown, words};
use crate::components::markup::{El, all, el, nothing};

const ON_A_SERVER: &str = "Runs on a server. Going back to an earlier step starts a new \
     environment there and repeats the actions; the results may differ.";

/// Environment, task, seed, Reset.
pub fn setup_pane() -> El {
    let playground = use_playground();
    let setup = playground.setup;
    let names: Vec<&'static str> = playground
        .registry
        .with_value(|registry| registry.available().collect());
    let options = names.into_iter().map(|name| option(name, name).view());
    let environment = choice(
        words(move || setup.environment.get().to_string()),
        move |name| playground.intend(Intent::GoToEnvironment(name)),
    )
    .attr("aria-describedby", "environment-help")
    .child(all(options.collect()))
    .child(python_options(playground))
    .child(server_options(playground));
    let summary = words(move || {
        let entry = playground.chosen();
        match entry {
            Some(entry) => entry.summary.to_owned(),
            None if playground.is_server_chosen() => ON_A_SERVER.to_owned(),
            None => python_summary(playground),
        }
    });
    form("setup-form", "Setup", move || {
        playground.intend(Intent::Reset)
    })
    .attr("id", "setup")
    .child(el("h2").class("visually-hidden").child("Setup"))
    .child(
        field("environment", "Environment", environment)
            .child(help(summary).attr("id", "environment-help")),
    )
    .child(task_picker(playground))
    .child(shown(
        move || playground.is_server_chosen(),
        move || configuration_fields(playground).view(),
    ))
    .child(seed_and_reset(playground))
    .child(seed_error(playground))
}

/// The configuration, which Reset takes as well as its own button.
pub fn configuration_pane() -> AnyView {
    let playground = use_playground();
    // The task of a server stands above: there is nothing without it.
    shown(
        move || !playground.is_server_chosen(),
        move || {
            form(
                "configuration-form",
                "Configuration of the environment",
                move || playground.intend(Intent::Reset),
            )
            .child(configuration_fields(playground))
            .child(buttons([submit("quiet", "Apply configuration")]))
            .view()
        },
    )
}

fn python_summary(playground: Playground) -> String {
    let entry = playground
        .setup
        .environment
        .with(|name| playground.python_entry(name));
    let summary = entry
        .and_then(|entry| entry.description)
        .map(|described| described.summary);
    match summary {
        Some(summary) if summary.is_empty() => "Runs your Python code in this browser.".to_owned(),
        Some(summary) => summary,
        None => String::new(),
    }
}

fn configuration_fields(playground: Playground) -> El {
    let fields = view! {
        <SchemaForm form=playground.setup.form id_prefix="configuration" legend="Configuration"/>
    };
    el("div")
        .attr("id", CONFIGURATION_FORM)
        .flag_property("inert", playground.switching.into())
        .child(fields.into_any())
}

/// The Python files that can be chosen in the place of an environment.
fn python_options(playground: Playground) -> AnyView {
    dynamic(move || {
        let entries = playground.setup.python.get();
        if entries.is_empty() {
            return nothing();
        }
        let options = entries
            .iter()
            .map(|entry| option(entry.environment.to_string(), entry.name.to_string()).view());
        el("optgroup")
            .attr("label", "Your Python environments")
            .child(all(options.collect()))
            .view()
    })
}

/// The servers that can be chosen in the place of an environment.
fn server_options(playground: Playground) -> AnyView {
    dynamic(move || {
        let servers = playground.setup.servers.get();
        if servers.is_empty() {
            return nothing();
        }
        let options = servers
            .iter()
            .map(|server| option(server.url.to_string(), server.name.to_string()).view());
        el("optgroup")
            .attr("label", "Task dataset servers")
            .child(all(options.collect()))
            .view()
    })
}

fn seed_and_reset(playground: Playground) -> El {
    let setup = playground.setup;
    // Chance is the server's own business.
    let local = shown(
        move || !playground.is_server_chosen(),
        move || field("seed", "Seed", seed(setup)).view(),
    );
    el("div")
        .class("field-row")
        .child(local)
        .child(submit("", "Reset"))
}

fn seed(setup: Setup) -> El {
    let wrong = move |value: &'static str| {
        maybe_words(move || setup.seed_error.get().map(|_| value.to_owned()))
    };
    let seed = el("input")
        .attr("type", "text")
        .attr("inputmode", "numeric")
        .attr("autocomplete", "off")
        .attr("aria-invalid", wrong("true"))
        .attr("aria-describedby", wrong("seed-error"));
    typed(seed, setup.seed)
}

fn seed_error(playground: Playground) -> AnyView {
    dynamic(move || match playground.setup.seed_error.get() {
        None => nothing(),
        Some(error) => el("p")
            .class("error")
            .attr("id", "seed-error")
            .child(error)
            .view(),
    })
}

fn submit(class: &'static str, text: &'static str) -> El {
    el("button").attr("type", "submit").class(class).child(text)
}

/// The tasks of the chosen environment, where it has any.
fn task_picker(playground: Playground) -> AnyView {
    let setup = playground.setup;
    dynamic(move || {
        let environment = setup.environment.get();
        let suits = |source: &TaskSource| {
            let first = source.tasks.first();
            first.is_some_and(|task| *task.environment == *environment)
        };
        setup.sources.with(|sources| {
            let mut options = vec![option("", "Custom").view()];
            let mut more = Vec::new();
            for (place, source) in sources.iter().enumerate() {
                if !suits(source) {
                    continue;
                }
                let count = source.tasks.len();
                if count <= TASKS_IN_A_LIST {
                    options.push(task_group(place, source).view());
                } else {
                    let text = format!("From your file, by number (1 to {count})");
                    options.push(option(format!("{place}.#"), text).view());
                    more.push(task_number(playground, place, count).view());
                }
                if let Some(file) = &source.file {
                    more.push(split_picker(playground, place, file.split.to_string()).view());
                }
            }
            if options.len() == 1 {
                return nothing();
            }
            let control = choice(words(move || value_of(setup.task.get())), move |value| {
                playground.intend(Intent::PickTask(place_of(&value)));
            })
            .child(all(options));
            more.insert(0, field("task", "Task", control).view());
            all(more)
        })
    })
}

/// A list of tasks that is short enough to choose from.
fn task_group(source: usize, list: &TaskSource) -> El {
    let options = list.tasks.iter().enumerate().map(|(task, entry)| {
        let value = value_of(Some(TaskPlace { source, task }));
        option(value, entry.title.to_string()).view()
    });
    el("optgroup")
        .attr("label", list.title.to_string())
        .child(all(options.collect()))
}

/// A task of a long list, by its number.
fn task_number(playground: Playground, source: usize, count: usize) -> El {
    let setup = playground.setup;
    let chosen = move || setup.task.get().filter(|chosen| chosen.source == source);
    let number =
        words(move || chosen().map_or_else(String::new, |place| (place.task + 1).to_string()));
    let title = words(move || {
        let title = chosen().and_then(|place| {
            let sources = setup.sources.read();
            tasks::at(&sources, place).map(|task| task.title.to_string())
        });
        title.unwrap_or_default()
    });
    let pick = move |event: leptos::ev::Event| {
        let number: Option<usize> = event_target_value(&event).trim().parse().ok();
        let task = number.and_then(|number| number.checked_sub(1));
        if let Some(task) = task.filter(|task| *task < count) {
            playground.intend(Intent::PickTask(Some(TaskPlace { source, task })));
        }
    };
    let input = el("input")
        .attr("type", "number")
        .attr("min", "1")
        .attr("max", count.to_string())
        .attr("aria-describedby", "task-number-help")
        .text_property("value", number)
        .on("change", pick);
    field("task-number", "Task number", input).child(help(title).attr("id", "task-number-help"))
}

/// The part of a file of tasks.
fn split_picker(playground: Playground, place: usize, split: String) -> El {
    let splits = playground.registry.with_value(tasks::file_splits);
    let options = splits
        .into_iter()
        .map(|name| option(name.to_string(), name.to_string()).view());
    let control = choice(words(move || split.clone()), move |split| {
        playground.intend(Intent::PickSplit(place, split));
    })
    .child(all(options.collect()));
    field("split", "Split", control)
}

fn value_of(place: Option<TaskPlace>) -> String {
    place.map_or_else(String::new, |place| {
        format!("{}.{}", place.source, place.task)
    })
}

/// `#` stands for the first task of a long list, of which only numbers are shown.
fn place_of(value: &str) -> Option<TaskPlace> {
    let (source, task) = value.split_once('.')?;
    Some(TaskPlace {
        source: source.parse().ok()?,
        task: if task == "#" { 0 } else { task.parse().ok()? },
    })
}
