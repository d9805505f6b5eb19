//! The editor of a Python file: the code on one side, the result of running it on the other.

use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;

use super::code_check::{CodeCheck, CodeResult, error_title, ready_text};
use super::page::DropTarget;
use super::python_import;
use volary_app::python::files::{Description, PythonSource};
use volary_app::python::wheels::Wheel;
use volary_browser::code_editor::CodeEditor;
use volary_browser::files::{GivenFile, download, pick};
use volary_browser::spawn;
use volary_connections::python::runtime::{self, PythonStatus};
use volary_connections::python::stored;
use volary_playground::python;
use volary_playground::state::{Playground, use_playground};
use volary_ui::UnsavedNotice;
use volary_ui::field::Field;
use volary_ui::growing_text::growing_text;
use volary_ui::text::inert;

/// Signals of the editor.
#[derive(Clone, Copy)]
struct Editor {
    name: StoredValue<String>,
    /// The mounted code editor, once it is loaded.
    code: StoredValue<Option<Rc<CodeEditor>>, LocalStorage>,
    /// Whether the code editor is loaded. Without it there is no code to save.
    is_open: RwSignal<bool>,
    /// Why the code editor could not be loaded.
    problem: RwSignal<Option<String>>,
    check: RwSignal<CodeCheck>,
    /// The wheels that the code imports.
    wheels: RwSignal<Vec<Wheel>>,
    /// Why a dropped file was rejected.
    refused: RwSignal<Option<String>>,
}

/// The page that edits a file.
#[component]
pub(super) fn EditorPage(
    /// The file's name in storage.
    name: String,
    target: DropTarget,
) -> impl IntoView {
    let playground = use_playground();
    let file = stored::files().get(&name).cloned();
    let Some(source) = file.and_then(|file| Some(file.last()?.source.clone())) else {
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
        is_open: RwSignal::new(false),
        problem: RwSignal::new(None),
        check: RwSignal::default(),
        wheels: RwSignal::new(source.wheels),
        refused: RwSignal::new(None),
    };
    let host = NodeRef::new();
    state.mount(host, source.code);
    state.follow_versions();
    target.set_value(Some(Rc::new(move |files| state.take(files))));
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
        <UnsavedNotice what="your environments" unsaved=stored::unsaved()/>
        <div class="editor-panes">
            <div class="editor-code" node_ref=host></div>
            <Side state/>
        </div>
    }
    .into_any()
}

impl Editor {
    /// Mounts the code editor once its host element exists.
    fn mount(self, host: NodeRef<html::Div>, code: String) {
        // Loading Python takes seconds, and opening the editor is a sign that something will be run.
        runtime::warm_up();
        Effect::new(move |_| {
            let Some(element) = host.get() else { return };
            let code = code.clone();
            spawn(async move {
                match CodeEditor::open(&element, &code, "Code", move || self.changed()).await {
                    Ok(editor) => {
                        self.code.set_value(Some(Rc::new(editor)));
                        self.is_open.try_set(true);
                    }
                    Err(reason) => self.problem.set(Some(reason)),
                }
            });
        });
    }

    /// Shows a version that another part of the page stored, for example one that was restored after a check. Unsaved
    /// changes are preserved.
    fn follow_versions(self) {
        Effect::new(move |_| {
            let files = stored::files();
            let name = self.name.get_value();
            let Some(last) = files.get(&name).and_then(|file| file.last()) else {
                return;
            };
            let source = &last.source;
            let is_shown = self.text().is_none_or(|text| text == source.code);
            if is_shown || self.check.with_untracked(CodeCheck::is_changed) {
                return;
            }
            self.wheels.set(source.wheels.clone());
            self.restore(&source.code);
            self.check.update(CodeCheck::stored);
        });
    }

    fn text(self) -> Option<String> {
        self.code.with_value(|code| Some(code.as_ref()?.text()))
    }

    fn changed(self) {
        let is_shown = |check: &CodeCheck| *check.result() != CodeResult::None;
        if self.check.with_untracked(is_shown) {
            self.check.update(CodeCheck::changed)
        } else {
            // While nothing is shown, typing redraws nothing.
            self.check.update_untracked(CodeCheck::changed)
        }
    }

    /// Handles dropped files: wheels are added, and a Python file replaces the code.
    fn take(self, files: Vec<GivenFile>) {
        self.refused.set(None);
        spawn(async move {
            for file in files {
                if let Err(reason) = self.take_one(&file).await {
                    self.refused.try_set(Some(reason));
                }
            }
        });
    }

    async fn take_one(self, file: &GivenFile) -> Result<(), String> {
        if file.name.ends_with(".py") {
            self.restore(&python_import::utf8(&file.name, file.read().await?)?);
            return Ok(());
        }
        let wheel = stored::keep_wheel(file).await?;
        self.wheels.try_update(|wheels| {
            // A wheel of the same name is replaced.
            wheels.retain(|other| other.name != wheel.name);
            wheels.push(wheel);
        });
        self.changed();
        Ok(())
    }

