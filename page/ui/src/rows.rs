//! A virtual list for many rows of the same height. Only rows near the viewport are mounted.

use std::ops::Range;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use volary_view::rows::{reveal, window};

use super::keyed::keyed;
use super::transient_memo::transient_memo;
use volary_browser as browser;

/// A description of a virtual list.
#[derive(Clone, Copy)]
pub struct Rows {
    /// The number of rows.
    pub count: Signal<usize>,
    /// Incremented when the contents of existing rows change.
    pub edition: Signal<u32>,
    /// The height of a row in pixels, as in the style sheet.
    pub height: f64,
    /// The row to scroll to whenever this changes.
    pub seen: Signal<Option<usize>>,
    /// The ARIA role of the list, whose children are the rows.
    pub role: &'static str,
    /// The class of the scrolling element.
    pub class: &'static str,
    /// The accessible name of the list, unless the element around it has one.
    pub name: Option<&'static str>,
}

/// The identity of the item in a row, which is unique.
type Identity = Arc<dyn Fn(usize) -> u64 + Send + Sync>;

/// Draws a row once. The signal contains the index of the row and notifies again in each edition.
type Draw = Arc<dyn Fn(Signal<usize>) -> AnyView + Send + Sync>;

/// Adapts a function to `Draw` that draws the row again in each edition.
pub fn redrawn(
    draw: impl Fn(usize) -> AnyView + Send + Sync + 'static,
) -> impl Fn(Signal<usize>) -> AnyView + Send + Sync + 'static {
    let draw = Arc::new(draw);
    move |place| {
        let draw = Arc::clone(&draw);
        (move || {
            let place = place.get();
            untrack(|| draw(place))
        })
        .into_any()
    }
}

impl Rows {
    /// The list. A row is drawn when it comes near the viewport and removed when it leaves. In a new edition its
    /// elements are preserved and their contents updated.
    pub fn view(self, draw: impl Fn(usize) -> AnyView + Send + Sync + 'static) -> AnyView {
        self.view_of(|row| row as u64, redrawn(draw))
    }

    /// The same list for items that may move: an item's elements are preserved, and with them the focus. A row is drawn
    /// once, with a signal of its index that notifies again in each edition.
    pub fn view_of(
        self,
        identity: impl Fn(usize) -> u64 + Send + Sync + 'static,
        draw: impl Fn(Signal<usize>) -> AnyView + Send + Sync + 'static,
    ) -> AnyView {
        self.boxed(Arc::new(identity), Arc::new(draw))
    }

    fn boxed(self, identity: Identity, draw: Draw) -> AnyView {
        // The scroll offset and the height of the viewport.
        let eye = RwSignal::new(None::<(f64, f64)>);
        // A memo, so that new rows are drawn as soon as they exist.
        let shown = Memo::new(move |_| match eye.get() {
            Some((top, viewport)) if viewport > 0.0 => {
                window(top, viewport, self.height, self.count.get())
            }
            _ => 0..0,
        });
        let scroller = NodeRef::<html::Div>::new();
        let list = NodeRef::<html::Div>::new();
        let make_room = move || {
            if let Some(list) = list.try_get_untracked().flatten() {
                let rows = shown.get_untracked();
                let below = (self.count.get_untracked() - rows.end) as f64 * self.height;
                browser::element::set_room(&list, rows.start as f64 * self.height, below);
            }
        };
        let refresh = move || {
            let Some(scroller) = scroller.try_get_untracked().flatten() else {
                return;
            };
            let top = browser::element::scroll_top(&scroller);
            let viewport = browser::element::viewport_height(&scroller);
            let now = Some((top, viewport));
            if eye.get_untracked() != now {
                eye.set(now);
            }
            make_room();
        };
        let is_seen = move || {
            eye.try_get_untracked()
                .flatten()
                .is_some_and(|(_, height)| height > 0.0)
        };
        Effect::new(move |_| {
            self.count.track();
            if is_seen() {
                return browser::timers::next_frame(refresh);
            }
            // Draw the first rows before the first paint, but after everything around them is mounted.
            browser::spawn(async move {
                refresh();
                if !is_seen() {
                    browser::timers::next_frame(refresh);
                }
            });
        });
        Effect::new(move |_| {
            let (Some(row), Some(scroller)) = (self.seen.get(), scroller.get()) else {
                return;
            };
            // The row may be new; its space is laid out first.
            browser::timers::next_frame(move || {
                refresh();
                let top = browser::element::scroll_top(&scroller);
                let viewport = browser::element::viewport_height(&scroller);
                if let Some(top) = reveal(row, top, viewport, self.height) {
                    browser::element::set_scroll_top(&scroller, top);
                    refresh();
                }
            });
        });
        let sizes = StoredValue::new_local(None);
        Effect::new(move |_| {
            if let Some(scroller) = scroller.get() {
                sizes.set_value(browser::element::watch_size(&[&scroller], refresh));
            }
        });
        // The mounted rows: identity and index of each.
        let standing = Memo::new(move |_| {
            let rows: Range<usize> = shown.get();
            let rows = rows.map(|row| (identity(row), row)).collect::<Vec<_>>();
            (self.edition.get(), rows)
        });
        let keys = move || standing.with(|(_, rows)| rows.iter().map(|(who, _)| *who).collect());
        let draw = move |who: u64| {
            let place = transient_memo(move |former: Option<&(u32, usize)>| {
                let found = standing.with(|(edition, rows)| {
                    let (_, row) = rows.iter().find(|(other, _)| *other == who)?;
                    Some((*edition, *row))
                });
                // Keep the content of a row that is about to be removed.
                found.or(former.copied()).unwrap_or_default()
            });
            draw(Signal::derive(move || place.get().1))
        };
        view! {
            <div class=self.class node_ref=scroller on:scroll=move |_| refresh()>
                <div class="rows" role=self.role aria-label=self.name node_ref=list>
                    {keyed(keys, draw)}
                </div>
            </div>
        }
        .into_any()
    }
}
