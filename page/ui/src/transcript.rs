//! The **Transcript** log: an episode as messages, one list item each.
//!
//! Only blocks near the viewport are mounted, however long the episode is ([`volary_view::scroll`] selects them).
//! A block is rendered once, when it enters the window: its messages never change, except in another edition of the
//! episode.
//!
//! - [`context`]: state shared by all parts of a transcript.
//! - [`block`]: a step with its marks; [`message`]: a message, with its [`speaker`] and its texts ([`message_text`]);
//!   [`call`]: a tool call.
//! - [`model_exchange`]: reasoning, usage and requests of a model's step.
//! - [`failure`]: why a step failed.
//! - [`reading`]: display options in Review; [`read_message`], [`read_text`], [`read_call`]: what they show; [`passage`]:
//!   navigation to passages.

mod block;
mod call;
mod context;
mod failure;
mod message;
mod message_text;
mod model_exchange;
pub mod passage;
mod read_call;
mod read_message;
mod read_text;
pub mod reading;
mod speaker;

use std::ops::Range;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use volary_episode::{Ending, Episode};
use volary_view::scroll::Scroll;

use super::icon::{Glyph, Icon};
use super::keyed::keyed;
use super::text::inert;
use block::StepBlock;
pub use context::TranscriptContext;
pub use read_message::reading_options;
use reading::ReadingOptions;
use volary_browser as browser;

/// The maximum number of printed blocks: browsers take minutes to lay out more for print.
const MOST_PRINTED: usize = 2_000;

/// The transcript of an episode.
#[component]
pub fn Transcript(
    /// The episode; it is modified in place.
    #[prop(into)]
    episode: Signal<Arc<Episode>>,
    /// Changes whenever existing steps are replaced or removed.
    #[prop(into)]
    edition: Signal<u32>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
    /// Whether the episode can be continued from an earlier step.
    #[prop(optional, into)]
    can_rewind: Signal<bool>,
    /// Called with the step to rewind to.
    #[prop(optional, into)]
    on_rewind: Option<Callback<usize>>,
    /// Called with the step whose requests to show.
    #[prop(optional, into)]
    on_inspect: Option<Callback<usize>>,
    /// The display options; `None` outside Review.
    #[prop(optional)]
    reading: Option<ReadingOptions>,
    /// Content after the last step.
    #[prop(optional)]
    tail: Option<AnyView>,
) -> impl IntoView {
    let place = ScrollState::new();
    let context = TranscriptContext::new(episode, selected, on_rewind, on_inspect, place, reading);
    if let Some(reading) = reading {
        reading.context.set(Some(context));
    }

    Effect::new(move |_| {
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
        // What is read and not played opens at its start, with steps or without.
        let is_opened = reading.is_some() && step == 0;
        if !moved_along && !context.chose_here(step) {
            place.scroll.update_value(|scroll| {
                if step >= steps && !is_opened {
                    scroll.to_end()
                } else {
                    scroll.reveal(step)
                }
            });
            place.go();
        }
        (step, steps)
    });
    let sizes = StoredValue::new_local(None);
    Effect::new(move |_| {
        if let (Some(log), Some(list), Some(tail)) =
            (place.log.get(), place.list.get(), place.tail.get())
        {
            let resized = move || place.lay_out();
            sizes.set_value(browser::element::watch_size(&[&log, &list, &tail], resized));
        }
    });

    let prints = StoredValue::new_local(None);
    prints.set_value(browser::element::watch_print(move |printing| {
        place.print(printing);
    }));

    // A block is keyed by its edition and number.
    let blocks = move || {
        let window = place.window.get();
        let edition = u64::from(place.edition.get_value()) << 32;
        window.map(|number| edition | number as u64).collect()
    };
    let draw = move |key: u64| {
        let number = (key & u64::from(u32::MAX)) as usize;
        view! { <StepBlock context number/> }.into_any()
    };
    let to_end = move |_| {
        place.scroll.update_value(Scroll::to_end);
        place.go();
    };
    let class = move || {
        if can_rewind.get() {
            "transcript-scroll"
        } else {
            "transcript-scroll no-rewind"
        }
    };
    // Event delegation: the listeners of the log serve the buttons of all blocks.
    view! {
        <div class="transcript">
            <div
                class=class
                role="log"
                aria-label="Transcript"
                aria-live=move || if place.follows.get() { "polite" } else { "off" }
                tabindex="0"
                node_ref=place.log
                on:scroll=move |_| place.scrolled()
                on:click=move |click| context.clicked(&click)
                on:pointerover=move |event| context.point(Some(&event))
                on:pointerleave=move |_| context.point(None)
                on:focusin=move |event| context.point(Some(&event))
                on:focusout=move |_| context.point(None)
            >
                <div class="transcript-blocks" node_ref=place.list>
                    {keyed(blocks, draw)}
                </div>
                <div node_ref=place.tail>{tail}</div>
            </div>
            <Show when=move || !place.follows.get()>
                <button type="button" class="to-end" on:click=to_end>
                    <Icon glyph=Glyph::Down/>
                    {"Go to end"}
                </button>
            </Show>
            <p class="copied-note" aria-live="polite">
                {move || context.said.get()}
            </p>
            <EndingLine episode/>
        </div>
    }
}

/// The reason why the episode ended, unless the last step shows it.
#[component]
fn EndingLine(episode: Signal<Arc<Episode>>) -> impl IntoView {
    move || {
        let (class, word, reason) = match episode.with(|episode| episode.ending.clone()) {
            Ending::Open | Ending::Done => return None,
            Ending::Truncated { reason } => ("badge notice", "truncated", reason),
            Ending::Crashed { message } => ("badge bad", "crashed", message),
        };
        // It scrolls if it is long, and therefore must be focusable.
        Some(view! {
            <p class="ending" tabindex="0">
                <span class=class>{word}</span>
                <span class="ending-reason" dir="auto">
                    {inert(&reason)}
                </span>
            </p>
        })
    }
}

