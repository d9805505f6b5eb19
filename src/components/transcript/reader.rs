//! What all parts of a transcript share: the episode, the selected step, what is unfolded, which call
//! and response are pointed at.

use std::sync::Arc;
use std::time::Duration;

use leptos::ev::{Event, MouseEvent};
use leptos::prelude::*;
use volary_trace::Episode;

use super::Place;
use super::message::copied;
use super::reading::Reading;
use crate::browser;
use crate::browser::timers::{Alarm, alarm};
use crate::components::folds::Folds;
use crate::components::markup::{El, button};
use crate::components::text::Fold;
use crate::later;
use crate::projection::scroll::Scroll;

/// A text of the transcript: step, message, and part of the message.
pub(super) type TextPlace = (usize, usize, usize);

/// What the parts of a transcript share.
#[derive(Clone, Copy)]
pub struct Reader {
    pub(super) episode: Signal<Arc<Episode>>,
    pub(super) selected: RwSignal<usize>,
    /// The number of steps.
    pub(super) length: Memo<usize>,
    pub(super) on_rewind: Option<Callback<usize>>,
    /// Shows what went over the wire for a step.
    pub(super) on_inspect: Option<Callback<usize>>,
    /// What leads to the call at which the reader points and to its response.
    pointed: StoredValue<Option<String>>,
    /// What became of the last copy, for as long as it is said.
    pub(super) said: RwSignal<&'static str>,
    /// Rings when it was said for long enough.
    forgets: StoredValue<Option<Alarm>, LocalStorage>,
    pub(super) place: Place,
    /// How a person reads it, where it is read and not played.
    pub(super) reading: Option<Reading>,
    folds: Folds<TextPlace>,
    /// The step that was selected by a click in here: it is where the reader looks.
    chosen: StoredValue<Option<usize>>,
}

impl Reader {
    pub(super) fn new(
        episode: Signal<Arc<Episode>>,
        selected: RwSignal<usize>,
        on_rewind: Option<Callback<usize>>,
        on_inspect: Option<Callback<usize>>,
        place: Place,
        reading: Option<Reading>,
    ) -> Self {
        Reader {
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

    /// Selects a step at which the reader looks already.
    pub fn choose(self, step: usize) {
        self.chosen.set_value(Some(step));
        self.selected.set(step);
    }

    /// Stays where the reader is, whatever grows below.
    pub fn stay(self) {
        self.place.scroll.update_value(Scroll::stay);
    }

    /// Whether the selected step was chosen in here. Asked once for each selection.
    pub(super) fn chose_here(self, step: usize) -> bool {
        let chosen = self.chosen.get_value();
        self.chosen.set_value(None);
        chosen == Some(step)
    }

    /// How much of a text is shown; remembered while the block is not on the page.
    pub(super) fn fold(self, place: TextPlace) -> RwSignal<Fold> {
        self.folds.of(place)
    }

    /// Another episode is read: its texts are folded.
    pub(super) fn forget_folds(self) {
        self.folds.clear();
    }

    /// A click: on one of the buttons that all blocks and messages have, or on a step, which selects it.
    pub(super) fn clicked(self, click: &MouseEvent) {
        let on = |attribute: &str| browser::element::attribute_around(click, attribute);
        let number = |attribute: &str| on(attribute)?.parse::<usize>().ok();
        let Some(step) = number(STEP) else {
            return;
        };
        if on(COPY).is_some() {
            if let Some(message) = number(MESSAGE) {
                later::once_here(move || self.copy(step, message));
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

    /// Copies a message, and says that it did: at its button, and in words.
    fn copy(self, step: usize, message: usize) {
        let text = copied(self, (step, message));
        let button = [&message_selector(step, message), " [", COPY, "]"].concat();
        let mark = move |on: bool| {
            if let Some(log) = self.place.log.try_get_untracked().flatten() {
                browser::element::mark(&log, on.then_some(&button), COPIED);
            }
        };
        let done = Callback::new(move |worked: bool| {
            let words = match worked {
                true => "Copied",
                false => "Copy failed: the browser blocked it",
            };
            self.said.try_set(words);
            mark(worked);
            let mark = mark.clone();
            let forget = move || {
                self.said.try_set("");
                mark(false);
            };
            // Another copy is said as long as the first.
            self.forgets.try_set_value(Some(alarm(SAID, forget)));
        });
        browser::clipboard::copy(text.unwrap_or_default(), done);
    }

    /// Marks the call at which the reader points or that has the focus, and its response; takes the mark
    /// from those that had it. The log hears of this for all of them, which are many.
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

    /// Goes to a message and focuses it.
    pub(super) fn go(self, step: usize, message: usize) {
        if self.focus(step, message) {
            return;
        }
        let scroll = self.place.scroll;
        scroll.update_value(|scroll| scroll.reveal_message(step, message));
        self.place.go();
        // By then the block stands on the page.
        browser::timers::next_frame(move || {
            browser::timers::next_frame(move || {
                self.focus(step, message);
            });
        });
    }

    /// Focuses a message, if it stands on the page.
    pub(super) fn focus(self, step: usize, message: usize) -> bool {
        let log = self.place.log.try_get_untracked().flatten();
        let message = message_selector(step, message);
        log.is_some_and(|log| browser::element::focus_in(&log, &message))
    }
}

// Attributes by which the listeners on the log recognise a block and its parts. Only the block states its step.
/// The attribute of a block, which holds its step.
pub(super) const STEP: &str = "data-step";
/// The attribute of a message: its place in the step.
pub(super) const MESSAGE: &str = "data-message";
/// The attribute of a call and of its response: which call of the step.
pub(super) const CALL: &str = "data-call";
/// The attribute of a button that selects its step.
pub(super) const CHOOSE: &str = "data-choose";
/// The attribute of a button that goes back to its step, to go on from there.
pub(super) const REWIND: &str = "data-rewind";
/// The attribute of a button that copies its message.
pub(super) const COPY: &str = "data-copy";
/// The attribute of a button that leads to a message of its step, which it holds.
pub(super) const GO: &str = "data-go";
/// The attribute of those whose message was just copied.
const COPIED: &str = "data-copied";
/// So long that is said.
const SAID: Duration = Duration::from_secs(3);
/// The attribute of those at which the reader points.
const POINTED: &str = "data-pointed";

/// Leads to what has this in an attribute, within a step.
fn selector(step: &str, attribute: &str, value: &str) -> String {
    [
        "[", STEP, "=\"", step, "\"] [", attribute, "=\"", value, "\"]",
    ]
    .concat()
}

/// Leads to a message.
fn message_selector(step: usize, message: usize) -> String {
    selector(&step.to_string(), MESSAGE, &message.to_string())
}

/// A button without a child: its style sheet draws its icon. Long transcripts have many of them.
pub(super) fn icon_button(class: &'static str, name: &'static str) -> El {
    button(class).attr("aria-label", name).attr("title", name)
}
