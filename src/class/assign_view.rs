//! A teacher makes an assignment: title, tasks, deadline, and where pupils hand in.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_agent::model::ApiKey;
use volary_app::playground::tasks::TaskPlace;
use volary_classroom::{AssignedTask, Assignment, Class, Name, TaskStart};

use super::given::Given;
use super::given_view::{GivenList, GivenView};
use super::server_fields::ServerFields;
use super::{service, start};
use crate::browser::{self, files::GivenFile};
use crate::components::alert_box::AlertWords;
use crate::components::field::Field;
use crate::components::icon::NamedIcon;
use crate::components::text::inert;
use crate::components::{Glyph, Icon};
use crate::playground::state::{Playground, use_playground};
use crate::projection::notice::Notice;
use crate::secrets::{self, KeyOrigin};

/// Longer lists of tasks are not offered; a link to one of their tasks can be added.
const LONGEST_LIST: usize = 300;

/// The assignment that is being made.
#[derive(Clone, Copy)]
struct Draft {
    title: RwSignal<String>,
    deadline: RwSignal<String>,
    /// The tasks, each with a number that identifies its row.
    tasks: RwSignal<Vec<(u32, AssignedTask)>>,
    next: StoredValue<u32>,
    has_class: RwSignal<bool>,
    url: RwSignal<String>,
    key: RwSignal<String>,
    problem: RwSignal<Option<Notice>>,
    is_asking: RwSignal<bool>,
    /// The id of the assignment that is shown below.
    made: RwSignal<Option<String>>,
}

impl Draft {
    fn new() -> Draft {
        Draft {
            title: RwSignal::default(),
            deadline: RwSignal::default(),
            tasks: RwSignal::default(),
            next: StoredValue::new(0),
            has_class: RwSignal::new(false),
            url: RwSignal::default(),
            key: RwSignal::default(),
            problem: RwSignal::new(None),
            is_asking: RwSignal::new(false),
            made: RwSignal::new(None),
        }
    }

    fn add(self, task: Result<AssignedTask, String>) -> bool {
        match task {
            Ok(task) => {
                let number = self.next.get_value();
                self.next.set_value(number + 1);
                self.tasks.update(|tasks| tasks.push((number, task)));
                self.problem.set(None);
                true
            }
            Err(why) => {
                self.refuse("The task was not added.", &why, "");
                false
            }
        }
    }

    fn refuse(self, what: &str, why: &str, advice: &str) {
        self.problem.set(Some(Notice::new(what, why, advice)));
    }

    /// The assignment with this class; each one that is made has an id of its own.
    fn assignment(self, class: Option<Class>) -> Assignment {
        let mut id = browser::random_secret();
        id.truncate(16);
        let tasks = self.tasks.get_untracked().into_iter();
        Assignment {
            id,
            title: Name::new(&self.title.get_untracked()),
            deadline: Name::new(&self.deadline.get_untracked()),
            tasks: tasks.map(|(_, task)| task).collect(),
            class,
        }
    }

    /// Makes the assignment. The code for its link comes from the class server.
    fn make(self, given: Given) {
        self.problem.set(None);
        if !self.has_class.get_untracked() {
            return self.finish(given, self.assignment(None));
        }
        // Before the server is asked, everything else should be right.
        if let Err(error) = self.assignment(None).check() {
            return self.refuse(INCOMPLETE, &error.to_string(), "");
        }
        let url = match service::address(&self.url.get_untracked()) {
            Ok(url) => url,
            Err(why) => return self.refuse(INCOMPLETE, &why, "Check the address of the class."),
        };
        let origin = KeyOrigin::of(&url);
        let typed = self.key.get_untracked();
        let key = match typed.trim() {
            "" => untrack(|| secrets::key(service::OWNER, &origin)),
            typed => ApiKey::new(typed),
        };
        self.is_asking.set(true);
        browser::spawn(async move {
            let info = service::info(&url, &key).await;
            self.is_asking.set(false);
            match info {
                Ok(info) => {
                    // If it cannot be stored, it is known until the page is left.
                    let _ = secrets::put(service::OWNER, &origin, &key);
                    self.key.set(String::new());
                    let code = info.code;
                    self.finish(given, self.assignment(Some(Class { url, code })));
                }
                Err(notice) => self.problem.set(Some(notice)),
            }
        });
    }

