//! A frame as a tree with marks for changes since the previous frame.
//!
//! All rows are children of one element, which handles clicks and keys for all of them. When the frame changes,
//! rows are updated in place by position. The focus follows the path of the focused row.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;

use super::erased::{dynamic, flag, shown, watch};
use super::folds::Folds;
use super::icon::{Glyph, hidden_name, icon};
use super::json_text::token_class;
use super::markup::{El, ElementRef, all, el};
use super::text::{folded_text, inert, inert_in};
use crate::browser;
use crate::projection::text::count_text;
use crate::projection::tree::{CHANGES, Expansion, Mark, Row, RowKind, SLICE, StepFrames, rows};

/// The maximum indentation depth.
const MOST_INDENTS: usize = 12;

/// A frame as a tree.
#[component]
pub fn FrameTree(
    /// The frame and the previous one, if any.
    #[prop(into)]
    frames: Signal<Option<StepFrames>>,
    /// The path of the row in the tab order: the first row until the reader moves.
    chosen: RwSignal<String>,
) -> impl IntoView {
    let expansion = RwSignal::new(Expansion::default());
    let rows = Memo::new(move |_| {
        let frames = frames.read();
        let Some(StepFrames {
            frame, previous, ..
        }) = frames.as_ref()
        else {
            return Vec::new();
        };
        let changes = previous
            .as_ref()
            .zip(CHANGES.get())
            .map(|(previous, between)| between(previous, frame));
        let past = previous.as_deref().zip(changes.as_ref());
        rows(frame, past, &expansion.read())
    });
    // A memo: the rows are rebuilt when it changes.
    let current = Memo::new(move |_| {
        let chosen = chosen.get();
        rows.with(|rows| {
            let known = rows.iter().any(|row| row.path == chosen);
            let first = rows.first().filter(|_| !known);
            first.map(|row| row.path.clone()).unwrap_or(chosen)
        })
    });
    let tree = ElementRef::new();
    let focus = move |place: usize| {
        // A row that changed stands on the page by then.
        browser::timers::next_frame(move || {
            if let Some(tree) = tree.try_get_untracked().flatten() {
                browser::element::focus_grandchild(&tree, place);
            }
        });
    };
    let act = move |row: &Row| match &row.kind {
        RowKind::Branch { open, .. } | RowKind::LongText { open, .. } => {
            expansion.update(|expansion| expansion.set(&row.path, !open));
        }
        RowKind::More { parent, .. } => expansion.update(|expansion| expansion.show_more(parent)),
        RowKind::Leaf { .. } => {}
    };
    let row_at = move |path: &str| {
        rows.with_untracked(|rows| {
            let place = rows.iter().position(|row| row.path == path)?;
            Some((place, rows.get(place)?.clone()))
        })
    };
    let clicked = move |click: MouseEvent| {
        // A click on a control within a row, or one that selects text, is none on the row.
        let path = browser::element::plain_click_on(&click, "data-path");
        if let Some((place, row)) = path.and_then(|path| row_at(&path)) {
            act(&row);
            chosen.set(row.path);
            focus(place);
        }
    };
    let pressed = move |press: KeyboardEvent| {
        let Some((at, row)) = row_at(&current.get_untracked()) else {
            return;
        };
        let Some(reaction) = rows.with_untracked(|rows| reaction(rows, at, &press.key())) else {
            return;
        };
        press.prevent_default();
        match reaction {
            Reaction::Act => {
                act(&row);
                focus(at);
            }
            Reaction::Go(to) => {
                let path = rows.with_untracked(|rows| rows.get(to).map(|row| row.path.clone()));
                chosen.set(path.unwrap_or_default());
                focus(to);
            }
        }
    };
    // Elements are updated by position, so the focused path may be in another element now.
    let place = Memo::new(move |_| {
        let current = current.get();
        rows.with(|rows| rows.iter().position(|row| row.path == current))
    });
    watch(move || {
        let place = place.get();
        let tree = tree.get_untracked();
        if let Some((place, tree)) = place.zip(tree)
            && browser::element::attribute_around_focus(&tree, "data-path").is_some()
        {
            focus(place);
        }
    });
    let folds = Folds::new();
    let drawn = dynamic(move || {
        let current = current.get();
        rows.with(|rows| {
            let rows = rows.iter().map(|row| tree_row(row, &current, folds));
            let rows = rows.collect::<Vec<_>>();
            el("div").attr("role", "none").child(rows).view()
        })
    });
    let empty = flag(move || rows.with(Vec::is_empty));
    let nothing_there = || {
        let words = "This environment does not expose its state.";
        el("p").class("faint").child(words).view()
    };
    all(vec![
        shown(move || empty.get(), nothing_there),
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

/// The effect of a key in the tree.
enum Reaction {
    /// Opens, closes, or shows more.
    Act,
    /// Goes to a row.
    Go(usize),
}

fn reaction(rows: &[Row], at: usize, key: &str) -> Option<Reaction> {
    let row = rows.get(at)?;
    let last = rows.len() - 1;
    let open = row.open();
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

fn tree_row(row: &Row, current: &str, folds: Folds<String>) -> El {
    let open = row.open();
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
            let fold = folds.of(row.path.clone());
            Some(
                el("div")
                    .class("tree-text")
                    .child(folded_text(text.clone(), fold)),
            )
        }
        _ => None,
    };
    let line = el("span")
        .class("tree-line")
        .child(toggle)
        .child(name)
        .child(row_value(&row.kind))
        .child(row_mark(&row.mark));
    let tab_index = if row.path == current { "0" } else { "-1" };
    el("div")
        .class(format!("tree-row level-{level}{mark}"))
        .attr("role", "treeitem")
        .attr("aria-level", row.level.to_string())
        .attr("aria-posinset", row.position.to_string())
        .attr("aria-setsize", row.siblings.to_string())
        .attr("aria-expanded", open.map(|open| open.to_string()))
        .attr("tabindex", tab_index)
        .attr("data-path", row.path.clone())
        .child(line)
        .child(text)
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
            // A longer value gets its own line.
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
