//! The catalogue of environments: built-in ones, the user's Python files, tau-bench, and those on servers.

use std::rc::Rc;

use leptos::prelude::*;
use volary_view::route::{Route, TemplatePlace};

use super::checkout::{Adding, CheckoutGroup};
use super::page::DropTarget;
use super::python_import;
use super::templates::{TEMPLATES, Template};
use volary_app::python::files::{PythonFile, PythonSource};
use volary_browser::files::{GivenFile, pick};
use volary_browser::{location, spawn};
use volary_connections::python::stored;
use volary_playground::choices::choose_environment;
use volary_playground::state::{Playground, use_playground};
use volary_ui::UnsavedNotice;

#[component]
pub(super) fn Catalogue(
    /// State of the checkout of tau-bench that is being added.
    adding: Adding,
    target: DropTarget,
) -> impl IntoView {
    let playground = use_playground();
    let choosing = RwSignal::new(false);
    let problem = RwSignal::new(String::new());
    target.set_value(Some(Rc::new(move |files| import(files, problem))));
    let pick_files = move |_| pick(".py,text/x-python", move |files| import(files, problem));
    let has_problem = move || problem.with(|problem| !problem.is_empty());
    view! {
        <div class="environments-head">
            <h1>{"Environments"}</h1>
            <div class="button-row">
                <button type="button" on:click=pick_files>
                    {"Import .py"}
                </button>
                <button
                    type="button"
                    class="primary"
                    aria-expanded=move || choosing.get().to_string()
                    on:click=move |_| choosing.update(|choosing| *choosing = !*choosing)
                >
                    {"New environment"}
                </button>
            </div>
        </div>
        <p class="help">
            "An environment gives an agent a task, tools and a reward. Play one by hand or let a "
            "policy or model act. Your own are written in Python with fhaviary and run in this "
            "browser. The " <a href=TemplatePlace::default().to_hash()>{"Template lab"}</a>
            " shows what a chat template makes of an episode, and which tokens are trained."
        </p>
        <p class="error" role="alert" hidden=move || !has_problem()>
            {move || problem.get()}
        </p>
        <Show when=move || choosing.get()>
            <section class="settings-section" aria-label="Templates">
                <h2>{"Templates"}</h2>
                <p class="help">{"Start with one. You can change everything in it."}</p>
                <ul class="environment-list">
                    <Templates/>
                </ul>
            </section>
        </Show>
        <Group id="yours" title="Yours">
            <UnsavedNotice what="your environments" unsaved=stored::unsaved()/>
            {move || own(playground)}
        </Group>
        <Group id="built-in" title="Built in">
            <ul class="environment-list">{built_in(playground)}</ul>
        </Group>
        <CheckoutGroup adding/>
        <Group id="servers" title="On servers">
            {move || servers(playground)}
        </Group>
    }
}

#[component]
fn Templates() -> impl IntoView {
    let rows = TEMPLATES
        .iter()
        .map(|template| view! { <TemplateRow template/> });
    rows.collect_view()
}

#[component]
fn TemplateRow(template: &'static Template) -> impl IntoView {
    let make = move |_| {
        let name = untrack(stored::files).free_name(template.name);
        stored::save(&name, &PythonSource::of_code(template.code));
        location::go(&Route::Environments { file: Some(name) }.to_hash());
    };
    view! {
        <Row name=template.name summary=template.summary>
            <button
                type="button"
                class="small"
                aria-label=format!("Use template {}", template.name)
                on:click=make
            >
                {"Use"}
            </button>
        </Row>
    }
}

fn own(playground: Playground) -> AnyView {
    let files = stored::files().files;
    if files.is_empty() {
        return view! {
            <p class="help">
                "None yet. Create one with New environment, or import a .py file."
            </p>
        }
        .into_any();
    }
    let rows = files
        .into_iter()
        .map(|file| view! { <OwnRow playground file/> });
    view! { <ul class="environment-list">{rows.collect_view()}</ul> }.into_any()
}

