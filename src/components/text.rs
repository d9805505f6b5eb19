//! Foreign texts on the page: always text nodes, never markup; bounded; with all characters shown
//! that a reader could not see.

use leptos::prelude::*;
use volary_core::json::Text;

use super::erased::{self, dynamic, flag, pressed, words};
use crate::projection::size_text;
use crate::projection::text::{PART_BYTES, Piece, part, part_count, pieces, preview_end};

/// A text as it is, hidden characters by name. For texts of bounded length.
pub fn inert(text: &str) -> AnyView {
    let mut pieces = pieces(text);
    if let [Piece::Plain(plain)] = pieces.as_slice() {
        return (*plain).to_owned().into_any();
    }
    pieces
        .drain(..)
        .map(|piece| match piece {
            Piece::Plain(plain) => plain.to_owned().into_any(),
            Piece::Hidden { mark, meaning } => view! {
                <span class="hidden-character" title=meaning.into_owned()>
                    {mark.into_owned()}
                </span>
            }
            .into_any(),
        })
        .collect_view()
        .into_any()
}

/// A name as it is, which may be broken after each underscore, point and slash.
pub fn inert_name(name: &str) -> AnyView {
    name.split_inclusive(['_', '.', '/'])
        .map(|part| view! { {inert(part)}<wbr /> })
        .collect_view()
        .into_any()
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

/// A text of any length. A long one is folded, and says its size.
#[component]
pub fn FoldedText(
    /// The text.
    text: Text,
    /// How much of it is shown; kept by the caller, so that it outlives the element.
    #[prop(optional)]
    fold: Option<RwSignal<Fold>>,
) -> impl IntoView {
    let Some(preview) = preview_end(&text) else {
        return view! { <div class="text" dir="auto">{inert(&text)}</div> }.into_any();
    };
    let fold = fold.unwrap_or_default();
    let size = size_text(text.len());
    let parts = part_count(&text);
    let shown = dynamic(move || {
        let range = match fold.get() {
            Fold::Preview => 0..preview,
            Fold::Open(number) => part(&text, number),
        };
        inert(text.get(range).unwrap_or_default())
    });
    view! {
        <div class="text" class:folded=is_folded(fold) dir="auto">
            {shown}
        </div>
        {fold_controls(fold, parts, size)}
    }
    .into_any()
}

/// Whether only the start is shown.
pub(super) fn is_folded(fold: RwSignal<Fold>) -> Signal<bool> {
    flag(move || fold.get() == Fold::Preview)
}

/// The buttons under a long text. They stay on the page while they are used, and so keep the focus.
pub(super) fn fold_controls(fold: RwSignal<Fold>, parts: usize, size: String) -> AnyView {
    let open = Memo::new(move |_| fold.get() != Fold::Preview);
    let label = words(move || match open.get() {
        true => "Show less".to_owned(),
        false => format!("Show all ({size})"),
    });
    let toggle = pressed(move |_| {
        fold.update(|fold| {
            *fold = match fold {
                Fold::Preview => Fold::Open(0),
                Fold::Open(_) => Fold::Preview,
            }
        })
    });
    let has_parts = move || parts > 1 && open.get();
    view! {
        <div class="button-row fold-row">
            <button
                type="button"
                class="small"
                aria-expanded=words(move || open.get().to_string())
                on:click=toggle
            >
                {label}
            </button>
            {erased::shown(has_parts, move || part_controls(fold, parts))}
        </div>
    }
    .into_any()
}

fn part_controls(fold: RwSignal<Fold>, parts: usize) -> AnyView {
    let number = move || match fold.get() {
        Fold::Preview => 0,
        Fold::Open(number) => number,
    };
    let last = parts - 1;
    let go = move |label: &'static str, to: fn(usize, usize) -> usize| {
        let vain = flag(move || to(number(), last) == number());
        let go = pressed(move |_| {
            fold.update(|fold| {
                if let Fold::Open(number) = fold {
                    *number = to(*number, last);
                }
            })
        });
        view! {
            <button type="button" class="quiet small" disabled=vain on:click=go>
                {label}
            </button>
        }
        .into_any()
    };
    let each = size_text(PART_BYTES);
    let place = words(move || format!("Part {} of {parts} ({each} each)", number() + 1));
    view! {
        <span class="faint" aria-live="polite">
            {place}
        </span>
        {go("First part", |_, _| 0)}
        {go("Previous part", |number, _| number.saturating_sub(1))}
        {go("Next part", |number, last| last.min(number + 1))}
        {go("Last part", |_, last| last)}
    }
    .into_any()
}
