//! A text that grows while it is read. Only what is new is put on the page, whole lines in elements of their own,
//! so that a long answer costs no more to draw than a short one.

use leptos::prelude::*;

use super::erased::watch;
use super::markup::{ElementRef, el};
use crate::browser;
use crate::projection::text::{Piece, pieces};

/// A text that grows. `rest` gives what follows after so many bytes, and tracks what it reads. It scrolls along
/// at its end, unless the reader scrolled up.
pub fn growing_text(
    class: &'static str,
    label: Option<&'static str>,
    rest: impl Fn(usize) -> String + 'static,
) -> AnyView {
    growing_boxed(class, label, Box::new(rest))
}

fn growing_boxed(
    class: &'static str,
    label: Option<&'static str>,
    rest: Box<dyn Fn(usize) -> String>,
) -> AnyView {
    let reference = ElementRef::new();
    let shown = StoredValue::new(0_usize);
    watch(move || {
        let Some(element) = reference.get() else {
            return;
        };
        let more = rest(shown.get_value());
        if !more.is_empty() {
            shown.update_value(|shown| *shown += more.len());
            browser::element::append_text(&element, &legible(&more));
        }
    });
    // What scrolls must be reachable by keyboard.
    let scrolls = label.is_some().then_some("0");
    el("div")
        .class(class)
        .attr("dir", "auto")
        .attr("role", label.map(|_| "group"))
        .attr("aria-label", label)
        .attr("tabindex", scrolls)
        .element_ref(reference)
        .view()
}

/// The text with all characters by name that nobody could see.
fn legible(text: &str) -> String {
    let pieces = pieces(text);
    let mut legible = String::with_capacity(text.len());
    for piece in &pieces {
        match piece {
            Piece::Plain(plain) => legible.push_str(plain),
            Piece::Hidden { mark, .. } => legible.push_str(mark),
        }
    }
    legible
}
