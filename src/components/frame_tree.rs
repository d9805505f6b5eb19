//! A frame as a tree to open and close, with what changed since the frame before, in words.
//!
//! All rows are children of one element, which hears of clicks and keys for all of them.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use volary_core::Frame;

use super::erased::{dynamic, flag, shown, words};
use super::icon::{Glyph, hidden_name, icon};
use super::json_text::token_class;
use super::markup::{El, ElementRef, all, el};
use super::text::{folded_text, inert, inert_in};
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
    let rows = Memo::new(move |_| {
        let (frame, previous) = (frame.read(), previous.read());
        let changes = previous
            .as_ref()
            .map(|previous| Changes::between(previous, &frame));
        let past = previous.as_ref().zip(changes.as_ref());
        rows(&frame, past, &expansion.read())
    });
    // The one row that the Tab key leads to.
    let current = RwSignal::new(0_usize);
    let tree = ElementRef::new();

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
    let drawn = dynamic(move || {
        rows.with(|rows| {
            let rows = rows.iter().enumerate();
            all(rows
                .map(|(place, row)| tree_row(place, row, current))
                .collect())
        })
    });
    let empty = flag(move || rows.with(Vec::is_empty));
    all(vec![
        shown(
            move || empty.get(),
            || {
                let words = "This environment shows no state.";
                el("p").class("faint").child(words).view()
            },
        ),
        el("div")
            .class("tree")
            .attr("hidden", empty)
            .attr("role", "tree")
            .attr("aria-label", "State")
            .element_ref(tree)
            .on("click", clicked)
            .on("keydown", pressed)
            .child(drawn)
            .view(),
    ])
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

fn tree_row(place: usize, row: &Row, current: RwSignal<usize>) -> AnyView {
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
    let toggle = match open {
        Some(true) => el("span")
            .class("tree-toggle open")
            .child(icon(Glyph::Chevron)),
        Some(false) => el("span").class("tree-toggle").child(icon(Glyph::Chevron)),
        None => el("span").class("tree-toggle"),
    };
    let name = (!row.name.is_empty()).then(|| inert_in("span", "tree-name", &row.name));
    let text = match &row.kind {
        RowKind::LongText {
            open: true, text, ..
        } => {
            let text = folded_text(text.clone(), RwSignal::default());
            Some(el("div").class("tree-text").child(text))
        }
        _ => None,
    };
    let line = el("span")
        .class("tree-line")
        .child(toggle)
        .child(name)
        .child(row_value(&row.kind))
        .child(row_mark(&row.mark));
    let tab_index = words(move || if current.get() == place { "0" } else { "-1" }.to_owned());
    el("div")
        .class(format!("tree-row level-{level}{mark}"))
        .attr("role", "treeitem")
        .attr("aria-level", row.level.to_string())
        .attr("aria-posinset", row.position.to_string())
        .attr("aria-setsize", row.siblings.to_string())
        .attr("aria-expanded", open.map(|open| open.to_string()))
        .attr("tabindex", tab_index)
        .attr("data-row", place.to_string())
        .child(line)
        .child(text)
        .view()
}

fn row_value(kind: &RowKind) -> Option<El> {
    Some(match kind {
        RowKind::Leaf { kind, text } => {
            let class = format!("tree-value {}", token_class(*kind));
            el("span")
                .class(class)
                .attr("dir", "auto")
                .child(inert(text))
        }
        RowKind::LongText { open: true, .. } => return None,
        RowKind::LongText { preview, .. } => {
            inert_in("span", "tree-value token string cut", preview)
        }
        RowKind::Branch {
            open: true, count, ..
        } => el("span").class("tree-count").child(count.clone()),
        RowKind::Branch { preview, .. } => inert_in("span", "tree-value tree-preview cut", preview),
        RowKind::More { hidden, .. } => {
            let next = count_text((*hidden).min(SLICE));
            let hidden = count_text(*hidden);
            let words = format!("Show {next} more of {hidden}");
            el("span").class("tree-more").child(words)
        }
    })
}

fn row_mark(mark: &Mark) -> Option<El> {
    let marked = el("span").class("tree-mark");
    Some(match mark {
        Mark::Same => return None,
        Mark::Added => marked.child("added"),
        Mark::Removed => marked.child("removed"),
        Mark::Inside => el("span")
            .class("tree-mark dot")
            .attr("title", "changed inside")
            .child(hidden_name("changed inside")),
        Mark::Changed { was } => {
            // A longer one gets a line of its own.
            let marked = match was.len() {
                ..=16 => marked,
                _ => el("span").class("tree-mark past"),
            };
            marked
                .child("changed, was ")
                .child(inert_in("del", "tree-was", was))
        }
        Mark::Edited { removed, added } => {
            let mut marked = el("span").class("tree-mark past").child("changed");
            if !removed.is_empty() {
                let removed = inert_in("del", "tree-was", removed);
                marked = marked.child(", less ").child(removed);
            }
            if !added.is_empty() {
                marked = marked
                    .child(", new ")
                    .child(inert_in("ins", "tree-new", added));
            }
            marked
        }
    })
}
