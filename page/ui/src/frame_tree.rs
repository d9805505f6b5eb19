//! A frame as a tree that marks changes since the previous frame.
//!
//! All rows are children of one element, which handles clicks and keys by event delegation. When the frame changes,
//! rows that differ are updated in place, by index. The focus follows the path of the focused row.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::html;
use leptos::prelude::*;
use volary_core::quantity::count_text;
use volary_view::tree::{
    Expansion, FrameChanges, Mark, RowKind, SLICE, StepFrames, TreeReaction, TreeRow, rows,
};

use super::folds::Folds;
use super::icon::{Glyph, Icon};
use super::json_text::token_class;
use super::keyed::keyed;
use super::text::{folded_text, inert};
use volary_browser as browser;

/// The maximum indentation depth.
const MOST_INDENTS: usize = 12;

#[component]
pub fn FrameTree(
    /// The frame and the previous one, if any.
    #[prop(into)]
    frames: Signal<Option<StepFrames>>,
    /// The path of the row that is in the tab order (roving tabindex): the first row until the user moves.
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
            .map(|previous| FrameChanges::between(previous, frame));
        let past = previous.as_deref().zip(changes.as_ref());
        rows(frame, past, &expansion.read())
    });
    let current = Memo::new(move |_| {
        let chosen = chosen.get();
        rows.with(|rows| {
            let known = rows.iter().any(|row| row.path == chosen);
            let first = rows.first().filter(|_| !known);
            first.map(|row| row.path.clone()).unwrap_or(chosen)
        })
    });
    let tree = NodeRef::<html::Div>::new();
    let focus = move |place: usize| {
        // The changed row is mounted by then.
        browser::timers::next_frame(move || {
            if let Some(tree) = tree.try_get_untracked().flatten() {
                browser::element::focus_grandchild(&tree, place);
            }
        });
    };
    let act = move |row: &TreeRow| match &row.kind {
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
        // Ignore clicks on a control within a row, and clicks that select text.
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
        let Some(key) = browser::keys::plain_key(&press) else {
            return;
        };
        let reaction = rows.with_untracked(|rows| TreeReaction::to(rows, at, &key));
        let Some(reaction) = reaction else {
            return;
        };
        press.prevent_default();
        match reaction {
            TreeReaction::Act => {
                act(&row);
                focus(at);
            }
            TreeReaction::Go(to) => {
                let path = rows.with_untracked(|rows| rows.get(to).map(|row| row.path.clone()));
                chosen.set(path.unwrap_or_default());
                focus(to);
            }
        }
    };
    // Elements are updated by index, so the focused path may be in another element now.
    let place = Memo::new(move |_| {
        let current = current.get();
        rows.with(|rows| rows.iter().position(|row| row.path == current))
    });
    Effect::new(move |_| {
        let place = place.get();
        let tree = tree.get_untracked();
        if let Some((place, tree)) = place.zip(tree)
            && browser::element::attribute_around_focus(&tree, "data-path").is_some()
        {
            focus(place);
        }
    });
    let folds = Folds::new();
    let count = Memo::new(move |_| rows.with(Vec::len));
    let empty = Memo::new(move |_| rows.with(Vec::is_empty));
    let keys = move || (0..count.get() as u64).collect();
    let draw = move |place: u64| {
        let place = usize::try_from(place).unwrap_or_default();
        view! { <TreeRow rows current place folds/> }.into_any()
    };
    view! {
        <Show when=move || empty.get()>
            <p class="faint">{"This environment does not expose its state."}</p>
        </Show>
        <div
            class="tree"
            hidden=empty
            role="tree"
            aria-label="State"
            node_ref=tree
            on:click=clicked
            on:keydown=pressed
        >
            <div role="none">
                {keyed(keys, draw)}
            </div>
        </div>
    }
}

