//! The setup pane: environment, task, the configuration directly below the task, and **Reset**.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::tasks::{self, TaskPlace, TaskSource};

use super::choices::{choose_environment, start_over};
use super::entries;
use super::opening_record;
use super::python;
use super::remote_environments;
use super::signals::{CONFIGURATION_FORM, SetupSignals};
use super::state::{Playground, use_playground};
use super::task_choices;
use volary_ui::SchemaForm;
use volary_ui::field::Field;
use volary_ui::term::Terms;

const ON_A_SERVER: &str = "Runs on a server. Going back to an earlier step starts a new \
     environment there and repeats the actions; the results may differ.";

#[component]
pub(super) fn SetupPane() -> impl IntoView {
    let playground = use_playground();
    let setup = playground.setup();
    let names: Vec<&'static str> = playground
        .registry()
        .with_value(|registry| registry.available().collect());
    let options = names.into_iter();
    let options = options.map(|name| view! { <option value=name>{name}</option> });
    let choose = move |event| {
        choose_environment(playground, event_target_value(&event));
    };
    let summary = move || match entries::chosen(playground) {
        Some(entry) => entry.summary.to_owned(),
        None if remote_environments::is_server_chosen(playground) => ON_A_SERVER.to_owned(),
        None => python_summary(playground),
    };
    view! {
        <form
            class="setup-form"
            aria-label="Setup"
            novalidate
            id="setup"
            on:submit=move |event| reset(playground, &event)
        >
            <h2>{"Setup"}</h2>
            <Field id="environment" label="Environment">
                <select
                    id="environment"
                    aria-describedby="environment-help"
                    prop:value=move || setup.environment.get().to_string()
                    on:change=choose
                >
                    {options.collect_view()}
                    {move || checkout_options(setup)}
                    {move || python_options(setup)}
                    {move || server_options(setup)}
                </select>
                <p class="help" id="environment-help">
                    {summary}
                </p>
            </Field>
            {move || task_picker(playground)}
            <Configuration playground/>
            <button type="submit">{"Reset"}</button>
        </form>
    }
}

fn reset(playground: Playground, event: &SubmitEvent) {
    event.prevent_default();
    start_over(playground);
}

/// The configuration and the seed, which Reset applies.
#[component]
fn Configuration(playground: Playground) -> impl IntoView {
    let setup = playground.setup();
    let is_custom = Memo::new(move |_| setup.task.get().is_none());
    let is_on_server = move || remote_environments::is_server_chosen(playground);
    view! {
        // There is no episode of a server without a task, and a server has no seed.
        <Show when=is_on_server>
            <ConfigurationFields playground/>
        </Show>
        <Show when=move || !is_on_server()>
            // A task of a list is played unchanged, so its fields are collapsed; for a custom configuration they are open.
            <details class="configuration" prop:open=is_custom>
                <summary>{"Configuration"}</summary>
                <ConfigurationFields playground/>
                <SeedField setup/>
            </details>
        </Show>
    }
}

fn python_summary(playground: Playground) -> String {
    let entry = playground
        .setup()
        .environment
        .with(|name| python::python_entry(playground, name));
    let summary = entry
        .and_then(|entry| entry.description)
        .map(|described| described.summary);
    match summary {
        Some(summary) if summary.is_empty() => "Runs your Python code in this browser.".to_owned(),
        Some(summary) => summary,
        None => String::new(),
    }
}

#[component]
fn ConfigurationFields(playground: Playground) -> impl IntoView {
    view! {
        <div id=CONFIGURATION_FORM prop:inert=playground.switching()>
            <SchemaForm
                form=playground.setup().form
                id_prefix="configuration"
                legend="Configuration"
            />
        </div>
    }
}

/// The environments of a checkout, and the one of an episode that was played with a checkout.
fn checkout_options(setup: SetupSignals) -> Option<impl IntoView> {
    let sources = setup.sources.get();
    let environment = setup.environment.get();
    let listed = sources.iter().filter_map(|source| source.tasks.first());
    let listed = listed.map(|task| task.environment);
    let mut options = Vec::new();
    for name in listed.chain([&*environment]) {
        let option = (name.to_owned(), name.to_owned());
        if name.starts_with("tau-") && !options.contains(&option) {
            options.push(option);
        }
    }
    options_under("tau-bench", options)
}

/// The Python files as options of the environment select.
fn python_options(setup: SetupSignals) -> Option<impl IntoView> {
    let entries = setup.python.get();
    let options = entries
        .iter()
        .map(|entry| (entry.environment.to_string(), entry.name.to_string()));
    options_under("Your Python environments", options.collect())
}

/// The servers as options of the environment select.
fn server_options(setup: SetupSignals) -> Option<impl IntoView> {
    let servers = setup.servers.get();
    let options = servers
        .iter()
        .map(|server| (server.url.to_string(), server.name.to_string()));
    options_under("Task dataset servers", options.collect())
}

/// A group of options, each with its value and label; `None` if there are none.
fn options_under(label: &'static str, options: Vec<(String, String)>) -> Option<impl IntoView> {
    (!options.is_empty()).then(|| {
        let options = options.into_iter();
        let options = options.map(|(value, text)| view! { <option value=value>{text}</option> });
        view! { <optgroup label=label>{options.collect_view()}</optgroup> }
    })
}

