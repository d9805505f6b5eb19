//! The editor of a Python file: code on one side, what Python says of it on the other.

use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;

use crate::browser::code_editor::CodeEditor;
use crate::browser::files::download;
use crate::browser::spawn;
use crate::components::field::Field;
use crate::components::growing_text::growing_text;
use crate::playground::python;
use crate::playground::state::{Playground, use_playground};
use crate::python::files::{self, Description};
use crate::python::runtime::{self, LoadError, Progress};
use crate::python::stored;

/// What Python said of the code.
#[derive(Clone, Debug, Default, PartialEq)]
enum Outcome {
    /// Nothing: it was not run since it changed.
    #[default]
    None,
    /// It is being run.
    Running,
    /// It ran.
    Loaded(Description),
    /// It did not.
    Failed(LoadError),
}

/// The state of the editor.
#[derive(Clone, Copy)]
struct Editor {
    /// The name of the file.
    name: StoredValue<String>,
    /// The editor on the page, once it is loaded.
    code: StoredValue<Option<Rc<CodeEditor>>, LocalStorage>,
    /// Why it could not be loaded.
    problem: RwSignal<Option<String>>,
    outcome: RwSignal<Outcome>,
    /// Whether the code differs from the last version.
    is_changed: RwSignal<bool>,
}

/// The editor of a file.
#[component]
pub(super) fn EditorPage(
    /// The name of the file.
    name: String,
) -> impl IntoView {
    let playground = use_playground();
    let file = stored::files().get(&name).cloned();
    let Some(code) = file.and_then(|file| Some(file.last()?.code.clone())) else {
        return view! {
            <h1>"Environments"</h1>
            <p>
                {format!("There is no file \"{name}\" in this browser. ")}
                <a href="#/environments">{"All environments"}</a>
            </p>
        }
        .into_any();
    };
    let state = Editor {
        name: StoredValue::new(name.clone()),
        code: StoredValue::new_local(None),
        problem: RwSignal::new(None),
        outcome: RwSignal::new(Outcome::None),
        is_changed: RwSignal::new(false),
    };
    let host = NodeRef::new();
    state.mount(host, code);
    view! {
        <div class="environments-head">
            <div>
                <a class="faint" href="#/environments">
                    {"Environments"}
                </a>
                <h1>{name}</h1>
            </div>
            <Actions state playground/>
        </div>
        <div class="editor-panes">
            <div class="editor-code" node_ref=host></div>
            <Side state/>
        </div>
    }
    .into_any()
}

impl Editor {
    /// Puts the editor on the page once its place is there.
    fn mount(self, host: NodeRef<html::Div>, code: String) {
        // Python takes seconds to load, and whoever opens the editor will run something.
        runtime::warm_up();
        Effect::new(move |_| {
            let Some(element) = host.get() else { return };
            let code = code.clone();
            spawn(async move {
                let changed = move || {
                    self.is_changed.set(true);
                    if self
                        .outcome
                        .with_untracked(|outcome| *outcome != Outcome::None)
                    {
                        self.outcome.set(Outcome::None);
                    }
                };
                match CodeEditor::open(&element, &code, "Code", changed).await {
                    Ok(editor) => self.code.set_value(Some(Rc::new(editor))),
                    Err(reason) => self.problem.set(Some(reason)),
                }
            });
        });
    }

    fn text(self) -> Option<String> {
        self.code.with_value(|code| Some(code.as_ref()?.text()))
    }

    /// Saves the code as a version, runs it, and gives what Python says.
    async fn run(self) -> Option<(String, Description)> {
        let code = self.text()?;
        let name = self.name.get_value();
        stored::save(&name, &code);
        self.is_changed.set(false);
        self.outcome.set(Outcome::Running);
        self.mark(None, "");
        match runtime::load(&files::environment(&code), &code).await {
            Ok(description) => {
                stored::describe(&code, &description);
                self.outcome.try_set(Outcome::Loaded(description.clone()));
                Some((code, description))
            }
            Err(error) => {
                self.mark(error.line, &error.text);
                self.outcome.try_set(Outcome::Failed(error));
                None
            }
        }
    }

    fn mark(self, line: Option<u32>, message: &str) {
        self.code.try_with_value(|code| {
            if let Some(code) = code {
                code.mark(line, message);
            }
        });
    }

    /// Shows an older version; it becomes the last one when it is run or saved.
    fn restore(self, code: &str) {
        self.code.with_value(|editor| {
            if let Some(editor) = editor {
                editor.set_text(code);
            }
        });
    }
}

