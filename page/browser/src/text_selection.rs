//! Ranges of text on the page: highlights them without changing the DOM, scrolls to them, and reads the user's
//! selection.

use js_sys::{Array, Function, Map, Reflect};
use volary_view::highlight::{Point, RenderedPiece, Spot, locate};
use wasm_bindgen::prelude::*;
use web_sys::{Element, Node, Range};

/// Highlights ranges under a name that style sheets use (`::highlight(name)`), and removes earlier highlights of
/// that name. Each range comes with the id of the element that holds its text; elements that are not on the page
/// are skipped. Browsers without support for highlights show none.
pub fn mark(name: &str, passages: &[(String, Spot)]) {
    let global = js_sys::global();
    let registry = Reflect::get(&global, &"CSS".into())
        .and_then(|css| Reflect::get(&css, &"highlights".into()));
    let class = Reflect::get(&global, &"Highlight".into());
    let (Ok(registry), Ok(class)) = (registry, class) else {
        return;
    };
    if registry.is_undefined() || !class.is_function() {
        return;
    }
    // The registry has the methods of a `Map`.
    let registry: Map = registry.unchecked_into();
    let ranges: Array = passages
        .iter()
        .filter_map(|(id, spot)| range(id, spot))
        .collect();
    if ranges.length() == 0 {
        registry.delete(&name.into());
        return;
    }
    // Fails only for values that are not ranges.
    if let Ok(marks) = Reflect::construct(class.unchecked_ref::<Function>(), &ranges) {
        registry.set(&name.into(), &marks);
    }
}

/// Scrolls an element so that a range in it is visible. Returns false if the range is not on the page.
pub fn bring_into_sight(id: &str, spot: &Spot, scroller: &Element) -> bool {
    let Some(range) = range(id, spot) else {
        return false;
    };
    let (seen, view) = (
        range.get_bounding_client_rect(),
        scroller.get_bounding_client_rect(),
    );
    if seen.height() == 0.0 {
        return false;
    }
    // Below the sticky head of its step.
    const HEAD: f64 = 64.0;
    if seen.top() < view.top() + HEAD || seen.bottom() > view.bottom() - 24.0 {
        let wanted = seen.top() - view.top() - (view.height() / 3.0).max(HEAD);
        scroller.set_scroll_top(scroller.scroll_top() + wanted.round() as i32);
    }
    true
}

/// The user's selection.
pub struct Selected {
    /// The id of the element that holds the text.
    pub id: String,
    /// The pieces of text that the element shows.
    pub pieces: Vec<RenderedPiece>,
    pub start: Point,
    pub end: Point,
}

/// Returns the selection, if it is within one element whose id has a prefix. A selection that extends further is cut
/// off at the end of its first element.
pub fn selected(id_start: &str) -> Option<Selected> {
    let selection = web_sys::window()?.get_selection().ok()??;
    if selection.is_collapsed() || selection.range_count() == 0 {
        return None;
    }
    let range = selection.get_range_at(0).ok()?;
    let holder = holder_of(&range.start_container().ok()?, id_start)?;
    let shown = shown(&holder);
    let start = point(
        &shown,
        &range.start_container().ok()?,
        range.start_offset().ok()?,
    )?;
    let end_node = range.end_container().ok()?;
    let end = if holder.contains(Some(&end_node)) {
        point(&shown, &end_node, range.end_offset().ok()?)?
    } else {
        last_point(&shown)?
    };
    Some(Selected {
        id: holder.id(),
        pieces: shown.into_iter().map(|(_, piece)| piece).collect(),
        start,
        end,
    })
}

fn holder_of(node: &Node, id_start: &str) -> Option<Element> {
    let element = match node.dyn_ref::<Element>() {
        Some(element) => element.clone(),
        None => node.parent_element()?,
    };
    // The selector is well-formed, as our ids are.
    element.closest(&format!("[id^=\"{id_start}\"]")).ok()?
}

/// The text nodes of an element, in order, without the text of controls.
fn shown(holder: &Element) -> Vec<(Node, RenderedPiece)> {
    let mut found = Vec::new();
    let mut at = None;
    let mut next = holder.first_child();
    // Depth first, without recursion: the DOM may be deep.
    while let Some(node) = next {
        let mut enter = false;
        if let Some(element) = node.dyn_ref::<Element>() {
            if let Some(start) = element.get_attribute("data-at") {
                at = start.parse().ok();
            }
            if element.class_name() == "hidden-character" {
                push(&mut found, element.first_child(), &mut at, true);
            } else {
                enter = element.tag_name() != "BUTTON"
                    && !element.has_attribute("data-skip")
                    && !element.class_name().contains("fold-row");
            }
        } else {
            push(&mut found, Some(node.clone()), &mut at, false);
        }
        next = match node.first_child().filter(|_| enter) {
            Some(child) => Some(child),
            None => following(&node, holder),
        };
    }
    found
}

/// The next node that is not a descendant of this one.
fn following(node: &Node, holder: &Element) -> Option<Node> {
    let mut here = node.clone();
    loop {
        if let Some(sibling) = here.next_sibling() {
            return Some(sibling);
        }
        here = here.parent_node()?;
        if here.is_same_node(Some(holder)) {
            return None;
        }
    }
}

fn push(
    found: &mut Vec<(Node, RenderedPiece)>,
    node: Option<Node>,
    at: &mut Option<usize>,
    is_name: bool,
) {
    let Some(node) = node.filter(|node| node.node_type() == Node::TEXT_NODE) else {
        return;
    };
    let text = node.node_value().unwrap_or_default();
    if text.is_empty() {
        return;
    }
    let length = if is_name { 1 } else { text.chars().count() };
    found.push((
        node,
        RenderedPiece {
            at: *at,
            text,
            is_name,
        },
    ));
    *at = at.map(|at| at + length);
}

fn range(id: &str, spot: &Spot) -> Option<Range> {
    let document = web_sys::window()?.document()?;
    let shown = shown(&document.get_element_by_id(id)?);
    let (nodes, pieces): (Vec<Node>, Vec<RenderedPiece>) = shown.into_iter().unzip();
    let (start, end) = locate(&pieces, spot)?;
    let range = document.create_range().ok()?;
    range
        .set_start(nodes.get(start.piece)?, start.offset)
        .ok()?;
    range.set_end(nodes.get(end.piece)?, end.offset).ok()?;
    Some(range)
}

/// Converts a DOM position (a node and an offset) to a point. Between elements it is the start of the next one.
fn point(shown: &[(Node, RenderedPiece)], node: &Node, offset: u32) -> Option<Point> {
    let here = shown
        .iter()
        .position(|(known, _)| known.is_same_node(Some(node)));
    if let Some(piece) = here {
        return Some(Point { piece, offset });
    }
    // In an element, the offset counts its children. The point is the first text at or after that child.
    let child = node.child_nodes().item(offset);
    let after = shown.iter().position(|(known, _)| match &child {
        Some(child) => {
            child.contains(Some(known))
                || child.compare_document_position(known) & Node::DOCUMENT_POSITION_FOLLOWING != 0
        }
        None => {
            !node.contains(Some(known))
                && node.compare_document_position(known) & Node::DOCUMENT_POSITION_FOLLOWING != 0
        }
    });
    match after {
        Some(piece) => Some(Point { piece, offset: 0 }),
        None => last_point(shown),
    }
}

fn last_point(shown: &[(Node, RenderedPiece)]) -> Option<Point> {
    let (_, last) = shown.last()?;
    Some(Point {
        piece: shown.len() - 1,
        offset: last.text.chars().map(|c| c.len_utf16() as u32).sum(),
    })
}
