//! The page of the lab: the input on one side, the report on the other.
//!
//! The report is computed on the page's thread, shortly after the last change; [`super::input`] bounds the work.

use std::time::Duration;

use leptos::prelude::*;
use volary_episode::native;
use volary_tokens::{Builtin, Tokenizer, ToyTokenizer};
use volary_view::route::{Route, TemplatePlace};

use super::controls::Controls;
use super::examples::EXAMPLES;
use super::given::{LabFile, RefusedFiles};
use super::input::{FieldErrors, Input};
use super::late_episode::{FollowedAddresses, LabMessages};
use super::link;
use super::report::{Report, examine};
use super::results::Results;
use volary_browser::files::GivenFile;
use volary_browser::{location, spawn, timers};
use volary_connections::tokenizer::{self, LARGEST_FILE};
use volary_storage::episodes;
use volary_ui::navigation::{Hooks, Page, use_pages};

/// The debounce delay between the last change and the report.
const PAUSE: Duration = Duration::from_millis(200);
/// The message for an episode that is only in a large file or in the playground.
const NOT_HERE: &str = "This episode is not stored separately in this browser. Export its messages, and open that file here.";
/// The option for the user's own template.
pub(super) const OWN: &str = "own";

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct Lab {
    /// The index of the example that was chosen last.
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
    /// Why a file, a link or an episode could not be used.
    pub file_error: RwSignal<Option<String>>,
    /// The last report, or the errors of the input.
    pub report: RwSignal<Option<Result<Report, FieldErrors>>>,
    /// The number of changes of the input.
    changes: StoredValue<u64>,
    followed: StoredValue<FollowedAddresses>,
}

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
                {"A chat template turns messages into the text that a model reads. See that text for a \
                  template, and from which tokens a training loop would learn."}
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
        let lab = Lab {
            example: RwSignal::new(0),
            template: RwSignal::new(String::new()),
            source: RwSignal::new(String::new()),
            messages: RwSignal::new(String::new()),
            tools: RwSignal::new(String::new()),
            add_generation_prompt: RwSignal::new(false),
            file_error: RwSignal::new(None),
            report: RwSignal::new(None),
            changes: StoredValue::new(0),
            followed: StoredValue::new(FollowedAddresses::default()),
        };
        lab.show_example(0);
        lab.compute();
        Effect::new(move |_| lab.changed());
        spawn(tokenizer::restore());
        // After the first run of the effect above, so that this counts as a change.
        let pages = use_pages();
        Effect::new(move |_| {
            if let Route::Template { query } = pages.route.get() {
                lab.follow(TemplatePlace::read(&query));
            }
        });
        lab
    }

    /// Shows a worked example.
    pub(super) fn show_example(self, place: usize) {
        let Some(example) = EXAMPLES.get(place) else {
            return;
        };
        self.example.set(place);
        self.show(example.input());
    }

    fn show(self, input: Input) {
        self.file_error.set(None);
        self.source.set(input.source);
        self.template
            .set(input.template.map_or(OWN, Builtin::name).to_owned());
        self.messages.set(input.messages);
        self.tools.set(input.tools);
        self.add_generation_prompt.set(input.add_generation_prompt);
    }

    /// Calls `work` with the user's tokenizer, or with the built-in one that needs no file.
    pub(super) fn with_tokenizer<T>(self, work: impl FnOnce(&dyn Tokenizer) -> T) -> T {
        match tokenizer::given() {
            Some(given) => work(&*given.tokenizer),
            None => work(&ToyTokenizer),
        }
    }

    /// Applies the input in the address.
    fn follow(self, place: TemplatePlace) {
        self.followed.update_value(FollowedAddresses::follow);
        if let Some(text) = place.input {
            match link::decode(&text) {
                Ok(input) => self.show(input),
                Err(reason) => self.file_error.set(Some(reason)),
            }
        } else if let Some(id) = place.episode {
            spawn(async move {
                self.take_episode(&id).await;
            });
        }
    }

    /// Shows the messages of a stored episode, unless another address was followed or the input was changed meanwhile.
    async fn take_episode(self, id: &str) {
        let request = self.followed.get_value().request(self.shown_messages());
        let read = messages_of(id).await;
        if !request.is_wanted(self.followed.get_value(), &self.shown_messages()) {
            return;
        }
        self.file_error.set(match read {
            Ok((messages, tools)) => {
                self.messages.set(messages);
                self.tools.set(tools);
                None
            }
            Err(reason) => Some(reason),
        });
    }

    fn shown_messages(self) -> LabMessages {
        LabMessages {
            messages: self.messages.get_untracked(),
            tools: self.tools.get_untracked(),
        }
    }

    /// The address of the page with its input; the error says why there is none.
    pub(super) fn link(self) -> Result<String, String> {
        let input = link::encode(&untrack(|| self.input()))?;
        let place = TemplatePlace {
            input: Some(input),
            episode: None,
        };
        Ok(location::address_with(&place.to_hash()))
    }

    /// Reads files of any supported kind.
    pub(super) fn take(self, files: Vec<GivenFile>) {
        spawn(async move {
            let mut refused = RefusedFiles::default();
            for file in files {
                let taken = if file.size > LARGEST_FILE {
                    Err("It is larger than 64 MB.".to_owned())
                } else {
                    file.read().await.and_then(LabFile::read)
                };
                match taken {
                    Ok(given) => self.give(&file, given).await,
                    Err(reason) => refused.add(&file.name, &reason),
                }
            }
            self.file_error.set(refused.message());
        });
    }

    async fn give(self, file: &GivenFile, given: LabFile) {
        match given {
            LabFile::Template(source) => {
                self.source.set(source);
                self.template.set(OWN.to_owned());
            }
            LabFile::Tokenizer(tokenizer) => {
                tokenizer::keep(file, tokenizer).await;
            }
            LabFile::Messages(messages) => self.messages.set(messages),
            LabFile::Conversation { messages, tools } => {
                self.messages.set(messages);
                self.tools.set(tools);
            }
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

    /// Handles a change: a debounced report follows.
    fn changed(self) {
        let _ = self.input();
        let _ = tokenizer::given();
        let change = self.changes.get_value() + 1;
        self.changes.set_value(change);
        if change == 1 {
            // The displayed report is that of the initial input.
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
        let report = input
            .read()
            .map(|case| untrack(|| self.with_tokenizer(|tokenizer| examine(&case, tokenizer))));
        self.report.set(Some(report));
    }
}

/// The messages and tools of a stored episode.
async fn messages_of(id: &str) -> Result<(String, String), String> {
    let text = episodes::text(id).await;
    let text = text.map_err(|error| error.to_string())?.ok_or(NOT_HERE)?;
    let episodes = native::read(&text.to_text()).map_err(|error| error.to_string())?;
    let episode = episodes.episodes.into_iter().next().ok_or(NOT_HERE)?;
    Ok(link::of_episode(&episode))
}
