//! The set-up: environment, task, seed and Reset above; the configuration on its own, below what is
//! used more often.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::setup::{CONFIGURATION_FORM, TASKS_IN_A_LIST};
use super::state::use_playground;
use super::tasks::{self, TaskPlace, TaskSource};
use crate::components::SchemaForm;
use crate::components::erased::{changed, dynamic, label, maybe, maybe_words, submitted, words};

/// Environment, task, seed, Reset.
#[component]
pub fn SetupPane() -> impl IntoView {
    let playground = use_playground();
    let setup = playground.setup;
    let environments = playground
        .registry
        .with_value(|registry| registry.environments.clone());
    let summary = move || {
        let entry = setup.environment.with(|name| playground.entry(name));
        entry.map_or("", |entry| entry.summary)
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        playground.reset();
    };
    view! {
        <form class="setup-form" aria-label="Set-up" novalidate on:submit=submitted(submit)>
            <h2 class="visually-hidden">"Set-up"</h2>
            <div class="field">
                <label for="environment">"Environment"</label>
                <select
                    id="environment"
                    aria-describedby="environment-help"
                    prop:value=words(move || setup.environment.get().to_string())
                    on:change=changed(move |event| playground.go_to_environment(&event_target_value(&event)))
                >
                    {environments
                        .into_iter()
                        .map(|entry| view! { <option value=entry.name>{entry.name}</option> })
                        .collect_view()}
                </select>
                <p class="help" id="environment-help">{label(summary)}</p>
            </div>
            <TaskPicker/>
            <SeedAndReset/>
        </form>
    }
}

/// The configuration, which Reset takes as well as its own button.
#[component]
pub fn ConfigurationPane() -> impl IntoView {
    let playground = use_playground();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        playground.reset();
    };
    view! {
        <form
            class="configuration-form"
            id=CONFIGURATION_FORM
            aria-label="Configuration of the environment"
            novalidate
            on:submit=submitted(submit)
        >
            <SchemaForm form=playground.setup.form id_prefix="configuration" legend="Configuration"/>
            <div class="button-row">
                <button type="submit" class="quiet">"Apply configuration"</button>
            </div>
        </form>
    }
}

#[component]
fn SeedAndReset() -> impl IntoView {
    let playground = use_playground();
    let setup = playground.setup;
    view! {
        <div class="field-row">
            <div class="field">
                <label for="seed">"Seed"</label>
                <input
                    id="seed"
                    type="text"
                    inputmode="numeric"
                    autocomplete="off"
                    prop:value=words(move || setup.seed.get())
                    on:input=changed(move |event| setup.seed.set(event_target_value(&event)))
                    aria-invalid=maybe(move || setup.seed_error.get().map(|_| "true"))
                    aria-describedby=maybe(move || setup.seed_error.get().map(|_| "seed-error"))
                />
            </div>
            <button type="submit">"Reset"</button>
        </div>
        {dynamic(move || {
            let error = setup.seed_error.get();
            error.map(|error| view! { <p class="error" id="seed-error">{error}</p> }).into_any()
        })}
    }
}

/// The tasks of the chosen environment, where it has any.
#[component]
fn TaskPicker() -> impl IntoView {
    let playground = use_playground();
    let setup = playground.setup;
    let places = Memo::new(move |_| {
        let environment = setup.environment.get();
        setup.sources.with(|sources| {
            let suits = |source: &TaskSource| {
                source
                    .tasks
                    .first()
                    .is_some_and(|task| *task.environment == *environment)
            };
            let places = sources.iter().enumerate();
            places
                .filter(|(_, source)| suits(source))
                .map(|(place, source)| (place, source.clone()))
                .collect::<Vec<_>>()
        })
    });
    let picker = move || {
        let lists = places.get();
        (!lists.is_empty()).then(|| {
            let long = lists
                .iter()
                .find(|(_, source)| source.tasks.len() > TASKS_IN_A_LIST)
                .map(|(place, source)| (*place, source.tasks.len()));
            let splits = lists
                .iter()
                .find_map(|(place, source)| Some((*place, source.file.clone()?.split)));
            let groups = lists
                .into_iter()
                .filter(|(_, source)| source.tasks.len() <= TASKS_IN_A_LIST)
                .map(|(place, source)| view! { <TaskGroup place=place source=source/> })
                .collect_view();
            view! {
                <div class="field">
                    <label for="task">"Task"</label>
                    <select
                        id="task"
                        prop:value=words(move || value_of(setup.task.get()))
                        on:change=changed(move |event| {
                            playground.pick_task(place_of(&event_target_value(&event)))
                        })
                    >
                        <option value="">"A configuration of your own"</option>
                        {groups}
                        {long.map(|(place, count)| {
                            view! {
                                <option value=format!("{place}.#")>
                                    {format!("From your file, by number (1 to {count})")}
                                </option>
                            }
                        })}
                    </select>
                </div>
                {long.map(|(place, count)| view! { <TaskNumber place=place count=count/> })}
                {splits.map(|(place, split)| view! { <SplitPicker place=place split=split.to_string()/> })}
            }
        })
        .into_any()
    };
    dynamic(picker)
}

/// A list of tasks that is short enough to choose from.
#[component]
fn TaskGroup(place: usize, source: TaskSource) -> impl IntoView {
    let options = source
        .tasks
        .iter()
        .enumerate()
        .map(|(task, entry)| {
            let value = value_of(Some(TaskPlace {
                source: place,
                task,
            }));
            view! { <option value=value>{entry.title.to_string()}</option> }
        })
        .collect_view();
    view! { <optgroup label=source.title.to_string()>{options}</optgroup> }
}

/// A task of a long list, by its number.
#[component]
fn TaskNumber(place: usize, count: usize) -> impl IntoView {
    let playground = use_playground();
    let setup = playground.setup;
    let number = move || match setup.task.get() {
        Some(TaskPlace { source, task }) if source == place => (task + 1).to_string(),
        _ => String::new(),
    };
    let title = move || {
        let chosen = setup.task.get().filter(|chosen| chosen.source == place)?;
        setup
            .sources
            .with(|sources| tasks::at(sources, chosen).map(|task| task.title.to_string()))
    };
    let pick = move |event| {
        let number: Option<usize> = event_target_value(&event).trim().parse().ok();
        let task = number
            .and_then(|number| number.checked_sub(1))
            .filter(|task| *task < count);
        if let Some(task) = task {
            playground.pick_task(Some(TaskPlace {
                source: place,
                task,
            }));
        }
    };
    view! {
        <div class="field">
            <label for="task-number">"Task number"</label>
            <input
                id="task-number"
                type="number"
                min="1"
                max=count.to_string()
                prop:value=words(number)
                on:change=changed(pick)
                aria-describedby="task-number-help"
            />
            <p class="help" id="task-number-help">{maybe_words(title)}</p>
        </div>
    }
}

/// The part of a file of tasks.
#[component]
fn SplitPicker(place: usize, split: String) -> impl IntoView {
    let playground = use_playground();
    let splits = playground.registry.with_value(tasks::file_splits);
    let options = splits
        .into_iter()
        .map(|name| view! { <option value=name.to_string()>{name.to_string()}</option> })
        .collect_view();
    view! {
        <div class="field">
            <label for="split">"Split"</label>
            <select
                id="split"
                prop:value=split
                on:change=changed(move |event| playground.pick_split(place, &event_target_value(&event)))
            >
                {options}
            </select>
        </div>
    }
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
