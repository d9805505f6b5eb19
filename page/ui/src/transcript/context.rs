//! State shared by all parts of a transcript: the episode, the selected step, expanded texts, and the hovered call.

use std::sync::Arc;
use std::time::Duration;

use leptos::ev::{Event, MouseEvent};
use leptos::prelude::*;
use volary_episode::Episode;
use volary_view::scroll::Scroll;
use volary_view::transcript::copied_text;

use super::ScrollState;
use super::reading::ReadingOptions;
use crate::folds::Folds;
use crate::text::Fold;
use volary_browser as browser;
use volary_browser::timers::{Alarm, alarm};

/// The place of a text: step, message, and part of the message.
pub(super) type FoldKey = (usize, usize, usize);

#[derive(Clone, Copy)]
pub struct TranscriptContext {
    pub(super) episode: Signal<Arc<Episode>>,
    pub(super) selected: RwSignal<usize>,
    /// The number of steps.
    pub(super) length: Memo<usize>,
    pub(super) on_rewind: Option<Callback<usize>>,
    /// Called with the step whose requests to show.
    pub(super) on_inspect: Option<Callback<usize>>,
    /// The selector of the hovered call and its result.
    pointed: StoredValue<Option<String>>,
    /// The message about the last copy, while it is shown.
    pub(super) said: RwSignal<&'static str>,
    /// The timer that hides the message.
    forgets: StoredValue<Option<Alarm>, LocalStorage>,
    pub(super) place: ScrollState,
    /// The display options; `None` outside Review.
    pub(super) reading: Option<ReadingOptions>,
    folds: Folds<FoldKey>,
    /// The step that was selected by a click in the transcript and is therefore in view.
    chosen: StoredValue<Option<usize>>,
}

impl TranscriptContext {
    pub(super) fn new(
        episode: Signal<Arc<Episode>>,
        selected: RwSignal<usize>,
        on_rewind: Option<Callback<usize>>,
        on_inspect: Option<Callback<usize>>,
        place: ScrollState,
        reading: Option<ReadingOptions>,
    ) -> Self {
        TranscriptContext {
            episode,
            selected,
            length: Memo::new(move |_| episode.with(|episode| episode.steps.len())),
            on_rewind,
            on_inspect,
            pointed: StoredValue::default(),
            said: RwSignal::new(""),
            forgets: StoredValue::new_local(None),
            place,
            reading,
            folds: Folds::new(),
            chosen: StoredValue::default(),
        }
    }

    /// Selects a step that is already in view, so that the transcript does not scroll.
    pub fn choose(self, step: usize) {
        self.chosen.set_value(Some(step));
        self.selected.set(step);
    }

    /// Keeps the scroll position while content grows below it.
    pub fn stay(self) {
        self.place.scroll.update_value(Scroll::stay);
    }

    /// Returns whether the selected step was clicked in the transcript. Clears that state.
    pub(super) fn chose_here(self, step: usize) -> bool {
        let chosen = self.chosen.get_value();
        self.chosen.set_value(None);
        chosen == Some(step)
    }

    /// The fold of a text, which persists while its block is not mounted.
    pub(super) fn fold(self, place: FoldKey) -> RwSignal<Fold> {
        self.folds.of(place)
    }

    /// Collapses all texts, because another episode is shown.
    pub(super) fn forget_folds(self) {
        self.folds.clear();
    }

    /// Handles clicks on buttons of blocks and messages, and on steps, which selects them.
    pub(super) fn clicked(self, click: &MouseEvent) {
        let on = |attribute: &str| browser::element::attribute_around(click, attribute);
        let number = |attribute: &str| on(attribute)?.parse::<usize>().ok();
        let Some(step) = number(STEP) else {
            return;
        };
        if on(COPY).is_some() {
            if let Some(message) = number(MESSAGE) {
                self.copy(step, message);
            }
        } else if let Some(message) = number(GO) {
            self.go(step, message);
        } else if on(REWIND).is_some() {
            if let Some(on_rewind) = self.on_rewind {
                on_rewind.run(step);
            }
        } else if on(CHOOSE).is_some() || browser::element::plain_click_on(click, STEP).is_some() {
            self.choose(step);
        }
    }

    /// Copies a message. Confirms it at the button and with a message.
    fn copy(self, step: usize, message: usize) {
        let text = self
            .episode
            .with_untracked(|episode| copied_text(episode, step, message));
        let button = [&message_selector(step, message), " [", COPY, "]"].concat();
        let mark = move |on: bool| {
            if let Some(log) = self.place.log.try_get_untracked().flatten() {
                browser::element::mark(&log, on.then_some(&button), COPIED);
            }
        };
        let done = Callback::new(move |worked: bool| {
            let words = if worked {
                "Copied"
            } else {
                "Copy failed: the browser blocked it"
            };
            self.said.try_set(words);
            mark(worked);
            let mark = mark.clone();
            let forget = move || {
                self.said.try_set("");
                mark(false);
            };
            // Another copy restarts the timer.
            self.forgets.try_set_value(Some(alarm(SAID, forget)));
        });
        browser::clipboard::copy(text.unwrap_or_default(), done);
    }

