//! A teacher makes an assignment: title, tasks, deadline, and where pupils hand in.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::class::assignment_form::{AssignmentForm, ChosenTask, Effect, Event, HandInChoice};
use volary_app::playground::tasks::{self, TaskPlace, TaskSource};
use volary_classroom::{AssignedTask, Name, TaskStart};

use super::given::Given;
use super::given_view::{GivenList, GivenView};
use super::server_fields::ServerFields;
use super::{service, start};
use volary_browser::{self as browser, files::GivenFile};
use volary_playground::state::{Playground, use_playground};
use volary_ui::alert_box::AlertWords;
use volary_ui::field::Field;
use volary_ui::icon::NamedIcon;
use volary_ui::text::inert;
use volary_ui::{Glyph, Icon};
use volary_view::task_groups::{TaskGroup, groups, list_name, task_text};

/// Longer lists of tasks are not offered; a link to one of their tasks can be added.
const LONGEST_LIST: usize = 300;

/// The form as signals: carries out the effects of [`volary_app::class::assignment_form`].
#[derive(Clone, Copy)]
struct Draft {
    form: RwSignal<AssignmentForm>,
    given: Given,
}

impl Draft {
    fn new(given: Given) -> Draft {
        Draft {
            form: RwSignal::default(),
            given,
        }
    }

    fn handle(self, event: Event) {
        // The teacher may have left the page.
        let effects = self.form.try_update(|form| form.update(event));
        for effect in effects.into_iter().flatten() {
            self.carry_out(effect);
        }
    }

    /// Adds a task. Returns whether it was added.
    fn add(self, task: Result<AssignedTask, String>) -> bool {
        let is_added = task.is_ok();
        self.handle(Event::Add(task));
        is_added
    }

    fn make(self) {
        let mut id = browser::random_secret();
        id.truncate(16);
        let server = self
            .form
            .with_untracked(|form| service::server(form.address(), form.key()));
        self.handle(Event::Make { id, server });
    }

    fn carry_out(self, effect: Effect) {
        match effect {
            Effect::AskForCode { question, server } => browser::spawn(async move {
                let info = service::info(&server.url, &server.key).await;
                let code = info.map(|info| info.code);
                if let Ok(code) = &code {
                    self.given.update_code(&server.url, code);
                }
                self.handle(Event::Answered { question, code });
            }),
            Effect::StoreKey(server) => service::store_key(&server),
            Effect::Give(assignment) => self.given.add(assignment),
        }
    }
}

#[component]
pub fn AssignView(
    /// Takes files that were picked.
    take: Callback<Vec<GivenFile>>,
) -> impl IntoView {
    let playground = use_playground();
    let given = Given::of_browser();
    let draft = Draft::new(given);
    let form = draft.form;
    let make = move |event: SubmitEvent| {
        event.prevent_default();
        draft.make();
    };
    let failure = Memo::new(move |_| form.with(|form| form.problem().cloned()));
    let problem = move || {
        failure.get().map(|notice| {
            view! {
                <div class="alert inline" role="alert">
                    <Icon glyph=Glyph::Warning/>
                    <AlertWords what=notice.what why=notice.why advice=notice.advice/>
                </div>
            }
        })
    };
    let made_id = Memo::new(move |_| form.with(|form| form.made().map(str::to_owned)));
    let show = Callback::new(move |id| draft.handle(Event::ShowMade(id)));
    let made = move || {
        let id = made_id.get()?;
        let made = given
            .all
            .with(|all| all.iter().find(|made| made.id == id).cloned());
        made.map(|assignment| view! { <GivenView assignment/> })
    };
    let label = move || {
        if form.with(AssignmentForm::is_asking) {
            "Asking the class…"
        } else {
            "Make the link"
        }
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
                            prop:value=move || form.with(|form| form.title().to_owned())
                            on:input=move |event| draft.handle(Event::Titled(event_target_value(&event)))
                        />
                    </Field>
                    <Field id="class-deadline" label="Hand in until (optional)">
                        <input
                            type="text"
                            id="class-deadline"
                            autocomplete="off"
                            placeholder="Friday, 10:00"
                            prop:value=move || form.with(|form| form.deadline().to_owned())
                            on:input=move |event| draft.handle(Event::Dated(event_target_value(&event)))
                        />
                    </Field>
                </div>
                <Tasks draft/>
                <AddTask draft playground/>
                <HandInFields draft/>
                {problem}
                <div class="button-row">
                    <button type="submit" class="primary">
                        {label}
                    </button>
                </div>
            </form>
            {made}
            <GivenList given show take/>
        </div>
    }
}

/// The chosen tasks, in order.
#[component]
fn Tasks(draft: Draft) -> impl IntoView {
    let form = draft.form;
    let tasks = Memo::new(move |_| form.with(|form| form.tasks().to_vec()));
    let is_empty = move || tasks.with(Vec::is_empty);
    let row = move |ChosenTask { number, task }: ChosenTask| {
        let rename = move |event| {
            let title = Name::new(&event_target_value(&event));
            draft.handle(Event::Rename { number, title });
        };
        let remove = move |_| draft.handle(Event::Remove(number));
        let place = move || form.with(|form| form.place(number));
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
                <For each=move || tasks.get() key=|chosen| chosen.number children=row/>
            </ol>
        </fieldset>
    }
}

