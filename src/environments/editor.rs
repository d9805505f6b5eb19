//! The editor of a Python file: code on one side, what Python says of it on the other.

use std::rc::Rc;

use leptos::prelude::*;

use crate::browser::code_editor::CodeEditor;
use crate::browser::files::download;
use crate::browser::spawn;
use crate::components::erased::{dynamic, flag, watch, words};
use crate::components::growing_text::growing_text;
use crate::components::markup::{El, ElementRef, all, button, el, nothing};
use crate::playground::controls::{choice, field, option};
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

/// The editor of the file of a name.
pub fn editor(name: String) -> AnyView {
    let playground = use_playground();
    let file = untrack(stored::files).get(&name).cloned();
    let Some(code) = file.and_then(|file| Some(file.last()?.code.clone())) else {
        return all(vec![
            el("h1").child("Environments").view(),
            el("p")
                .child(format!("There is no file \"{name}\" in this browser. "))
                .child(
                    el("a")
                        .attr("href", "#/environments")
                        .child("All environments"),
                )
                .view(),
        ]);
    };
    let state = Editor {
        name: StoredValue::new(name.clone()),
        code: StoredValue::new_local(None),
        problem: RwSignal::new(None),
        outcome: RwSignal::new(Outcome::None),
        is_changed: RwSignal::new(false),
    };
    let host = ElementRef::new();
    state.mount(host, code);
    all(vec![
        el("div")
            .class("environments-head")
            .child(
                el("div")
                    .child(
                        el("a")
                            .class("faint")
                            .attr("href", "#/environments")
                            .child("Environments"),
                    )
                    .child(el("h1").child(name)),
            )
            .child(actions(state, playground))
            .view(),
        el("div")
            .class("editor-panes")
            .child(el("div").class("editor-code").element_ref(host))
            .child(side(state))
            .view(),
    ])
}

impl Editor {
    /// Puts the editor on the page once its place is there.
    fn mount(self, host: ElementRef, code: String) {
        // Python takes seconds to load, and whoever opens the editor will run something.
        runtime::warm_up();
        watch(move || {
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

fn actions(state: Editor, playground: Playground) -> El {
    let is_running = flag(move || state.outcome.with(|outcome| *outcome == Outcome::Running));
    let play = button("primary")
        .attr("disabled", is_running)
        .on_click(move || {
            spawn(async move {
                if let Some((code, description)) = state.run().await {
                    playground.play_python(&state.name.get_value(), &code, description);
                }
            });
        })
        .child("Save and play");
    let check = button("")
        .attr("disabled", is_running)
        .on_click(move || {
            spawn(async move {
                state.run().await;
            });
        })
        .child("Save and check");
    let export = button("quiet")
        .on_click(move || {
            if let Some(code) = state.text() {
                let name = format!("{}.py", state.name.get_value());
                download(&name, "text/x-python", code.as_bytes());
            }
        })
        .child("Export .py");
    el("div")
        .class("button-row")
        .child(export)
        .child(check)
        .child(play)
}

fn side(state: Editor) -> El {
    el("div")
        .class("editor-side")
        .child(status())
        .child(dynamic(move || match state.problem.get() {
            Some(problem) => el("p")
                .class("error")
                .attr("role", "alert")
                .child(format!(
                    "The editor could not be loaded: {problem} Reload the page."
                ))
                .view(),
            None => nothing(),
        }))
        .child(dynamic(move || outcome_view(&state.outcome.get())))
        .child(versions(state))
        .child(console())
}

/// How far Python is, with a button that ends what it is doing.
fn status() -> El {
    let progress = runtime::progress();
    let text = {
        let progress = progress.clone();
        words(move || match progress.get() {
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
        })
    };
    let is_idle = flag(move || !progress.with(|progress| *progress == Progress::Busy));
    el("div")
        .class("editor-status")
        .child(
            el("p")
                .attr("role", "status")
                .attr("aria-label", "Python")
                .child(text),
        )
        .child(
            button("small")
                .attr("disabled", is_idle)
                .on_click(runtime::stop)
                .child("Stop Python"),
        )
}

fn outcome_view(outcome: &Outcome) -> AnyView {
    match outcome {
        Outcome::None => el("p")
            .class("help")
            .child(
                "Define a subclass of Environment with reset, step and tools, or a TaskDataset of environments. \
                 Python has no network here.",
            )
            .view(),
        Outcome::Running => el("p").child("Running the file…").view(),
        Outcome::Loaded(description) => {
            let size = description
                .size
                .map(|size| format!(" with {size} tasks"))
                .unwrap_or_default();
            el("div")
                .class("editor-outcome")
                .attr("role", "status")
                .attr("aria-label", "Result")
                .child(el("p").child(format!("{}{size} is ready to be played.", description.class())))
                .child((!description.summary.is_empty()).then(|| el("p").class("faint").child(description.summary.clone())))
                .view()
        }
        Outcome::Failed(error) => {
            let place = match error.line {
                Some(line) => format!("{} in line {line}", error.kind),
                None if error.kind.is_empty() => "Python could not run the file".to_owned(),
                None => error.kind.to_string(),
            };
            el("div")
                .class("alert inline editor-error")
                .attr("role", "alert")
                .child(el("strong").child(place))
                .child(el("p").child(error.text.to_string()))
                .child((!error.detail.is_empty()).then(|| {
                    el("details")
                        .child(el("summary").child("Traceback"))
                        .child(el("pre").attr("tabindex", "0").child(error.detail.to_string()))
                }))
                .view()
        }
    }
}

/// Older versions, which can be brought back.
fn versions(state: Editor) -> AnyView {
    dynamic(move || {
        let files = stored::files();
        let name = state.name.get_value();
        let versions = files.get(&name).map(|file| file.versions.clone());
        let versions = versions.unwrap_or_default();
        if versions.len() < 2 {
            return nothing();
        }
        let count = versions.len();
        let options = versions.iter().enumerate().rev().map(|(place, _)| {
            let text = match place + 1 == count {
                true => format!("Version {} (last)", place + 1),
                false => format!("Version {}", place + 1),
            };
            option(place.to_string(), text).view()
        });
        let control = choice(words(move || (count - 1).to_string()), {
            let versions = versions.clone();
            move |place| {
                let version = place
                    .parse()
                    .ok()
                    .and_then(|place: usize| versions.get(place));
                if let Some(version) = version {
                    state.restore(&version.code);
                }
            }
        })
        .child(all(options.collect()));
        field("python-version", "Version", control).view()
    })
}

fn console() -> El {
    let printed = runtime::console();
    let text = growing_text("editor-console", Some("Output"), move |shown| {
        printed.with(|text| text.get(shown..).unwrap_or_default().to_owned())
    });
    el("section")
        .class("editor-output")
        .attr("aria-label", "Printed output")
        .child(el("h2").child("Output"))
        .child(text)
}
