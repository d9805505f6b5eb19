//! The log **Transcript**: an episode as messages to read, one list item each.
//!
//! Only the blocks around what is seen stand on the page, however long the episode is
//! ([`crate::projection::scroll`] decides which). Blocks are drawn once, when they come into the
//! window: what was said never changes, except in another edition of the episode.
//!
//! - [`reader`]: what all parts of a transcript share.
//! - [`block`]: a step with its marks; [`message`]: a message; [`call`]: a tool call.

mod block;
mod call;
mod message;
mod reader;

use std::ops::Range;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use volary_trace::{Ending, Episode};

use super::erased::{self, changed, dynamic, label};
use super::icon::{Glyph, Icon};
use super::text::inert;
use crate::projection::scroll::Scroll;
use crate::shell;
use reader::Reader;

/// The transcript of an episode.
#[component]
pub fn Transcript(
    /// The episode. It grows in place.
    #[prop(into)]
    episode: Signal<Arc<Episode>>,
    /// Changes whenever steps that were shown are replaced or taken away.
    #[prop(into)]
    edition: Signal<u32>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
    /// Whether one can go back to a step and go on from there.
    #[prop(optional, into)]
    can_rewind: Signal<bool>,
    /// Goes back to a step.
    #[prop(optional, into)]
    on_rewind: Option<Callback<usize>>,
) -> impl IntoView {
    let place = Place::new();
    let reader = Reader::new(episode, selected, can_rewind, on_rewind, place);
    let log = place.log;

    erased::watch(move || {
        let edition = edition.get();
        episode.with(|episode| {
            place
                .scroll
                .update_value(|scroll| scroll.follow(episode, edition))
        });
        place.edition.set_value(edition);
        place.refresh();
    });
    Effect::new(move |former: Option<(usize, usize)>| {
        let step = selected.get();
        let steps = episode.with_untracked(|episode| episode.steps.len());
        let moved_along = former.is_some_and(|(former_step, former_steps)| {
            former_step == former_steps && step == steps && steps > former_steps
        });
        if !moved_along && !reader.chose_here(step) {
            place.scroll.update_value(|scroll| match step >= steps {
                true => scroll.to_end(),
                false => scroll.reveal(step),
            });
            place.go();
        }
        (step, steps)
    });
    let watch = StoredValue::new_local(None);
    erased::watch(move || {
        if let (Some(log), Some(list)) = (place.log.get(), place.list.get()) {
            let resized = move || place.lay_out();
            watch.set_value(shell::element::watch_size(&[&log, &list], resized));
        }
    });

    let blocks = move || {
        let window = place.window.get();
        let edition = place.edition.get_value();
        window.map(|place| (edition, place)).collect::<Vec<_>>()
    };
    let live = label(move || if place.follows.get() { "polite" } else { "off" });
    let away = move || !place.follows.get();
    let to_end = move || {
        let go = erased::pressed(move |_| {
            place.scroll.update_value(Scroll::to_end);
            place.go();
        });
        view! {
            <button type="button" class="to-end" on:click=go>
                <Icon glyph=Glyph::Down />
                "To the end"
            </button>
        }
        .into_any()
    };
    view! {
        <div class="transcript">
            <div
                class="transcript-scroll"
                role="log"
                aria-label="Transcript"
                aria-live=live
                tabindex="0"
                node_ref=log
                on:scroll=changed(move |_| place.scrolled())
            >
                <div class="transcript-blocks" node_ref=place.list>
                    <For each=blocks key=|key| *key children=move |(_, number)| reader.block(number) />
                </div>
            </div>
            {erased::shown(away, to_end)}
            {ending(episode)}
        </div>
    }
    .into_any()
}

/// Why the episode does not go on, unless the last step says so itself.
fn ending(episode: Signal<Arc<Episode>>) -> AnyView {
    let ending = Memo::new(move |_| episode.with(|episode| episode.ending.clone()));
    dynamic(move || {
        let (class, word, reason) = match ending.get() {
            Ending::Open | Ending::Done => return ().into_any(),
            Ending::Truncated { reason } => ("badge notice", "truncated", reason),
            Ending::Crashed { message } => ("badge bad", "crashed", message),
        };
        view! {
            <p class="ending">
                <span class=class>{word}</span>
                <span dir="auto">{inert(&reason)}</span>
            </p>
        }
        .into_any()
    })
}

/// Where the reader is, and the elements that show it.
#[derive(Clone, Copy)]
struct Place {
    scroll: StoredValue<Scroll>,
    edition: StoredValue<u32>,
    /// The blocks on the page.
    window: RwSignal<Range<usize>>,
    follows: RwSignal<bool>,
    /// Whether the reader is being brought somewhere. The browser, left with other blocks, may scroll
    /// before that is done; it is not the reader who scrolls then.
    going: StoredValue<bool>,
    log: NodeRef<html::Div>,
    list: NodeRef<html::Div>,
}

impl Place {
    fn new() -> Self {
        Place {
            scroll: StoredValue::new(Scroll::default()),
            edition: StoredValue::new(0),
            window: RwSignal::new(0..0),
            follows: RwSignal::new(true),
            going: StoredValue::new(false),
            log: NodeRef::new(),
            list: NodeRef::new(),
        }
    }

    /// The reader scrolled.
    fn scrolled(self) {
        if self.going.get_value() {
            return;
        }
        if let Some(log) = self.log.get_untracked() {
            let top = shell::element::scroll_top(&log);
            self.scroll.update_value(|scroll| scroll.scrolled(top));
            self.refresh();
        }
    }

    /// Brings the page to where the reader was put.
    fn go(self) {
        self.going.set_value(true);
        self.refresh();
    }

    /// Puts the right blocks on the page, and lays them out before the next paint.
    fn refresh(self) {
        let window = self.scroll.with_value(Scroll::window);
        // Notified even if the places are the same: the edition may be another.
        self.window.set(window);
        shell::timers::next_frame(move || self.lay_out());
    }

    /// Measures what stands on the page, and brings the page to where the reader is.
    fn lay_out(self) {
        let (Some(log), Some(list)) = (
            self.log.try_get_untracked().flatten(),
            self.list.try_get_untracked().flatten(),
        ) else {
            return;
        };
        let heights = shell::element::child_heights(&list);
        let viewport = shell::element::viewport_height(&log);
        let shown = self.window.get_untracked();
        let laid_out = self.scroll.try_update_value(|scroll| {
            scroll.resized(viewport);
            if heights.len() == shown.len() {
                scroll.measured(shown.start, &heights);
            }
            let room = scroll.room(&shown);
            (room, scroll.top(), scroll.follows(), scroll.window())
        });
        let Some(((above, below), top, follows, window)) = laid_out else {
            return;
        };
        shell::element::set_room(&list, above, below);
        shell::element::set_scroll_top(&log, top);
        if self.follows.get_untracked() != follows {
            self.follows.set(follows);
        }
        if window == shown {
            self.going.try_set_value(false);
        } else {
            self.refresh();
        }
    }
}