#[component]
fn SeedField(setup: SetupSignals) -> impl IntoView {
    let is_wrong = move || setup.seed_error.with(Option::is_some);
    let error = move || {
        let error = setup.seed_error.get()?;
        Some(view! {
            <p class="error" id="seed-error">
                {error}
            </p>
        })
    };
    view! {
        <div class="field">
            <div class="field-label">
                <span class="label plain">{"Random numbers"}</span>
                <label for="seed">{"Seed"}</label>
                <Terms place="seed" terms=&["seed"]/>
            </div>
            <input
                type="text"
                id="seed"
                inputmode="numeric"
                autocomplete="off"
                aria-invalid=move || is_wrong().then_some("true")
                aria-describedby=move || is_wrong().then_some("seed-error")
                bind:value=setup.seed
            />
            {error}
        </div>
    }
}

/// The task select of the chosen environment; `None` if it has no tasks.
fn task_picker(playground: Playground) -> Option<impl IntoView> {
    let setup = playground.setup();
    let environment = setup.environment.get();
    let (options, more) = setup.sources.with(|sources| {
        let (mut options, mut more) = (Vec::new(), Vec::new());
        for (place, source) in task_choices::lists(sources, &environment) {
            if !task_choices::is_long(source) {
                options.push(task_group(sources, place, source).into_any());
            } else {
                let count = source.tasks.len();
                let text = format!("From your file, by number (1 to {count})");
                let first = TaskPlace {
                    source: place,
                    task: 0,
                };
                let value = task_choices::value_of(sources, Some(first));
                options.push(view! { <option value=value>{text}</option> }.into_any());
                let number = view! { <TaskNumber playground source=place count/> };
                more.push(number.into_any());
            }
            if let Some(file) = &source.file {
                let split = file.split.to_string();
                more.push(view! { <SplitPicker playground place split/> }.into_any());
            }
        }
        (options, more)
    });
    if options.is_empty() {
        return None;
    }
    let pick = move |event| {
        let place = task_choices::place_of(&event_target_value(&event));
        let is_waiting = playground.waits_for_code_untracked();
        if place.is_none() && !playground.can_play_untracked() && !is_waiting {
            // Needs no other code. What waits for code may choose another environment first.
            opening_record::choose_custom(playground);
        }
        playground.update(Event::PickTask(place));
    };
    let value = move || {
        let sources = setup.sources.read();
        task_choices::value_of(&sources, setup.task.get())
    };
    Some(view! {
        <Field id="task" label="Task">
            <select
                id="task"
                prop:value=value
                on:change=pick
            >
                <option value="">{"Custom"}</option>
                {options}
            </select>
        </Field>
        {more}
    })
}

/// The options of a task list that is short enough for a select.
fn task_group(sources: &[TaskSource], source: usize, list: &TaskSource) -> impl IntoView + use<> {
    let options = list.tasks.iter().enumerate().map(|(task, entry)| {
        let value = task_choices::value_of(sources, Some(TaskPlace { source, task }));
        view! { <option value=value>{entry.title.to_string()}</option> }
    });
    view! { <optgroup label=list.title.to_string()>{options.collect_view()}</optgroup> }
}

/// A number field that chooses a task of a long list.
#[component]
fn TaskNumber(
    playground: Playground,
    /// The index of the list.
    source: usize,
    /// The number of tasks in it.
    count: usize,
) -> impl IntoView {
    let setup = playground.setup();
    let chosen = move || setup.task.get().filter(|chosen| chosen.source == source);
    let number = move || chosen().map_or_else(String::new, |place| (place.task + 1).to_string());
    let title = move || {
        let title = chosen().and_then(|place| {
            let sources = setup.sources.read();
            tasks::at(&sources, place).map(|task| task.title.to_string())
        });
        title.unwrap_or_default()
    };
    let pick = move |event| {
        if let Some(task) = task_choices::task_of_number(&event_target_value(&event), count) {
            playground.update(Event::PickTask(Some(TaskPlace { source, task })));
        }
    };
    view! {
        <Field id="task-number" label="Task number">
            <input
                type="number"
                id="task-number"
                min="1"
                max=count.to_string()
                aria-describedby="task-number-help"
                prop:value=number
                on:change=pick
            />
            <p class="help" id="task-number-help">
                {title}
            </p>
        </Field>
    }
}

/// The select for the split of a task file.
#[component]
fn SplitPicker(
    playground: Playground,
    /// The index of the file's task list.
    place: usize,
    /// The current split.
    split: String,
) -> impl IntoView {
    let splits = playground.registry().with_value(tasks::file_splits);
    let options = splits
        .into_iter()
        .map(|name| view! { <option value=name.to_string()>{name.to_string()}</option> });
    let pick = move |event| {
        let split = event_target_value(&event);
        playground.play_with(move |code| (code.pick_split)(playground, place, &split));
    };
    let options = options.collect_view();
    view! {
        <Field id="split" label="Split">
            <select id="split" prop:value=move || split.clone() on:change=pick>
                {options}
            </select>
        </Field>
    }
}