    /// Stores the code as a version and runs it. Returns the source and Python's description, or `None` if it did not
    /// run.
    async fn run(self) -> Option<(PythonSource, Description)> {
        let source = PythonSource {
            code: self.text()?,
            wheels: self.wheels.get_untracked(),
        };
        let name = self.name.get_value();
        stored::save(&name, &source);
        let number = self.check.try_update(CodeCheck::begin)?;
        self.mark(None, "");
        match runtime::load(&source).await {
            Ok(description) => {
                stored::describe(&source, &description);
                self.end(number, CodeResult::Loaded(description.clone()));
                Some((source, description))
            }
            Err(error) => {
                let (line, text) = (error.line, error.text.clone());
                if self.end(number, CodeResult::Failed(error)) {
                    self.mark(line, &text);
                }
                None
            }
        }
    }

    /// Shows the result of a run. Returns `false` if it is that of other code.
    fn end(self, number: u32, result: CodeResult) -> bool {
        let shown = self.check.try_update(|check| check.end(number, result));
        shown.unwrap_or_default()
    }

    fn mark(self, line: Option<u32>, message: &str) {
        self.code.try_with_value(|code| {
            if let Some(code) = code {
                code.mark(line, message);
            }
        });
    }

    /// Loads an older version into the editor. It becomes the last version when it is run or saved.
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
    let is_idle = move || {
        let is_running = |check: &CodeCheck| *check.result() == CodeResult::Running;
        state.is_open.get() && !state.check.with(is_running)
    };
    let play = move |_| {
        spawn(async move {
            if let Some((source, description)) = state.run().await {
                python::play_python(playground, &state.name.get_value(), source, description);
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
            <button type="button" disabled=move || !is_idle() on:click=check>
                {"Save and check"}
            </button>
            <button type="button" class="primary" disabled=move || !is_idle() on:click=play>
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
            {move || state.check.with(|check| outcome_view(check.result()))}
            {move || versions(state)}
            <Wheels state/>
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
            PythonStatus::Absent => "Python is not loaded.".to_owned(),
            PythonStatus::Fetching(bytes, total) => format!(
                "Loading Python: {:.1} of {:.1} MB",
                bytes / 1e6,
                total / 1e6
            ),
            PythonStatus::Starting(what) => format!("{what}…"),
            PythonStatus::Idle => "Python is ready.".to_owned(),
            PythonStatus::Busy => "Python is running…".to_owned(),
            PythonStatus::Failed(reason) => reason,
        }
    };
    let is_idle = move || !progress.with(|progress| *progress == PythonStatus::Busy);
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

fn outcome_view(outcome: &CodeResult) -> AnyView {
    match outcome {
        CodeResult::None => view! {
            <p class="help">
                "Define a subclass of Environment with reset, step and tools, or a TaskDataset of "
                "environments. Python has no network here."
            </p>
        }
        .into_any(),
        CodeResult::Running => view! { <p>"Running the file…"</p> }.into_any(),
        CodeResult::Loaded(description) => {
            let words = ready_text(description);
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
        CodeResult::Failed(error) => {
            let title = error_title(error);
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
                    <strong>{title}</strong>
                    <p>{error.text.to_string()}</p>
                    {detail}
                </div>
            }
            .into_any()
        }
    }
}

/// The list of older versions, which can be restored; `None` if there are none.
fn versions(state: Editor) -> Option<impl IntoView> {
    let files = stored::files();
    let name = state.name.get_value();
    let versions = files.get(&name)?.versions.clone();
    let last = versions.len().checked_sub(1).filter(|last| *last > 0)?;
    let options = (0..=last).rev().map(|place| {
        let text = if place == last {
            format!("Version {} (last)", place + 1)
        } else {
            format!("Version {}", place + 1)
        };
        view! { <option value=place.to_string()>{text}</option> }
    });
    let options = options.collect_view();
    let choose = move |event| {
        let place = event_target_value(&event).parse().ok();
        if let Some(version) = place.and_then(|place: usize| versions.get(place)) {
            state.wheels.set(version.source.wheels.clone());
            state.restore(&version.source.code);
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

/// The wheels that the code imports.
#[component]
fn Wheels(state: Editor) -> impl IntoView {
    let pick_wheels = move |_| pick(".whl", move |files| state.take(files));
    let rows = move || {
        let wheels = state.wheels.get().into_iter();
        let rows = wheels.map(|wheel| {
            let name = wheel.name.clone();
            let remove = move |_| {
                state
                    .wheels
                    .update(|wheels| wheels.retain(|other| *other != wheel));
                state.changed();
            };
            view! {
                <li class="environment-row">
                    <code>{inert(&name)}</code>
                    <button
                        type="button"
                        class="quiet small"
                        aria-label=format!("Remove {name}")
                        on:click=remove
                    >
                        {"Remove"}
                    </button>
                </li>
            }
        });
        rows.collect_view()
    };
    let refused = move || {
        let reason = state.refused.get()?;
        Some(view! {
            <p class="error" role="alert">
                {inert(&reason)}
            </p>
        })
    };
    view! {
        <section class="editor-wheels" aria-label="Wheels">
            <h2>{"Wheels"}</h2>
            <p class="help">
                {"Drop wheels of pure Python here, up to 8 MB each. They are stored in this browser."}
            </p>
            <ul class="environment-list">{rows}</ul>
            {refused}
            <button type="button" class="small" on:click=pick_wheels>
                {"Add wheel"}
            </button>
        </section>
    }
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