/// The row at an index. It is rendered again only if it changed.
#[component]
fn TreeRow(
    rows: Memo<Vec<TreeRow>>,
    /// The path of the row that is in the tab order.
    current: Memo<String>,
    place: usize,
    folds: Folds<String>,
) -> impl IntoView {
    let row = Memo::new(move |former: Option<&Option<(TreeRow, bool)>>| {
        let row = rows.with(|rows| rows.get(place).cloned());
        let row = row.map(|row| {
            let is_current = current.with(|current| *current == row.path);
            (row, is_current)
        });
        // Keep the content of a row that is about to be removed.
        row.or_else(|| former.cloned().flatten())
    });
    // The element is preserved while its row changes: replacing its attributes would lose the focus.
    let attribute = move |of: fn(&TreeRow, bool) -> Option<String>| {
        Signal::derive(move || {
            row.with(|row| {
                let (row, is_current) = row.as_ref()?;
                of(row, *is_current)
            })
        })
    };
    let class = Signal::derive(move || {
        row.with(|row| {
            row.as_ref()
                .map(|(row, _)| class_of(row))
                .unwrap_or_default()
        })
    });
    view! {
        <div
            class=class
            role="treeitem"
            attr:aria-level=attribute(|row, _| Some(row.level.to_string()))
            aria-posinset=attribute(|row, _| Some(row.position.to_string()))
            aria-setsize=attribute(|row, _| Some(row.siblings.to_string()))
            aria-expanded=attribute(|row, _| row.open().map(|open| open.to_string()))
            tabindex=attribute(|_, is_current| {
                Some(if is_current { "0" } else { "-1" }.to_owned())
            })
            data-path=attribute(|row, _| Some(row.path.clone()))
        >
            {move || row.with(|row| row.as_ref().map(|(row, _)| content(row, folds)))}
        </div>
    }
}

fn class_of(row: &TreeRow) -> String {
    let mark = match &row.mark {
        Mark::Same => "",
        Mark::Added => " added",
        Mark::Removed => " removed",
        Mark::Changed { .. } | Mark::Edited { .. } => " changed",
        Mark::Inside => " inside",
    };
    let level = row.level.min(MOST_INDENTS);
    format!("tree-row level-{level}{mark}")
}

fn content(row: &TreeRow, folds: Folds<String>) -> AnyView {
    let open = row.open();
    let toggle = match open {
        Some(true) => "tree-toggle open",
        Some(false) | None => "tree-toggle",
    };
    let chevron = open.map(|_| view! { <Icon glyph=Glyph::Chevron/> });
    let name = (!row.name.is_empty()).then(|| span("tree-name", &row.name));
    let text = match &row.kind {
        RowKind::LongText {
            open: true, text, ..
        } => {
            let text = folded_text(text.clone(), folds.of(row.path.clone()));
            Some(view! { <div class="tree-text">{text}</div> })
        }
        _ => None,
    };
    view! {
        <span class="tree-line">
            <span class=toggle>{chevron}</span>
            {name}
            {row_value(&row.kind)}
            {row_mark(&row.mark)}
        </span>
        {text}
    }
    .into_any()
}

fn span(class: &'static str, text: &str) -> AnyView {
    view! {
        <span class=class dir="auto">
            {inert(text)}
        </span>
    }
    .into_any()
}

fn row_value(kind: &RowKind) -> Option<AnyView> {
    Some(match kind {
        RowKind::Leaf { kind, text } => view! {
            <span class=format!("tree-value {}", token_class(*kind)) dir="auto">
                {inert(text)}
            </span>
        }
        .into_any(),
        RowKind::LongText { open: true, .. } => return None,
        RowKind::LongText { preview, .. } => span("tree-value token string cut", preview),
        RowKind::Branch {
            open: true, count, ..
        } => view! { <span class="tree-count">{count.clone()}</span> }.into_any(),
        RowKind::Branch { preview, .. } => span("tree-value tree-preview cut", preview),
        RowKind::More { hidden, .. } => {
            let next = count_text((*hidden).min(SLICE));
            let hidden = count_text(*hidden);
            view! { <span class="tree-more">{format!("Show {next} more of {hidden}")}</span> }
                .into_any()
        }
    })
}

fn row_mark(mark: &Mark) -> Option<AnyView> {
    let removed = |text: &str| {
        view! {
            <del class="tree-was" dir="auto">
                {inert(text)}
            </del>
        }
    };
    let added = |text: &str| {
        view! {
            <ins class="tree-new" dir="auto">
                {inert(text)}
            </ins>
        }
    };
    Some(match mark {
        Mark::Same => return None,
        Mark::Added => view! { <span class="tree-mark">"added"</span> }.into_any(),
        Mark::Removed => view! { <span class="tree-mark">"removed"</span> }.into_any(),
        Mark::Inside => view! {
            <span class="tree-mark dot" title="changed inside">
                <span class="visually-hidden">{"changed inside"}</span>
            </span>
        }
        .into_any(),
        Mark::Changed { was } => {
            // A longer value gets a line of its own.
            let class = match was.len() {
                ..=16 => "tree-mark",
                _ => "tree-mark past",
            };
            view! { <span class=class>{"changed, was "} {removed(was)}</span> }.into_any()
        }
        Mark::Edited {
            removed: less,
            added: new,
        } => {
            let less = (!less.is_empty()).then(|| (", less ", removed(less)));
            let new = (!new.is_empty()).then(|| (", new ", added(new)));
            view! { <span class="tree-mark past">{"changed"} {less} {new}</span> }.into_any()
        }
    })
}