    fn finish(self, given: Given, assignment: Assignment) {
        if let Err(error) = assignment.check() {
            return self.refuse(INCOMPLETE, &error.to_string(), "");
        }
        self.made.set(Some(assignment.id.clone()));
        given.add(assignment);
    }
}

const INCOMPLETE: &str = "The assignment was not made.";

#[component]
pub fn AssignView(
    /// Takes files that were picked.
    take: Callback<Vec<GivenFile>>,
) -> impl IntoView {
    let playground = use_playground();
    let given = Given::of_browser();
    let draft = Draft::new();
    let make = move |event: SubmitEvent| {
        event.prevent_default();
        if !draft.is_asking.get_untracked() {
            draft.make(given);
        }
    };
    let problem = move || {
        draft.problem.get().map(|notice| {
            view! {
                <div class="alert inline" role="alert">
                    <Icon glyph=Glyph::Warning/>
                    <AlertWords what=notice.what why=notice.why advice=notice.advice/>
                </div>
            }
        })
    };
    let made = move || {
        let id = draft.made.get()?;
        let made = given
            .all
            .with(|all| all.iter().find(|made| made.id == id).cloned());
        made.map(|assignment| view! { <GivenView assignment/> })
    };
    let label = move || match draft.is_asking.get() {
        true => "Asking the class…",
        false => "Make the link",
    };
    view! {
        <div class="lesson class-assign">
            <p>
                <a href="#/learn">{"Learn"}</a>
            </p>
            <h1>{"Give an assignment"}</h1>
            <p>
                {"Your pupils open a link, play the tasks in their browsers, and hand in. They need no account and no key."}
            </p>
            <form class="class-form" novalidate on:submit=make aria-label="Assignment">
                <div class="class-two">
                    <Field id="class-title" label="Title">
                        <input
                            type="text"
                            id="class-title"
                            autocomplete="off"
                            prop:value=move || draft.title.get()
                            on:input=move |event| draft.title.set(event_target_value(&event))
                        />
                    </Field>
                    <Field id="class-deadline" label="Hand in until (optional)">
                        <input
                            type="text"
                            id="class-deadline"
                            autocomplete="off"
                            placeholder="Friday, 10:00"
                            prop:value=move || draft.deadline.get()
                            on:input=move |event| draft.deadline.set(event_target_value(&event))
                        />
                    </Field>
                </div>
                <Tasks draft/>
                <AddTask draft playground/>
                <HandInChoice draft/>
                {problem}
                <div class="button-row">
                    <button type="submit" class="primary">
                        {label}
                    </button>
                </div>
            </form>
            {made}
            <GivenList given made=draft.made take/>
        </div>
    }
}

/// The chosen tasks, in order.
#[component]
fn Tasks(draft: Draft) -> impl IntoView {
    let is_empty = move || draft.tasks.with(Vec::is_empty);
    let row = move |(number, task): (u32, AssignedTask)| {
        let rename = move |event| {
            let title = Name::new(&event_target_value(&event));
            draft.tasks.update(|tasks| {
                let row = tasks.iter_mut().find(|(known, _)| *known == number);
                if let Some((_, task)) = row {
                    task.title = title;
                }
            });
        };
        let remove = move |_| {
            draft
                .tasks
                .update(|tasks| tasks.retain(|(known, _)| *known != number));
        };
        let place = move || {
            let place = draft
                .tasks
                .with(|tasks| tasks.iter().position(|(known, _)| *known == number));
            place.unwrap_or_default() + 1
        };
        let what = match &task.start {
            TaskStart::Named { environment, .. } => environment.clone(),
            TaskStart::Packed { .. } => {
                "A custom configuration, packed in the link. Its hidden fields stay hidden from pupils, but they are not secret."
                    .to_owned()
            }
        };
        view! {
            <li>
                <input
                    type="text"
                    aria-label=move || format!("Title of task {}", place())
                    prop:value=task.title.to_string()
                    on:change=rename
                />
                <button type="button" class="quiet icon-button" on:click=remove>
                    <NamedIcon glyph=Glyph::Close name="Remove task"/>
                </button>
                <span class="help">{what}</span>
            </li>
        }
    };
    view! {
        <fieldset class="class-chosen">
            <legend>{"Tasks"}</legend>
            <Show when=is_empty>
                <p class="help">{"The tasks that your pupils play, in order. Add the first one below."}</p>
            </Show>
            <ol>
                <For each=move || draft.tasks.get() key=|(number, _)| *number children=row/>
            </ol>
        </fieldset>
    }
}

