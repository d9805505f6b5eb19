//! The page: the input on one side, the report on the other.
//!
//! The report is made while the page waits, a moment after the last change; [`super::input`] bounds the work.

use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use volary_tokens::{Builtin, Tokenizer, ToyTokenizer};

use super::controls::Controls;
use super::examples::EXAMPLES;
use super::given::Given;
use super::input::{FieldErrors, Input};
use super::report::{Report, examine};
use super::results::Results;
use crate::browser::files::GivenFile;
use crate::browser::{spawn, timers};
use crate::navigation::{Hooks, Page, use_pages};

/// How long nothing must change before the report is made.
const PAUSE: Duration = Duration::from_millis(200);
/// The largest file that is read, in bytes.
const LARGEST_FILE: f64 = 64.0 * 1024.0 * 1024.0;
/// The choice of the user's own template.
pub(super) const OWN: &str = "own";

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct Lab {
    /// The place of the example that was chosen last.
    pub example: RwSignal<usize>,
    /// The name of a built-in template, or [`OWN`].
    pub template: RwSignal<String>,
    /// The user's own template.
    pub source: RwSignal<String>,
    /// The messages as JSON.
    pub messages: RwSignal<String>,
    /// The tools as JSON.
    pub tools: RwSignal<String>,
    /// Whether the text ends with a generation prompt.
    pub add_generation_prompt: RwSignal<bool>,
    /// The tokenizer.
    pub tokenizer: StoredValue<Rc<dyn Tokenizer>, LocalStorage>,
    /// The file of the tokenizer; `None` for the toy.
    pub tokenizer_file: RwSignal<Option<String>>,
    /// Why a file was not taken.
    pub file_error: RwSignal<Option<String>>,
    /// The last report, or what is wrong with the input.
    pub report: RwSignal<Option<Result<Report, FieldErrors>>>,
    /// Counts the changes of the input.
    changes: StoredValue<u64>,
}

/// The page.
pub fn page() -> AnyView {
    let lab = Lab::new();
    use_pages().hook(
        Page::Template,
        Hooks {
            keys: &[],
            press: Box::new(|_| false),
            take_files: Box::new(move |files| lab.take(files)),
            drop_words: "Drop a chat template, a tokenizer or messages. They stay in your browser.",
        },
    );
    view! {
        <div class="lab">
            <h1>{"Template lab"}</h1>
            <p class="help">
                {"What a chat template makes of messages, and which tokens a training loop would \
                  learn from."}
            </p>
            <div class="lab-panes">
                <Controls lab/>
                <Results lab/>
            </div>
        </div>
    }
    .into_any()
}

impl Lab {
    fn new() -> Self {
        let toy: Rc<dyn Tokenizer> = Rc::new(ToyTokenizer);
        let lab = Lab {
            example: RwSignal::new(0),
            template: RwSignal::new(String::new()),
            source: RwSignal::new(String::new()),
            messages: RwSignal::new(String::new()),
            tools: RwSignal::new(String::new()),
            add_generation_prompt: RwSignal::new(false),
            tokenizer: StoredValue::new_local(toy),
            tokenizer_file: RwSignal::new(None),
            file_error: RwSignal::new(None),
            report: RwSignal::new(None),
            changes: StoredValue::new(0),
        };
        lab.show_example(0);
        lab.compute();
        Effect::new(move |_| lab.changed());
        lab
    }

    /// Shows a worked example.
    pub(super) fn show_example(self, place: usize) {
        let Some(example) = EXAMPLES.get(place) else {
            return;
        };
        let input = example.input();
        self.example.set(place);
        self.template
            .set(input.template.map_or(OWN, Builtin::name).to_owned());
        self.messages.set(input.messages);
        self.tools.set(input.tools);
        self.add_generation_prompt.set(input.add_generation_prompt);
    }

    /// Goes back to the tokenizer that needs no file.
    pub(super) fn use_toy(self) {
        self.tokenizer.set_value(Rc::new(ToyTokenizer));
        self.tokenizer_file.set(None);
    }

    /// Reads files, whatever they are.
    pub(super) fn take(self, files: Vec<GivenFile>) {
        spawn(async move {
            for file in files {
                let taken = match file.size > LARGEST_FILE {
                    true => Err("It is larger than 64 MB.".to_owned()),
                    false => file.read().await.and_then(Given::read),
                };
                let error = match taken {
                    Ok(given) => {
                        self.give(&file.name, given);
                        None
                    }
                    Err(reason) => Some(format!("{} was not taken. {reason}", file.name)),
                };
                self.file_error.set(error);
            }
        });
    }

    fn give(self, name: &str, given: Given) {
        match given {
            Given::Template(source) => {
                self.source.set(source);
                self.template.set(OWN.to_owned());
            }
            Given::Tokenizer(tokenizer) => {
                let tokenizer: Box<dyn Tokenizer> = tokenizer;
                self.tokenizer.set_value(Rc::from(tokenizer));
                self.tokenizer_file.set(Some(name.to_owned()));
            }
            Given::Messages(messages) => self.messages.set(messages),
        }
    }

    fn input(self) -> Input {
        Input {
            template: Builtin::from_name(&self.template.get()),
            source: self.source.get(),
            messages: self.messages.get(),
            tools: self.tools.get(),
            add_generation_prompt: self.add_generation_prompt.get(),
        }
    }

    /// Hears of each change, and makes a report when no other follows.
    fn changed(self) {
        let _ = self.input();
        self.tokenizer_file.track();
        let change = self.changes.get_value() + 1;
        self.changes.set_value(change);
        if change == 1 {
            // The report that is there is of this input.
            return;
        }
        spawn(async move {
            timers::sleep(PAUSE).await;
            if self.changes.try_get_value() == Some(change) {
                self.compute();
            }
        });
    }

    fn compute(self) {
        let input = untrack(|| self.input());
        let report = input.read().map(|case| {
            self.tokenizer
                .with_value(|tokenizer| examine(&case, &**tokenizer))
        });
        self.report.set(Some(report));
    }
}
