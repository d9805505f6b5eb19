//! Foreign texts on the page: always text nodes, never markup; bounded; with all characters shown
//! that a reader could not see.

use leptos::prelude::*;
use volary_core::json::Text;

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
    let shown = move || {
        let range = match fold.get() {
            Fold::Preview => 0..preview,
            Fold::Open(number) => part(&text, number),
        };
        inert(text.get(range).unwrap_or_default())
    };
    view! {
        <div class="text" class:folded=move || fold.get() == Fold::Preview dir="auto">
            {shown}
        </div>
        {fold_controls(fold, parts, size)}
    }
    .into_any()
}

/// The buttons under a long text.
pub(super) fn fold_controls(fold: RwSignal<Fold>, parts: usize, size: String) -> impl IntoView {
    move || match fold.get() {
        Fold::Preview => view! {
            <button type="button" class="quiet small" on:click=move |_| fold.set(Fold::Open(0))>
                {format!("Show all ({size})")}
            </button>
        }
        .into_any(),
        Fold::Open(number) => view! {
            <div class="button-row">
                <button type="button" class="quiet small" on:click=move |_| fold.set(Fold::Preview)>
                    "Show less"
                </button>
                {(parts > 1).then(|| part_controls(fold, number, parts))}
            </div>
        }
        .into_any(),
    }
}

fn part_controls(fold: RwSignal<Fold>, number: usize, parts: usize) -> impl IntoView {
    let go = move |label: &'static str, to: usize, possible: bool| {
        view! {
            <button
                type="button"
                class="quiet small"
                disabled=!possible
                on:click=move |_| fold.set(Fold::Open(to))
            >
                {label}
            </button>
        }
    };
    let last = parts - 1;
    view! {
        <span class="faint" aria-live="polite">
            {format!("Part {} of {parts} ({} each)", number + 1, size_text(PART_BYTES))}
        </span>
        {go("First part", 0, number > 0)}
        {go("Previous part", number.saturating_sub(1), number > 0)}
        {go("Next part", number + 1, number < last)}
        {go("Last part", last, number < last)}
    }
}