#[component]
fn Actions(state: Editor, playground: Playground) -> impl IntoView {
    let is_running = move || state.outcome.with(|outcome| *outcome == Outcome::Running);
    let play = move |_| {
        spawn(async move {
            if let Some((code, description)) = state.run().await {
                python::play_python(playground, &state.name.get_value(), &code, description);
            }
        });
    };
    let check = move |_| {
        spawn(async move {
            state.run().await;
        });
    };
    let export = move |_| {
        if let Some(code) = state.text() {
            let name = format!("{}.py", state.name.get_value());
            download(&name, "text/x-python", code.as_bytes());
        }
    };
    view! {
        <div class="button-row">
            <button type="button" class="quiet" on:click=export>
                {"Export .py"}
            </button>
            <button type="button" disabled=is_running on:click=check>
                {"Save and check"}
            </button>
            <button type="button" class="primary" disabled=is_running on:click=play>
                {"Save and play"}
            </button>
        </div>
    }
}

#[component]
fn Side(state: Editor) -> impl IntoView {
    let problem = move || {
        let problem = state.problem.get()?;
        let words = format!("The editor could not be loaded: {problem} Reload the page.");
        Some(view! {
            <p class="error" role="alert">
                {words}
            </p>
        })
    };
    view! {
        <div class="editor-side">
            <Status/>
            {problem}
            {move || outcome_view(&state.outcome.get())}
            {move || versions(state)}
            <Console/>
        </div>
    }
}

/// The state of Python, with a button that stops it.
#[component]
fn Status() -> impl IntoView {
    let progress = runtime::progress();
    let text = {
        let progress = progress.clone();
        move || match progress.get() {
            Progress::Absent => "Python is not loaded.".to_owned(),
            Progress::Fetching(bytes, total) => format!(
                "Loading Python: {:.1} of {:.1} MB",
                bytes / 1e6,
                total / 1e6
            ),
            Progress::Starting(what) => format!("{what}…"),
            Progress::Idle => "Python is ready.".to_owned(),
            Progress::Busy => "Python is running…".to_owned(),
            Progress::Failed(reason) => reason,
        }
    };
    let is_idle = move || !progress.with(|progress| *progress == Progress::Busy);
    view! {
        <div class="editor-status">
            <p role="status" aria-label="Python">
                {text}
            </p>
            <button type="button" class="small" disabled=is_idle on:click=|_| runtime::stop()>
                {"Stop Python"}
            </button>
        </div>
    }
}

fn outcome_view(outcome: &Outcome) -> AnyView {
    match outcome {
        Outcome::None => view! {
            <p class="help">
                "Define a subclass of Environment with reset, step and tools, or a TaskDataset of "
                "environments. Python has no network here."
            </p>
        }
        .into_any(),
        Outcome::Running => view! { <p>"Running the file…"</p> }.into_any(),
        Outcome::Loaded(description) => {
            let size = description
                .size
                .map(|size| format!(" with {size} tasks"))
                .unwrap_or_default();
            let words = format!("{}{size} is ready to be played.", description.class());
            let summary = description.summary.clone();
            let summary = (!summary.is_empty()).then(|| view! { <p class="faint">{summary}</p> });
            view! {
                <div class="editor-outcome" role="status" aria-label="Result">
                    <p>{words}</p>
                    {summary}
                </div>
            }
            .into_any()
        }
        Outcome::Failed(error) => {
            let place = match error.line {
                Some(line) => format!("{} in line {line}", error.kind),
                None if error.kind.is_empty() => "Python could not run the file".to_owned(),
                None => error.kind.to_string(),
            };
            let detail = (!error.detail.is_empty()).then(|| {
                view! {
                    <details>
                        <summary>{"Traceback"}</summary>
                        <pre tabindex="0">{error.detail.to_string()}</pre>
                    </details>
                }
            });
            view! {
                <div class="alert inline editor-error" role="alert">
                    <strong>{place}</strong>
                    <p>{error.text.to_string()}</p>
                    {detail}
                </div>
            }
            .into_any()
        }
    }
}

/// Older versions, which can be restored; nothing if there are none.
fn versions(state: Editor) -> Option<impl IntoView> {
    let files = stored::files();
    let name = state.name.get_value();
    let versions = files.get(&name)?.versions.clone();
    let last = versions.len().checked_sub(1).filter(|last| *last > 0)?;
    let options = (0..=last).rev().map(|place| {
        let text = match place == last {
            true => format!("Version {} (last)", place + 1),
            false => format!("Version {}", place + 1),
        };
        view! { <option value=place.to_string()>{text}</option> }
    });
    let options = options.collect_view();
    let choose = move |event| {
        let place = event_target_value(&event).parse().ok();
        if let Some(version) = place.and_then(|place: usize| versions.get(place)) {
            state.restore(&version.code);
        }
    };
    Some(view! {
        <Field id="python-version" label="Version">
            <select id="python-version" prop:value=last.to_string() on:change=choose>
                {options}
            </select>
        </Field>
    })
}

#[component]
fn Console() -> impl IntoView {
    let printed = runtime::console();
    let text = growing_text("editor-console", Some("Output"), move |shown| {
        printed.with(|text| text.get(shown..).unwrap_or_default().to_owned())
    });
    view! {
        <section class="editor-output" aria-label="Printed output">
            <h2>{"Output"}</h2>
            {text}
        </section>
    }
}
