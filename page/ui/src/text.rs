//! Untrusted texts on the page. Invariants: they are text nodes, never markup; their length is bounded; invisible
//! characters are replaced with their names.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_view::text::{PART_BYTES, TextPiece, part, part_count, pieces, preview_end};

/// A text of bounded length. Invisible characters are replaced with their names.
pub fn inert(text: &str) -> AnyView {
    let pieces = pieces(text);
    if let [TextPiece::Plain(plain)] = pieces.as_slice() {
        return (*plain).to_owned().into_any();
    }
    let views = pieces.into_iter().map(|piece| match piece {
        TextPiece::Plain(plain) => plain.to_owned().into_any(),
        TextPiece::Hidden { mark, meaning } => view! {
            <span class="hidden-character" title=meaning.into_owned()>
                {mark.into_owned()}
            </span>
        }
        .into_any(),
    });
    views.collect_view().into_any()
}

/// Names of up to this number of bytes need no line break.
const SHORT_NAME: usize = 14;

/// A name with a possible line break after each underscore, dot and slash.
pub fn inert_name(name: &str) -> AnyView {
    if name.len() <= SHORT_NAME {
        return inert(name);
    }
    let parts = name.split_inclusive(['_', '.', '/']);
    parts
        .map(|part| {
            view! {
                {inert(part)}
                <wbr/>
            }
        })
        .collect_view()
        .into_any()
}

/// The visible part of a long text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// The start of the text.
    #[default]
    Preview,
    /// The whole text, or this part of it if it is very long.
    Open(usize),
}

/// A text of any length. A long one is collapsed and shows its size. The caller owns `fold`, so that it outlives the
/// element.
pub fn folded_text(text: Text, fold: RwSignal<Fold>) -> AnyView {
    match preview_end(&text) {
        None => view! { <div class="text" dir="auto">{inert(&text)}</div> }.into_any(),
        Some(preview) => view! { <LongText text preview fold/> }.into_any(),
    }
}

#[component]
fn LongText(text: Text, preview: usize, fold: RwSignal<Fold>) -> impl IntoView {
    let size = size_text(text.len() as u64);
    let parts = part_count(&text);
    let slice = move || {
        let range = match fold.get() {
            Fold::Preview => 0..preview,
            Fold::Open(number) => part(&text, number),
        };
        inert(text.get(range).unwrap_or_default())
    };
    view! {
        <div class=fold_class("text", fold) dir="auto">{slice}</div>
        <FoldControls fold parts size/>
    }
}

/// Adds a class if only the start of the text is shown.
pub(super) fn fold_class(classes: &'static str, fold: RwSignal<Fold>) -> Signal<String> {
    Signal::derive(move || match fold.get() {
        Fold::Preview => format!("{classes} folded"),
        Fold::Open(_) => classes.to_owned(),
    })
}

/// The buttons below a long text. They stay mounted when pressed, and so keep the focus.
#[component]
pub(super) fn FoldControls(fold: RwSignal<Fold>, parts: usize, size: String) -> impl IntoView {
    let is_open = move || fold.get() != Fold::Preview;
    let label = move || {
        if is_open() {
            "Show less".to_owned()
        } else {
            format!("Show all ({size})")
        }
    };
    let toggle = move |_| {
        fold.update(|fold| {
            *fold = match fold {
                Fold::Preview => Fold::Open(0),
                Fold::Open(_) => Fold::Preview,
            }
        })
    };
    view! {
        <div class="button-row fold-row">
            <button
                type="button"
                class="small"
                aria-expanded=move || is_open().to_string()
                on:click=toggle
            >
                {label}
            </button>
            <Show when={move || parts > 1 && is_open()}>
                <PartControls fold parts/>
            </Show>
        </div>
    }
}

#[component]
fn PartControls(fold: RwSignal<Fold>, parts: usize) -> impl IntoView {
    let number = move || match fold.get() {
        Fold::Preview => 0,
        Fold::Open(number) => number,
    };
    let last = parts.saturating_sub(1);
    let go = move |label: &'static str, to: fn(usize, usize) -> usize| {
        view! {
            <button
                type="button"
                class="quiet small"
                disabled=move || to(number(), last) == number()
                on:click=move |_| fold.set(Fold::Open(to(number(), last)))
            >
                {label}
            </button>
        }
    };
    let each = size_text(PART_BYTES as u64);
    let place = move || format!("Part {} of {parts} ({each} each)", number() + 1);
    view! {
        <span class="faint" aria-live="polite">
            {place}
        </span>
        {go("First part", |_, _| 0)}
        {go("Previous part", |number, _| number.saturating_sub(1))}
        {go("Next part", |number, last| last.min(number + 1))}
        {go("Last part", |_, last| last)}
    }
}
