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
use crate::components::folds::Folds;
use crate::components::markup::{El, button};
use crate::components::text::Fold;
use crate::later;
use crate::projection::scroll::Scroll;
use crate::shell;

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
    /// The call at which the reader points, or whose response that is, as [`call_id`] has it.
    pointed: StoredValue<Option<String>>,
    /// What became of the last copy, for as long as it is said.
    pub(super) said: RwSignal<&'static str>,
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

    /// The id of a message on the page. What is read and what is played may stand there at once.
    pub(super) fn message_id(self, step: usize, message: usize) -> String {
        let reads = if self.reading.is_some() { "read-" } else { "" };
        format!("{reads}message-{step}-{message}")
    }

    /// A click: on one of the buttons that all blocks and messages have, or on a step, which selects it.
    pub(super) fn clicked(self, click: &MouseEvent) {
        let on = |attribute: &str| shell::element::attribute_around(click, attribute);
        let number = |text: String| text.parse::<usize>().ok();
        if let Some(message) = on(COPY) {
            later::once_here(move || self.copy(message.clone()));
        } else if let Some((step, message)) = on(GO).as_deref().and_then(pair) {
            self.go(step, message);
        } else if let Some(step) = on(REWIND).and_then(number) {
            if let Some(on_rewind) = self.on_rewind {
                on_rewind.run(step);
            }
        } else if let Some(step) = on(CHOOSE)
            .or_else(|| shell::element::plain_click_on(click, STEP))
            .and_then(number)
        {
            self.choose(step);
        }
    }

    /// Copies a message, and says that it did: at its button, which bears this in [`COPY`], and in words.
    fn copy(self, at: String) {
        let text = pair(&at).and_then(|place| copied(self, place));
        let mark = move |on: bool| {
            if let Some(log) = self.place.log.try_get_untracked().flatten() {
                shell::element::mark(&log, (COPY, &at), COPIED, on);
            }
        };
        let done = Callback::new(move |worked: bool| {
            let words = match worked {
                true => "Copied",
                false => "Not copied: the browser refused",
            };
            self.said.try_set(words);
            mark(worked);
            let mark = mark.clone();
            shell::spawn(async move {
                shell::timers::sleep(SAID).await;
                self.said.try_set("");
                mark(false);
            });
        });
        shell::clipboard::copy(text.unwrap_or_default(), done);
    }

    /// Marks the call at which the reader points or that has the focus, and its response; takes the mark
    /// from those that had it. The log hears of this for all of them, which are many.
    pub(super) fn point(self, at: Option<&Event>) {
        let at = at.and_then(|event| shell::element::attribute_around(event, CALL));
        let former = self.pointed.get_value();
        let Some(log) = self.place.log.get_untracked().filter(|_| former != at) else {
            return;
        };
        if let Some(former) = &former {
            shell::element::mark(&log, (CALL, former), POINTED, false);
        }
        if let Some(at) = &at {
            shell::element::mark(&log, (CALL, at), POINTED, true);
        }
        self.pointed.set_value(at);
    }

    /// Goes to a message and focuses it.
    pub(super) fn go(self, step: usize, message: usize) {
        let id = self.message_id(step, message);
        if shell::element::focus_id(&id) {
            return;
        }
        let scroll = self.place.scroll;
        scroll.update_value(|scroll| scroll.reveal_message(step, message));
        self.place.go();
        // By then the block stands on the page.
        shell::timers::next_frame(move || {
            shell::timers::next_frame(move || {
                shell::element::focus_id(&id);
            });
        });
    }
}

/// The attribute of a block, which holds its step.
pub(super) const STEP: &str = "data-step";
/// The attribute of a call and of its response.
pub(super) const CALL: &str = "data-call";
/// The attribute of a button that selects a step.
pub(super) const CHOOSE: &str = "data-choose";
/// The attribute of a button that goes back to a step, to go on from there.
pub(super) const REWIND: &str = "data-rewind";
/// The attribute of a button that copies a message: its step and place.
pub(super) const COPY: &str = "data-copy";
/// The attribute of a button that leads to a message: its step and place.
pub(super) const GO: &str = "data-go";
/// The attribute of those whose message was just copied.
const COPIED: &str = "data-copied";
/// So long that is said.
const SAID: Duration = Duration::from_secs(3);
/// The attribute of those at which the reader points.
const POINTED: &str = "data-pointed";

/// What [`CALL`], [`COPY`] and [`GO`] hold: a step, and which call or message of it.
pub(super) fn id_of(step: usize, place: usize) -> String {
    format!("{step}-{place}")
}

fn pair(id: &str) -> Option<(usize, usize)> {
    let (step, place) = id.split_once('-')?;
    Some((step.parse().ok()?, place.parse().ok()?))
}

/// A button without a child: its style sheet draws its icon. Long transcripts have many of them.
pub(super) fn icon_button(class: &'static str, name: &'static str) -> El {
    button(class).attr("aria-label", name).attr("title", name)
}