/// The ways to add a task.
#[component]
fn AddTask(draft: Draft, playground: Playground) -> impl IntoView {
    let (list, task) = (RwSignal::new(0_usize), RwSignal::new(None));
    let link = RwSignal::new(String::new());
    let sources = playground.setup().sources;
    let lists = Memo::new(move |_| {
        playground.can_play();
        let is_offered =
            |list: &TaskSource| list.file.is_none() && list.tasks.len() <= LONGEST_LIST;
        sources.with(|sources| {
            let lists = sources.iter().enumerate();
            let lists = lists.filter(|(_, list)| is_offered(list));
            lists
                .map(|(source, list)| (source, list_name(&list.dataset)))
                .collect::<Vec<_>>()
        })
    });
    let list_options = move || {
        let options = lists.get().into_iter();
        options
            .map(|(source, name)| {
                view! {
                    <option value=source.to_string() selected=move || list.get() == source>
                        {name}
                    </option>
                }
            })
            .collect_view()
    };
    let task_options = move || {
        lists.track();
        let groups = sources.with(|sources| {
            let titles = sources.get(list.get())?.tasks.iter();
            Some(groups(titles.map(|task| &*task.title)))
        });
        groups
            .unwrap_or_default()
            .into_iter()
            .map(task_group)
            .collect_view()
    };
    let choose_list = move |event| {
        if let Ok(source) = event_target_value(&event).parse() {
            task.set(None);
            list.set(source);
        }
    };
    let place = move || {
        let (source, task) = (list.get(), task.get()?);
        Some(TaskPlace { source, task })
    };
    let text = move || {
        let place = place()?;
        sources.with(|sources| {
            let text = task_text(tasks::at(sources, place)?)?;
            Some(view! { <p class="help" dir="auto">{inert(text)}</p> })
        })
    };
    let add_chosen = move |_| {
        let task = untrack(place).and_then(|place| start::of_list(playground, place));
        draft.add(task.ok_or_else(|| "Choose a task first.".to_owned()));
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
            .episode()
            .with(|episode| episode.environment().map(|name| name.to_string()))
    };
    view! {
        <div class="class-add">
            <Field id="class-list" label="Kind of task">
                <select id="class-list" on:change=choose_list>
                    {list_options}
                </select>
            </Field>
            <Field id="class-task" label="Add a built-in task">
                <div class="class-inline">
                    <select
                        id="class-task"
                        prop:value=move || task.get().map_or_else(String::new, |task: usize| task.to_string())
                        on:change=move |event| task.set(event_target_value(&event).parse().ok())
                    >
                        <option value="">{"Choose…"}</option>
                        {task_options}
                    </select>
                    <button type="button" on:click=add_chosen>
                        {"Add"}
                    </button>
                </div>
                {text}
            </Field>
            <Field id="class-link" label="Or by its link (Share in the playground)">
                <div class="class-inline">
                    <input
                        type="url"
                        id="class-link"
                        autocomplete="off"
                        bind:value=link
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

/// The options of a group of tasks.
fn task_group(group: TaskGroup) -> AnyView {
    let options = group.tasks.into_iter();
    let options =
        options.map(|(task, name)| view! { <option value=task.to_string()>{name}</option> });
    let options = options.collect_view();
    if group.level.is_empty() {
        return options.into_any();
    }
    view! { <optgroup label=group.level>{options}</optgroup> }.into_any()
}

/// The choice between files and a class server.
#[component]
fn HandInFields(draft: Draft) -> impl IntoView {
    let form = draft.form;
    let choice =
        move |choice: HandInChoice, id: &'static str, label: &'static str, help: &'static str| {
            let help_id = format!("{id}-help");
            view! {
                <div class="share-choice">
                    <input
                        type="radio"
                        name="class-hand-in"
                        id=id
                        aria-describedby=help_id.clone()
                        prop:checked=move || form.with(AssignmentForm::hand_in) == choice
                        on:change=move |_| draft.handle(Event::HandInBy(choice))
                    />
                    <label for=id>{label}</label>
                    <p class="help" id=help_id>
                        {help}
                    </p>
                </div>
            }
        };
    let has_class = Memo::new(move |_| form.with(AssignmentForm::hand_in) == HandInChoice::Server);
    let url = Signal::derive(move || form.with(|form| form.address().to_owned()));
    let key = Signal::derive(move || form.with(|form| form.key().to_owned()));
    let set_url = Callback::new(move |url| draft.handle(Event::Address(url)));
    let set_key = Callback::new(move |key| draft.handle(Event::Key(key)));
    let key_help = Signal::derive(|| {
        "The key that the server printed, or was started with. It is sent to this server only, and it is not in the link: pupils get a \
         code that only hands in."
    });
    view! {
        <fieldset class="share-choices class-hand-in-choice">
            <legend>{"Pupils hand in"}</legend>
            {choice(
                HandInChoice::File,
                "class-by-file",
                "As a file",
                "Pupils save a file and give it to you, by e-mail or in your learning platform. You drag all files onto the board, the page with the results.",
            )}
            {choice(
                HandInChoice::Server,
                "class-by-server",
                "To a class on a server",
                "Pupils press Hand in, and the board, the page with the results, shows it live. This needs the program volary on a \
                 computer that all pupils can reach: volary serve --class FILE starts it there, and prints the key.",
            )}
        </fieldset>
        <Show when=move || has_class.get()>
            <div class="class-two">
                <ServerFields url set_url key set_key help=key_help/>
            </div>
        </Show>
    }
}
