//! A frame as a tree to open and close, with what changed since the frame before, in words.
//!
//! All rows are children of one element, which hears of clicks and keys for all of them.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::html;
use leptos::prelude::*;
use volary_core::Frame;

use super::erased::{self, dynamic, keyed};
use super::icon::{Glyph, Icon};
use super::json_text::token_class;
use super::text::{FoldedText, inert};
use crate::projection::text::count_text;
use crate::projection::tree::{Changes, Expansion, Mark, Row, RowKind, SLICE, rows};
use crate::shell;

/// Deeper levels are indented no further.
const MOST_INDENTS: usize = 12;

/// A frame as a tree.
#[component]
pub fn FrameTree(
    /// The frame.
    #[prop(into)]
    frame: Signal<Frame>,
    /// The frame before it, if there is one.
    #[prop(into)]
    previous: Signal<Option<Frame>>,
) -> impl IntoView {
    let expansion = RwSignal::new(Expansion::default());
    let changes = Memo::new(move |_| {
        previous.with(|previous| {
            let previous = previous.as_ref()?;
            Some(frame.with(|frame| Changes::between(previous, frame)))
        })
    });
    let rows = Memo::new(move |_| {
        let (frame, previous) = (frame.read(), previous.read());
        let (changes, expansion) = (changes.read(), expansion.read());
        let past = previous.as_ref().zip(changes.as_ref());
        rows(&frame, past, &expansion)
    });
    // The one row that the Tab key leads to.
    let current = RwSignal::new(0_usize);
    let tree = NodeRef::<html::Div>::new();

    let act = move |place: usize| {
        let row = rows.with_untracked(|rows| rows.get(place).cloned());
        match row.map(|row| (row.path, row.kind)) {
            Some((path, RowKind::Branch { open, .. } | RowKind::LongText { open, .. })) => {
                expansion.update(|expansion| expansion.set(&path, !open));
            }
            Some((_, RowKind::More { parent, .. })) => {
                expansion.update(|expansion| expansion.show_more(&parent));
            }
            Some((_, RowKind::Leaf { .. })) | None => {}
        }
    };
    let clicked = move |click: MouseEvent| {
        // A click on a control within a row, or one that selects text, is none on the row.
        if let Some(place) = shell::element::plain_click_on(&click, "data-row") {
            current.set(place);
            act(place);
        }
    };
    let pressed = move |press: KeyboardEvent| {
        let at = current.get_untracked();
        let Some(reaction) = rows.with_untracked(|rows| reaction(rows, at, &press.key())) else {
            return;
        };
        press.prevent_default();
        match reaction {
            Reaction::Act => act(at),
            Reaction::Go(to) => {
                current.set(to);
                if let Some(tree) = tree.get_untracked() {
                    shell::element::focus_child(&tree, to);
                }
            }
        }
    };
    let drawn = move || {
        let current = current.get();
        rows.with(|rows| {
            let current = current.min(rows.len().saturating_sub(1));
            let rows = rows.iter().enumerate();
            rows.map(|(place, row)| tree_row(place, row, place == current))
                .collect_view()
                .into_any()
        })
    };
    let empty = Memo::new(move |_| rows.with(Vec::is_empty));
    dynamic(move || {
        if empty.get() {
            view! { <p class="faint">"This environment shows no state."</p> }.into_any()
        } else {
            view! {
                <div
                    class="tree"
                    role="tree"
                    aria-label="State"
                    node_ref=tree
                    on:click=erased::pressed(clicked)
                    on:keydown=keyed(pressed)
                >
                    {dynamic(drawn)}
                </div>
            }
            .into_any()
        }
    })
}

/// What a key does in the tree.
enum Reaction {
    /// Opens, closes, or shows more.
    Act,
    /// Goes to a row.
    Go(usize),
}

fn reaction(rows: &[Row], at: usize, key: &str) -> Option<Reaction> {
    let row = rows.get(at)?;
    let last = rows.len() - 1;
    let open = match &row.kind {
        RowKind::Branch { open, .. } | RowKind::LongText { open, .. } => Some(*open),
        RowKind::Leaf { .. } | RowKind::More { .. } => None,
    };
    Some(match key {
        "ArrowDown" => Reaction::Go(last.min(at + 1)),
        "ArrowUp" => Reaction::Go(at.saturating_sub(1)),
        "Home" => Reaction::Go(0),
        "End" => Reaction::Go(last),
        "Enter" | " " => Reaction::Act,
        "ArrowRight" if open == Some(false) => Reaction::Act,
        "ArrowRight" => Reaction::Go(last.min(at + 1)),
        "ArrowLeft" if open == Some(true) => Reaction::Act,
        "ArrowLeft" => {
            let parent = rows
                .get(..at)?
                .iter()
                .rposition(|other| other.level < row.level);
            Reaction::Go(parent.unwrap_or(at))
        }
        _ => return None,
    })
}

