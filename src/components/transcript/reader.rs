//! What all parts of a transcript share: the episode, the selected step, what is unfolded, which call
//! and response are pointed at.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::Episode;

use super::Place;
use crate::components::text::Fold;
use crate::shell;

/// A text of the transcript: step, message, and part of the message.
pub(super) type TextPlace = (usize, usize, usize);

/// What the parts of a transcript share.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) episode: Signal<Arc<Episode>>,
    pub(super) selected: RwSignal<usize>,
    /// The number of steps.
    pub(super) length: Memo<usize>,
    pub(super) can_rewind: Signal<bool>,
    pub(super) on_rewind: Option<Callback<usize>>,
    /// The step and call at which the reader points, or whose response that is.
    pub(super) pointed: RwSignal<Option<(usize, usize)>>,
    pub(super) place: Place,
    /// Outlives the blocks, which come and go.
    folds: StoredValue<HashMap<TextPlace, RwSignal<Fold>>>,
    owner: StoredValue<Option<Owner>>,
    /// The step that was selected by a click in here: it is where the reader looks.
    chosen: StoredValue<Option<usize>>,
}

impl Reader {
    pub(super) fn new(
        episode: Signal<Arc<Episode>>,
        selected: RwSignal<usize>,
        can_rewind: Signal<bool>,
        on_rewind: Option<Callback<usize>>,
        place: Place,
    ) -> Self {
        Reader {
            episode,
            selected,
            length: Memo::new(move |_| episode.with(|episode| episode.steps.len())),
            can_rewind,
            on_rewind,
            pointed: RwSignal::new(None),
            place,
            folds: StoredValue::default(),
            owner: StoredValue::new(Owner::current()),
            chosen: StoredValue::default(),
        }
    }

    /// Selects a step at which the reader looks already.
    pub(super) fn choose(self, step: usize) {
        self.chosen.set_value(Some(step));
        self.selected.set(step);
    }

    /// Whether the selected step was chosen in here. Asked once for each selection.
    pub(super) fn chose_here(self, step: usize) -> bool {
        let chosen = self.chosen.get_value();
        self.chosen.set_value(None);
        chosen == Some(step)
    }

    /// How much of a text is shown; remembered while the block is not on the page.
    pub(super) fn fold(self, place: TextPlace) -> RwSignal<Fold> {
        let known = self.folds.with_value(|folds| folds.get(&place).copied());
        known.unwrap_or_else(|| {
            let fold = match self.owner.get_value() {
                Some(owner) => owner.with(RwSignal::default),
                None => RwSignal::default(),
            };
            self.folds
                .update_value(|folds| _ = folds.insert(place, fold));
            fold
        })
    }

    /// Goes to a message and focuses it.
    pub(super) fn go(self, step: usize, message: usize) {
        let id = message_id(step, message);
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

/// The id of a message on the page.
pub(super) fn message_id(step: usize, message: usize) -> String {
    format!("message-{step}-{message}")
}