    /// Highlights the hovered or focused call and its result, and clears the previous highlight. One listener on the
    /// log serves all calls.
    pub(super) fn point(self, at: Option<&Event>) {
        let at = at.and_then(|event| {
            let around = |attribute| browser::element::attribute_around(event, attribute);
            Some(selector(&around(STEP)?, CALL, &around(CALL)?))
        });
        let former = self.pointed.get_value();
        if let Some(log) = self.place.log.get_untracked().filter(|_| former != at) {
            browser::element::mark(&log, at.as_ref(), POINTED);
            self.pointed.set_value(at);
        }
    }

    /// Scrolls to a message and focuses it.
    pub(super) fn go(self, step: usize, message: usize) {
        if self.focus(step, message) {
            return;
        }
        let scroll = self.place.scroll;
        scroll.update_value(|scroll| scroll.reveal_message(step, message));
        self.place.go();
        // The block is mounted by then.
        browser::timers::next_frame(move || {
            browser::timers::next_frame(move || {
                self.focus(step, message);
            });
        });
    }

    /// Mounts a message near the top of the transcript, unless it is mounted already.
    pub fn mount(self, step: usize, message: usize) {
        let log = self.place.log.try_get_untracked().flatten();
        let selector = message_selector(step, message);
        if log.is_some_and(|log| browser::element::has(&log, &selector)) {
            return;
        }
        let scroll = self.place.scroll;
        scroll.update_value(|scroll| scroll.reveal_message(step, message));
        self.place.go();
    }

    /// Focuses a message. Returns `false` if it is not mounted.
    pub(super) fn focus(self, step: usize, message: usize) -> bool {
        let log = self.place.log.try_get_untracked().flatten();
        let message = message_selector(step, message);
        log.is_some_and(|log| browser::element::focus_in(&log, &message))
    }
}

// Attributes by which the log's listeners identify blocks and their parts. Only the block has its step.
/// On a block: the index of its step.
pub(super) const STEP: &str = "data-step";
/// On a message: its index in the step.
pub(super) const MESSAGE: &str = "data-message";
/// On a call and its result: the index of the call in the step.
pub(super) const CALL: &str = "data-call";
/// On a button that selects its step.
pub(super) const CHOOSE: &str = "data-choose";
/// On a button that rewinds to its step.
pub(super) const REWIND: &str = "data-rewind";
/// On a button that copies its message.
pub(super) const COPY: &str = "data-copy";
/// On a button that goes to a message of its step: the index of that message.
pub(super) const GO: &str = "data-go";
/// On buttons whose message was just copied.
const COPIED: &str = "data-copied";
/// How long the confirmation is shown.
const SAID: Duration = Duration::from_secs(3);
/// On the hovered call and its result.
const POINTED: &str = "data-pointed";

/// A selector for an attribute value within a step.
fn selector(step: &str, attribute: &str, value: &str) -> String {
    [
        "[", STEP, "=\"", step, "\"] [", attribute, "=\"", value, "\"]",
    ]
    .concat()
}

fn message_selector(step: usize, message: usize) -> String {
    selector(&step.to_string(), MESSAGE, &message.to_string())
}

/// A button that goes to a message of its step. It has no children, because the style sheet draws its icon and long
/// transcripts have many such buttons.
#[component]
pub(super) fn GoButton(
    /// The CSS classes, one of which draws the icon.
    class: &'static str,
    name: &'static str,
    /// The index of the target message.
    message: usize,
) -> impl IntoView {
    view! {
        <button type="button" class=class aria-label=name title=name data-go=message.to_string()></button>
    }
}

/// A button that goes from a call to its result.
#[component]
pub(super) fn ToResult(
    /// The index of the message with the result.
    message: usize,
) -> impl IntoView {
    view! { <GoButton class="quiet small to-answer icon-down" name="Go to result" message/> }
}

/// A button that goes from a result to its call.
#[component]
pub(super) fn ToCall() -> impl IntoView {
    view! { <GoButton class="quiet small icon-up" name="Go to call" message=0/> }
}

/// A button that copies its message.
#[component]
pub(super) fn CopyMessage() -> impl IntoView {
    view! {
        <button
            type="button"
            class="quiet small icon-copy"
            aria-label="Copy"
            title="Copy"
            data-copy=""
        ></button>
    }
}