fn tree_row(place: usize, row: &Row, current: bool) -> AnyView {
    let open = match &row.kind {
        RowKind::Branch { open, .. } | RowKind::LongText { open, .. } => Some(*open),
        RowKind::Leaf { .. } | RowKind::More { .. } => None,
    };
    let mark = match &row.mark {
        Mark::Same => "",
        Mark::Added => " added",
        Mark::Removed => " removed",
        Mark::Changed { .. } | Mark::Edited { .. } => " changed",
        Mark::Inside => " inside",
    };
    let level = row.level.min(MOST_INDENTS);
    view! {
        <div
            class=format!("tree-row level-{level}{mark}")
            role="treeitem"
            attr:aria-level=row.level.to_string()
            aria-posinset=row.position.to_string()
            aria-setsize=row.siblings.to_string()
            aria-expanded=open.map(|open| open.to_string())
            tabindex=if current { "0" } else { "-1" }
            data-row=place.to_string()
        >
            <span class="tree-line">
                <span class="tree-toggle" class:open=open == Some(true)>
                    {open.is_some().then(|| view! { <Icon glyph=Glyph::Chevron /> })}
                </span>
                {(!row.name.is_empty())
                    .then(|| view! { <span class="tree-name" dir="auto">{inert(&row.name)}</span> })}
                {row_value(&row.kind)}
                {row_mark(&row.mark)}
            </span>
            {match &row.kind {
                RowKind::LongText { open: true, text, .. } => {
                    Some(view! { <div class="tree-text"><FoldedText text=text.clone() /></div> })
                }
                _ => None,
            }}
        </div>
    }
    .into_any()
}

fn row_value(kind: &RowKind) -> AnyView {
    match kind {
        RowKind::Leaf { kind, text } => view! {
            <span class=format!("tree-value {}", token_class(*kind)) dir="auto">
                {inert(text)}
            </span>
        }
        .into_any(),
        RowKind::LongText { open: true, .. } => ().into_any(),
        RowKind::LongText { preview, .. } => view! {
            <span class="tree-value token string cut" dir="auto">
                {inert(preview)}
            </span>
        }
        .into_any(),
        RowKind::Branch {
            open: true, count, ..
        } => view! { <span class="tree-count">{count.clone()}</span> }.into_any(),
        RowKind::Branch { preview, .. } => view! {
            <span class="tree-value tree-preview cut" dir="auto">
                {inert(preview)}
            </span>
        }
        .into_any(),
        RowKind::More { hidden, .. } => {
            let next = count_text((*hidden).min(SLICE));
            let hidden = count_text(*hidden);
            view! { <span class="tree-more">{format!("Show {next} more of {hidden}")}</span> }
                .into_any()
        }
    }
}

fn row_mark(mark: &Mark) -> Option<AnyView> {
    let marked = |word: &'static str| view! { <span class="tree-mark">{word}</span> }.into_any();
    Some(match mark {
        Mark::Same => return None,
        Mark::Added => marked("added"),
        Mark::Removed => marked("removed"),
        Mark::Inside => view! {
            <span class="tree-mark dot" title="changed inside">
                <span class="visually-hidden">"changed inside"</span>
            </span>
        }
        .into_any(),
        Mark::Changed { was } => view! {
            // A longer one gets a line of its own.
            <span class="tree-mark" class:past={was.len() > 16}>
                "changed, was "
                <del class="tree-was" dir="auto">{inert(was)}</del>
            </span>
        }
        .into_any(),
        Mark::Edited { removed, added } => view! {
            <span class="tree-mark past">
                "changed"
                {(!removed.is_empty())
                    .then(|| view! { ", less "<del class="tree-was" dir="auto">{inert(removed)}</del> })}
                {(!added.is_empty())
                    .then(|| view! { ", new "<ins class="tree-new" dir="auto">{inert(added)}</ins> })}
            </span>
        }
        .into_any(),
    })
}