#[component]
fn OwnRow(playground: Playground, file: PythonFile) -> impl IntoView {
    let name = file.name.clone();
    let description = file.last().and_then(|version| version.description.clone());
    let summary = match &description {
        Some(description) if !description.summary.is_empty() => description.summary.clone(),
        Some(description) => description.class().to_owned(),
        None => "Not run yet.".to_owned(),
    };
    let environment = description.and_then(|_| Some(file.last()?.source.environment()));
    let play = environment.map(|environment| {
        let environment = environment.to_string();
        view! { <PlayButton playground name=name.clone() environment/> }
    });
    let edit = Route::Environments {
        file: Some(name.clone()),
    };
    view! {
        <Row name=name.clone() summary>
            {play}
            <a class="button small" aria-label=format!("Edit {name}") href=edit.to_hash()>
                {"Edit"}
            </a>
            <RemoveButton name=name.clone()/>
        </Row>
    }
}

/// A button that opens an environment in the playground.
#[component]
pub(super) fn PlayButton(
    playground: Playground,
    /// The display name of the environment.
    name: String,
    /// The name or address of the environment.
    environment: String,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="small"
            aria-label=format!("Play {name}")
            on:click=move |_| choose_environment(playground, environment.clone())
        >
            {"Play"}
        </button>
    }
}

/// A button that asks for confirmation before it removes a file.
#[component]
fn RemoveButton(name: String) -> impl IntoView {
    let asked = RwSignal::new(false);
    let file = name.clone();
    let label = move || {
        if asked.get() {
            format!("Confirm: remove {name}")
        } else {
            format!("Remove {name}")
        }
    };
    let remove = move |_| {
        if asked.get_untracked() {
            stored::remove(&file)
        } else {
            asked.set(true)
        }
    };
    view! {
        <button type="button" class="quiet small" aria-label=label on:click=remove>
            {move || if asked.get() { "Remove for good" } else { "Remove" }}
        </button>
    }
}

fn built_in(playground: Playground) -> impl IntoView {
    let cards = volary_envs::CARDS.iter();
    cards
        .map(|card| {
            view! {
                <Row name=card.name summary=card.summary>
                    <PlayButton
                        playground
                        name=card.name.to_owned()
                        environment=card.name.to_owned()
                    />
                </Row>
            }
        })
        .collect_view()
}

fn servers(playground: Playground) -> AnyView {
    let servers = playground.setup().servers.get();
    if servers.is_empty() {
        return view! {
            <p class="help">
                "None connected. "
                <a href=Route::Settings.to_hash()>{"Connect a task dataset server"}</a>
            </p>
        }
        .into_any();
    }
    let rows = servers.into_iter().map(|server| {
        view! {
            <Row name=server.name.to_string() summary=server.url.to_string()>
                <PlayButton
                    playground
                    name=server.name.to_string()
                    environment=server.url.to_string()
                />
            </Row>
        }
    });
    view! { <ul class="environment-list">{rows.collect_view()}</ul> }.into_any()
}

/// A group of rows under a title.
#[component]
pub(super) fn Group(id: &'static str, title: &'static str, children: Children) -> impl IntoView {
    view! {
        <section class="settings-section" aria-labelledby=id>
            <h2 id=id>{title}</h2>
            {children()}
        </section>
    }
}

/// A row of the catalogue: one environment.
#[component]
pub(super) fn Row(
    #[prop(into)] name: String,
    #[prop(into)] summary: String,
    /// Additional content below the row.
    #[prop(optional)]
    more: Option<AnyView>,
    /// The action buttons.
    children: Children,
) -> impl IntoView {
    view! {
        <li class="environment-row">
            <div class="environment-words">
                <strong>{name}</strong>
                <span class="faint">{summary}</span>
                {more}
            </div>
            <div class="button-row">{children()}</div>
        </li>
    }
}

/// Stores picked files as new files and opens the last one.
fn import(picked: Vec<GivenFile>, problem: RwSignal<String>) {
    spawn(async move {
        for file in picked {
            if let Err(reason) = python_import::check_file(&file.name, file.size) {
                return problem.set(reason);
            }
            let read = match file.read().await {
                Ok(bytes) => python_import::read_code(&file.name, bytes),
                Err(reason) => Err(format!("{} could not be read: {reason}", file.name)),
            };
            let imported = match read {
                Ok(imported) => imported,
                Err(reason) => return problem.set(reason),
            };
            problem.set(String::new());
            let name = untrack(stored::files).free_name(&imported.name);
            stored::save(&name, &PythonSource::of_code(&imported.code));
            location::go(&Route::Environments { file: Some(name) }.to_hash());
        }
    });
}