/// The scroll state and its elements.
#[derive(Clone, Copy)]
struct ScrollState {
    scroll: StoredValue<Scroll>,
    edition: StoredValue<u32>,
    /// The range of mounted blocks.
    window: RwSignal<Range<usize>>,
    /// The edition of the mounted blocks.
    drawn: StoredValue<u32>,
    /// The padding above and below the mounted blocks, in pixels.
    room: StoredValue<(f64, f64)>,
    /// Whether the padding changed since the last layout.
    moved: StoredValue<bool>,
    follows: RwSignal<bool>,
    /// Whether all blocks are mounted for printing.
    printing: StoredValue<bool>,
    /// Whether a programmatic scroll is in progress. The browser may scroll when blocks change before it ends; those
    /// events do not come from the user.
    going: StoredValue<bool>,
    log: NodeRef<html::Div>,
    list: NodeRef<html::Div>,
    tail: NodeRef<html::Div>,
}

impl ScrollState {
    fn new() -> Self {
        ScrollState {
            scroll: StoredValue::new(Scroll::default()),
            edition: StoredValue::new(0),
            window: RwSignal::new(0..0),
            drawn: StoredValue::new(0),
            room: StoredValue::new((0.0, 0.0)),
            moved: StoredValue::new(false),
            follows: RwSignal::new(true),
            printing: StoredValue::new(false),
            going: StoredValue::new(false),
            log: NodeRef::new(),
            list: NodeRef::new(),
            tail: NodeRef::new(),
        }
    }

    /// Handles a scroll event.
    fn scrolled(self) {
        if self.going.get_value() {
            return;
        }
        if let Some(log) = self.log.get_untracked() {
            let top = browser::element::scroll_top(&log);
            let at_end = browser::element::is_at_end(&log);
            self.scroll
                .update_value(|scroll| scroll.scrolled(top, at_end));
            self.refresh();
        }
    }

    /// Scrolls the page to the stored reading position.
    fn go(self) {
        self.going.set_value(true);
        self.refresh();
    }

    /// Mounts all blocks for printing, up to a limit, and removes them afterwards.
    fn print(self, printing: bool) {
        self.printing.set_value(printing);
        if !printing {
            self.refresh();
            return;
        }
        let all = self.scroll.with_value(|scroll| scroll.index().len());
        self.window.set(0..all.min(MOST_PRINTED));
        if let Some(list) = self.list.get_untracked() {
            self.room.set_value((0.0, 0.0));
            browser::element::set_room(&list, 0.0, 0.0);
        }
    }

    /// Mounts the blocks of the window and lays them out before the next paint.
    fn refresh(self) {
        if self.printing.get_value() {
            return;
        }
        let edition = self.edition.get_value();
        let same_edition = self.drawn.get_value() == edition;
        let shown = self.window.get_untracked();
        let (window, placed, follows) = self.scroll.with_value(|scroll| {
            let window = if same_edition {
                scroll.window_from(&shown)
            } else {
                scroll.window()
            };
            (window, scroll.is_placed(), scroll.follows())
        });
        let drawn = same_edition && shown == window;
        if drawn && placed && self.follows.get_untracked() == follows {
            self.going.set_value(false);
            return;
        }
        if !drawn {
            self.drawn.set_value(edition);
            // Immediately: with the old padding the browser might clamp the scroll offset.
            self.make_room(&window);
            self.window.set(window);
        }
        browser::timers::next_frame(move || self.lay_out());
    }

    /// Sets the padding that stands in for all blocks outside the window.
    fn make_room(self, shown: &Range<usize>) {
        let room = self.scroll.with_value(|scroll| scroll.room(shown));
        let list = self.list.get_untracked();
        if let Some(list) = list.filter(|_| self.room.get_value() != room) {
            self.room.set_value(room);
            self.moved.set_value(true);
            browser::element::set_room(&list, room.0, room.1);
        }
    }

    /// Measures the mounted blocks and scrolls to the stored reading position.
    fn lay_out(self) {
        if self.printing.try_get_value().unwrap_or_default() {
            return;
        }
        let (Some(log), Some(list)) = (
            self.log.try_get_untracked().flatten(),
            self.list.try_get_untracked().flatten(),
        ) else {
            return;
        };
        let shown = self.window.get_untracked();
        // Set the padding before measuring, because any query after a change forces a layout. The padding is outside
        // the measured blocks, so that it does not change their heights.
        self.make_room(&shown);
        let viewport = browser::element::viewport_height(&log);
        if viewport == 0.0 {
            // Another page is shown: elements have no height, and the scroll offset is lost.
            self.moved.set_value(true);
            return;
        }
        let moved = self.moved.get_value();
        self.moved.set_value(false);
        let heights = browser::element::child_heights(&list);
        let tail = self.tail.try_get_untracked().flatten();
        let tail = tail.map_or(0.0, |tail| browser::element::height(&tail));
        let laid_out = self.scroll.try_update_value(|scroll| {
            scroll.resized(viewport, tail);
            if heights.len() == shown.len() {
                scroll.measured(shown.start, &heights);
            }
            (scroll.top(), scroll.follows(), scroll.window_from(&shown))
        });
        let Some((top, follows, window)) = laid_out else {
            return;
        };
        if moved || !self.scroll.with_value(Scroll::is_placed) {
            let top = browser::element::set_scroll_top(&log, top);
            self.scroll.update_value(|scroll| scroll.shown(top));
        }
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
