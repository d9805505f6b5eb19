//! Foreign texts on the page: always text nodes, never markup; bounded; with all characters shown
//! that a reader could not see.

use leptos::prelude::*;
use volary_core::json::Text;

use super::erased::{dynamic, flag, shown, words};
use super::markup::{El, all, button, el, nothing};
use crate::later::Later;
use crate::projection::size_text;
use crate::projection::text::{PART_BYTES, Piece, part, part_count, pieces, preview_end};

/// A text as it is, hidden characters by name. For texts of bounded length.
pub fn inert(text: &str) -> AnyView {
    let pieces = pieces(text);
    if let [Piece::Plain(plain)] = pieces.as_slice() {
        return (*plain).to_owned().into_any();
    }
    let views = pieces.into_iter().map(|piece| match piece {
        Piece::Plain(plain) => plain.to_owned().into_any(),
        Piece::Hidden { mark, meaning } => el("span")
            .class("hidden-character")
            .attr("title", meaning.into_owned())
            .child(mark.into_owned())
            .view(),
    });
    all(views.collect())
}

/// A text in an element of its own, whose direction follows from it.
pub fn inert_in(tag: &'static str, class: &'static str, text: &str) -> El {
    el(tag).class(class).attr("dir", "auto").child(inert(text))
}

/// A name of so many bytes fits wherever names stand.
const SHORT_NAME: usize = 14;

/// A name as it is, which may be broken after each underscore, point and slash.
pub fn inert_name(name: &str) -> AnyView {
    if name.len() <= SHORT_NAME {
        return inert(name);
    }
    let parts = name.split_inclusive(['_', '.', '/']);
    all(parts
        .flat_map(|part| [inert(part), el("wbr").view()])
        .collect())
}

/// How much of a long text is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// Its start.
    #[default]
    Preview,
    /// All of it; of a very long one, the part with this number.
    Open(usize),
}

/// A text of any length. A long one is folded, and says its size. What is shown is kept by the caller,
/// so that it outlives the element.
pub fn folded_text(text: Text, fold: RwSignal<Fold>) -> AnyView {
    match preview_end(&text) {
        None => inert_in("div", "text", &text).view(),
        Some(preview) => LONG
            .get()
            .map_or_else(nothing, |draw| draw(text, preview, fold)),
    }
}

type Long = fn(Text, usize, RwSignal<Fold>) -> AnyView;

static LONG: Later<Long> = Later::new();

pub(crate) fn install() {
    LONG.set(long_text);
}

fn long_text(text: Text, preview: usize, fold: RwSignal<Fold>) -> AnyView {
    let size = size_text(text.len());
    let parts = part_count(&text);
    let slice = dynamic(move || {
        let range = match fold.get() {
            Fold::Preview => 0..preview,
            Fold::Open(number) => part(&text, number),
        };
        inert(text.get(range).unwrap_or_default())
    });
    let body = el("div")
        .class(fold_class("text", fold))
        .attr("dir", "auto");
    all(vec![
        body.child(slice).view(),
        fold_controls(fold, parts, size),
    ])
}

/// Classes that say whether only the start is shown.
pub(super) fn fold_class(classes: &'static str, fold: RwSignal<Fold>) -> Signal<String> {
    words(move || match fold.get() {
        Fold::Preview => format!("{classes} folded"),
        Fold::Open(_) => classes.to_owned(),
    })
}

/// The buttons under a long text. They stay on the page while they are used, and so keep the focus.
pub(super) fn fold_controls(fold: RwSignal<Fold>, parts: usize, size: String) -> AnyView {
    let open = move || fold.get() != Fold::Preview;
    let label = words(move || match open() {
        true => "Show less".to_owned(),
        false => format!("Show all ({size})"),
    });
    let toggle = move || {
        fold.update(|fold| {
            *fold = match fold {
                Fold::Preview => Fold::Open(0),
                Fold::Open(_) => Fold::Preview,
            }
        })
    };
    el("div")
        .class("button-row fold-row")
        .child(
            button("small")
                .attr("aria-expanded", words(move || open().to_string()))
                .on_click(toggle)
                .child(label),
        )
        .child(shown(
            move || parts > 1 && open(),
            move || part_controls(fold, parts),
        ))
        .view()
}

fn part_controls(fold: RwSignal<Fold>, parts: usize) -> AnyView {
    let number = move || match fold.get() {
        Fold::Preview => 0,
        Fold::Open(number) => number,
    };
    let last = parts - 1;
    let go = move |label: &'static str, to: fn(usize, usize) -> usize| {
        let go = move || fold.set(Fold::Open(to(number(), last)));
        button("quiet small")
            .attr("disabled", flag(move || to(number(), last) == number()))
            .on_click(go)
            .child(label)
            .view()
    };
    let each = size_text(PART_BYTES);
    let place = words(move || format!("Part {} of {parts} ({each} each)", number() + 1));
    all(vec![
        el("span")
            .class("faint")
            .attr("aria-live", "polite")
            .child(place)
            .view(),
        go("First part", |_, _| 0),
        go("Previous part", |number, _| number.saturating_sub(1)),
        go("Next part", |number, last| last.min(number + 1)),
        go("Last part", |_, last| last),
    ])
}
