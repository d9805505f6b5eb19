//! The catalogue: built in, the user's own, on servers.

use leptos::prelude::*;

use super::templates::{TEMPLATES, Template};
use crate::browser::files::{GivenFile, pick};
use crate::browser::{location, spawn};
use crate::components::erased::{dynamic, shown};
use crate::components::markup::{El, all, button, el};
use crate::playground::intents::Intent;
use crate::playground::state::{Playground, use_playground};
use crate::python::files::{self, PythonFile};
use crate::python::stored;
use crate::route::Route;

/// The largest file that is imported, in bytes.
const LARGEST_FILE: usize = 1 << 20;

/// The catalogue.
pub fn catalogue() -> AnyView {
    let playground = use_playground();
    let choosing = RwSignal::new(false);
    let problem = RwSignal::new(String::new());
    let new = button("primary")
        .attr(
            "aria-expanded",
            Signal::derive(move || choosing.get().to_string()),
        )
        .on_click(move || choosing.update(|choosing| *choosing = !*choosing))
        .child("New environment");
    let import = button("")
        .on_click(move || {
            pick(".py,text/x-python", move |files| import(files, problem));
        })
        .child("Import .py");
    let templates = shown(
        move || choosing.get(),
        || {
            el("section")
                .attr("aria-label", "Templates")
                .child(
                    el("p")
                        .class("help")
                        .child("Start with a template. You can change everything in it."),
                )
                .child(el("ul").class("environment-list").child(template_rows()))
                .view()
        },
    );
    all(vec![
        el("div")
            .class("environments-head")
            .child(el("h1").child("Environments"))
            .child(el("div").class("button-row").child(import).child(new))
            .view(),
        el("p")
            .class("help")
            .child(
                "An environment gives an agent a task, tools and a reward. Play one by hand or let a policy or model act. \
                 Your own are written in Python with fhaviary and run in this browser. ",
            )
            .child("What a chat template makes of an episode, and which tokens are trained, shows the ")
            .child(
                el("a")
                    .attr("href", Route::Template.to_hash())
                    .child("Template lab"),
            )
            .child(".")
            .view(),
        dynamic(move || {
            let problem = problem.get();
            el("p").class("error").attr("role", "alert").flag_property("hidden", problem.is_empty().into()).child(problem).view()
        }),
        templates,
        own(playground),
        built_in(playground),
        servers(playground),
    ])
}

fn template_rows() -> Vec<El> {
    TEMPLATES.iter().map(template_row).collect()
}

fn template_row(template: &'static Template) -> El {
    let make = move || {
        let name = untrack(stored::files).free_name(template.name);
        stored::save(&name, template.code);
        location::go(&Route::Environments { file: Some(name) }.to_hash());
    };
    row(
        template.name.to_owned(),
        template.summary.to_owned(),
        vec![
            button("small")
                .attr("aria-label", format!("Use template {}", template.name))
                .on_click(make)
                .child("Use"),
        ],
    )
}

fn own(playground: Playground) -> AnyView {
    dynamic(move || {
        let files = stored::files().files;
        if files.is_empty() {
            return group(
                "yours",
                "Yours",
                el("p")
                    .class("help")
                    .child("None yet. Create one with New environment, or import a .py file."),
            )
            .view();
        }
        let rows: Vec<El> = files.iter().map(|file| own_row(playground, file)).collect();
        group(
            "yours",
            "Yours",
            el("ul").class("environment-list").child(rows),
        )
        .view()
    })
}

fn own_row(playground: Playground, file: &PythonFile) -> El {
    let name = file.name.clone();
    let description = file.last().and_then(|version| version.description.clone());
    let summary = match &description {
        Some(description) if !description.summary.is_empty() => description.summary.clone(),
        Some(description) => description.class().to_owned(),
        None => "Not run yet.".to_owned(),
    };
    let play = description.and_then(|_| {
        let environment = files::environment(&file.last()?.code);
        Some(
            button("small")
                .attr("aria-label", format!("Play {name}"))
                .on_click(move || {
                    playground.intend(Intent::GoToEnvironment(environment.to_string()))
                })
                .child("Play"),
        )
    });
    let edit = el("a")
        .class("button small")
        .attr("aria-label", format!("Edit {name}"))
        .attr(
            "href",
            Route::Environments {
                file: Some(name.clone()),
            }
            .to_hash(),
        )
        .child("Edit");
    let removed = name.clone();
    let remove = confirmed_remove(removed);
    let actions = play.into_iter().chain([edit, remove]).collect();
    row(name, summary, actions)
}

