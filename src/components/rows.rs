//! A virtual list: of many rows of the same height, only those near the viewport are on the page.

use std::ops::Range;
use std::sync::Arc;

use leptos::ev::Event;
use leptos::prelude::*;

use super::erased::{dynamic, watch};
use super::markup::{ElementRef, el, keyed};
use crate::browser;
use crate::projection::rows::{reveal, window};

/// What makes a list of rows.
#[derive(Clone, Copy)]
pub struct Rows {
    /// How many there are.
    pub count: Signal<usize>,
    /// Changes whenever rows that were drawn have become others.
    pub edition: Signal<u32>,
    /// The height of each in pixels, as the style sheets have it.
    pub height: f64,
    /// A row that is to be seen; each change brings it into sight.
    pub seen: Signal<Option<usize>>,
    /// The role of the list, which has the rows as children.
    pub role: &'static str,
    /// Its class. It is the element that scrolls.
    pub class: &'static str,
    /// Its name; none where what is around it has one.
    pub name: Option<&'static str>,
}

/// Tells who is in a row. Nobody is in two.
type Identity = Arc<dyn Fn(usize) -> u64 + Send + Sync>;

/// Draws a row once. The signal says where it stands, and again in each edition.
type Draw = Arc<dyn Fn(Signal<usize>) -> AnyView + Send + Sync>;

/// What draws a row anew in each edition.
pub fn anew(
    draw: impl Fn(usize) -> AnyView + Send + Sync + 'static,
) -> impl Fn(Signal<usize>) -> AnyView + Send + Sync + 'static {
    let draw = Arc::new(draw);
    move |place| {
        let draw = Arc::clone(&draw);
        dynamic(move || {
            let place = place.get();
            untrack(|| draw(place))
        })
    }
}

impl Rows {
    /// The list. A row is drawn when it comes near, and taken away when it leaves. In another edition it keeps its
    /// elements, and takes what stands there now.
    pub fn view(self, draw: impl Fn(usize) -> AnyView + Send + Sync + 'static) -> AnyView {
        self.view_of(|row| row as u64, anew(draw))
    }

    /// The same list, of things that change their places: each takes its elements along, and with them the focus. A row
    /// is drawn once, with a signal that says where it stands, and says so again in each edition.
    pub fn view_of(
        self,
        identity: impl Fn(usize) -> u64 + Send + Sync + 'static,
        draw: impl Fn(Signal<usize>) -> AnyView + Send + Sync + 'static,
    ) -> AnyView {
        self.boxed(Arc::new(identity), Arc::new(draw))
    }

    fn boxed(self, identity: Identity, draw: Draw) -> AnyView {
        // How far it is scrolled, and how much is seen.
        let eye = RwSignal::new(None::<(f64, f64)>);
        // A memo, so that who stands on the page is known as soon as others come.
        let shown = Memo::new(move |_| match eye.get() {
            Some((top, viewport)) if viewport > 0.0 => {
                window(top, viewport, self.height, self.count.get())
            }
            _ => 0..0,
        });
        let (scroller, list) = (ElementRef::new(), ElementRef::new());
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
        watch(move || {
            self.count.track();
            if is_seen() {
                return browser::timers::next_frame(refresh);
            }
            // The first rows are drawn before the frame in which they are laid out and painted, once all that comes with
            // them is on the page.
            browser::spawn(async move {
                refresh();
                if !is_seen() {
                    browser::timers::next_frame(refresh);
                }
            });
        });
        watch(move || {
            let (Some(row), Some(scroller)) = (self.seen.get(), scroller.get()) else {
                return;
            };
            // What makes the row and the row itself may come at once: the room is made first.
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
        watch(move || {
            if let Some(scroller) = scroller.get() {
                sizes.set_value(browser::element::watch_size(&[&scroller], refresh));
            }
        });
        // What stands on the page: who, and in which row.
        let standing = Memo::new(move |_| {
            let rows: Range<usize> = shown.get();
            let rows = rows.map(|row| (identity(row), row)).collect::<Vec<_>>();
            (self.edition.get(), rows)
        });
        let keys = move || standing.with(|(_, rows)| rows.iter().map(|(who, _)| *who).collect());
        let draw = move |who: u64| {
            let place = Memo::new(move |former: Option<&(u32, usize)>| {
                let found = standing.with(|(edition, rows)| {
                    let (_, row) = rows.iter().find(|(other, _)| *other == who)?;
                    Some((*edition, *row))
                });
                // One that leaves stays as it is until then.
                found.or(former.copied()).unwrap_or_default()
            });
            draw(Signal::derive(move || place.get().1))
        };
        let list = el("div")
            .class("rows")
            .attr("role", self.role)
            .attr("aria-label", self.name)
            .element_ref(list)
            .child(keyed(keys, draw));
        el("div")
            .class(self.class)
            .element_ref(scroller)
            .on("scroll", move |_: Event| refresh())
            .child(list)
            .view()
    }
}