/// The ways to add a task.
#[component]
fn AddTask(draft: Draft, playground: Playground) -> impl IntoView {
    let chosen = RwSignal::new(String::new());
    let link = RwSignal::new(String::new());
    let groups = move || {
        playground.whole.track();
        playground.setup.sources.with(|sources| {
            let lists = sources.iter().enumerate();
            let lists = lists.filter(|(_, list)| list.file.is_none() && list.tasks.len() <= LONGEST_LIST);
            lists
                .map(|(source, list)| {
                    let tasks = list.tasks.iter().enumerate().map(|(task, entry)| {
                        view! {
                            <option value=format!("{source}.{task}")>{entry.title.to_string()}</option>
                        }
                    });
                    view! {
                        <optgroup label=list.title.to_string()>{tasks.collect_view()}</optgroup>
                    }
                })
                .collect_view()
        })
    };
    let add_chosen = move |_| {
        let place = chosen.with_untracked(|chosen| {
            let (source, task) = chosen.split_once('.')?;
            Some(TaskPlace {
                source: source.parse().ok()?,
                task: task.parse().ok()?,
            })
        });
        let task = place.and_then(|place| start::of_list(playground, place));
        draft.add(task.ok_or_else(|| "Choose one of the list first.".to_owned()));
    };
    let add_shown = move |_| {
        draft.add(start::of_playground(playground));
    };
    let add_link = move |_| {
        if draft.add(start::of_link(playground, &link.get_untracked())) {
            link.set(String::new());
        }
    };
    let shown = move || {
        playground
            .episode
            .with(|episode| episode.environment().map(|name| name.to_string()))
    };
    view! {
        <div class="class-add">
            <Field id="class-task" label="Add a built-in task">
                <div class="class-inline">
                    <select
                        id="class-task"
                        prop:value=move || chosen.get()
                        on:change=move |event| chosen.set(event_target_value(&event))
                    >
                        <option value="">{"Choose…"}</option>
                        {groups}
                    </select>
                    <button type="button" on:click=add_chosen>
                        {"Add"}
                    </button>
                </div>
            </Field>
            <Field id="class-link" label="Or by its link (Share in the playground)">
                <div class="class-inline">
                    <input
                        type="url"
                        id="class-link"
                        autocomplete="off"
                        prop:value=move || link.get()
                        on:input=move |event| link.set(event_target_value(&event))
                    />
                    <button type="button" on:click=add_link>
                        {"Add link"}
                    </button>
                </div>
            </Field>
            <Show when=move || shown().is_some()>
                <div class="button-row">
                    <button type="button" on:click=add_shown>
                        {"Add the task of the playground"}
                    </button>
                    <span class="help">{move || shown().map(|name| inert(&name))}</span>
                </div>
            </Show>
        </div>
    }
}

/// The choice between files and a class server.
#[component]
fn HandInChoice(draft: Draft) -> impl IntoView {
    let choice =
        move |has_class: bool, id: &'static str, label: &'static str, help: &'static str| {
            let help_id = format!("{id}-help");
            view! {
                <div class="share-choice">
                    <input
                        type="radio"
                        name="class-hand-in"
                        id=id
                        aria-describedby=help_id.clone()
                        prop:checked=move || draft.has_class.get() == has_class
                        on:change=move |_| draft.has_class.set(has_class)
                    />
                    <label for=id>{label}</label>
                    <p class="help" id=help_id>
                        {help}
                    </p>
                </div>
            }
        };
    let key_help = Signal::derive(|| {
        "The key that the server was started with. It is sent to this server only, and it is not in the link: pupils get a \
         code that only hands in."
    });
    view! {
        <fieldset class="share-choices class-hand-in-choice">
            <legend>{"Pupils hand in"}</legend>
            {choice(
                false,
                "class-by-file",
                "As a file",
                "Pupils save a file and give it to you, by mail or in your learning platform. You drop all files on the board.",
            )}
            {choice(
                true,
                "class-by-server",
                "To a class on a server",
                "Pupils press Hand in, and the board shows it live. Run volary serve --class FILE --class-key KEY.",
            )}
        </fieldset>
        <Show when=move || draft.has_class.get()>
            <div class="class-two">
                <ServerFields url=draft.url key=draft.key help=key_help/>
            </div>
        </Show>
    }
}