/// A button that asks once more before it removes a file.
fn confirmed_remove(name: String) -> El {
    let asked = RwSignal::new(false);
    let label = {
        let name = name.clone();
        Signal::derive(move || match asked.get() {
            true => format!("Confirm: remove {name}"),
            false => format!("Remove {name}"),
        })
    };
    button("quiet small")
        .attr("aria-label", label)
        .on_click(move || match asked.get_untracked() {
            true => stored::remove(&name),
            false => asked.set(true),
        })
        .child(Signal::derive(move || match asked.get() {
            true => "Remove for good".to_owned(),
            false => "Remove".to_owned(),
        }))
}

fn built_in(playground: Playground) -> AnyView {
    let rows: Vec<El> = volary_envs::CARDS
        .iter()
        .map(|card| {
            let name = card.name;
            let play = button("small")
                .attr("aria-label", format!("Play {name}"))
                .on_click(move || playground.intend(Intent::GoToEnvironment(name.to_string())))
                .child("Play");
            row(name.to_owned(), card.summary.to_owned(), vec![play])
        })
        .collect();
    group(
        "built-in",
        "Built in",
        el("ul").class("environment-list").child(rows),
    )
    .view()
}

fn servers(playground: Playground) -> AnyView {
    dynamic(move || {
        let servers = playground.setup.servers.get();
        let content = if servers.is_empty() {
            el("p").class("help").child("None connected. ").child(
                el("a")
                    .attr("href", Route::Settings.to_hash())
                    .child("Connect a task dataset server"),
            )
        } else {
            let rows: Vec<El> = servers
                .iter()
                .map(|server| {
                    let url = server.url.clone();
                    let play = button("small")
                        .attr("aria-label", format!("Play {}", server.name))
                        .on_click(move || {
                            playground.intend(Intent::GoToEnvironment(url.to_string()))
                        })
                        .child("Play");
                    row(server.name.to_string(), server.url.to_string(), vec![play])
                })
                .collect();
            el("ul").class("environment-list").child(rows)
        };
        group("servers", "On servers", content).view()
    })
}

fn group(id: &'static str, title: &'static str, content: El) -> El {
    el("section")
        .class("settings-section")
        .attr("aria-labelledby", id)
        .child(el("h2").attr("id", id).child(title))
        .child(content)
}

fn row(name: String, summary: String, actions: Vec<El>) -> El {
    el("li")
        .class("environment-row")
        .child(
            el("div")
                .class("environment-words")
                .child(el("strong").child(name))
                .child(el("span").class("faint").child(summary)),
        )
        .child(el("div").class("button-row").child(actions))
}

/// Saves picked files as new files, and opens the last one.
fn import(picked: Vec<GivenFile>, problem: RwSignal<String>) {
    spawn(async move {
        for file in picked {
            let bytes = match file.read().await {
                Ok(bytes) if bytes.len() <= LARGEST_FILE => bytes,
                Ok(_) => return problem.set(format!("{} is larger than 1 MB.", file.name)),
                Err(reason) => {
                    return problem.set(format!("{} could not be read: {reason}", file.name));
                }
            };
            let Ok(code) = String::from_utf8(bytes) else {
                return problem.set(format!("{} is not UTF-8 text.", file.name));
            };
            problem.set(String::new());
            let wanted = file.name.trim_end_matches(".py");
            let name = untrack(stored::files).free_name(wanted);
            stored::save(&name, &code);
            location::go(&Route::Environments { file: Some(name) }.to_hash());
        }
    });
}
