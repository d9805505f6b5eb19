//! A text that grows while it is shown. Only new text is appended to the DOM, and complete lines get elements of their
//! own, so that appending to a long response costs no more than to a short one.

use leptos::html;
use leptos::prelude::*;
use volary_view::text::{TextPiece, pieces};

use volary_browser as browser;

/// A growing text. `rest` returns the text from a byte offset and tracks the signals that it reads. The view follows
/// the end of the text unless the user scrolled up.
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
    let reference = NodeRef::<html::Div>::new();
    let shown = StoredValue::new(0_usize);
    Effect::new(move |_| {
        let Some(element) = reference.get() else {
            return;
        };
        let more = rest(shown.get_value());
        if !more.is_empty() {
            shown.update_value(|shown| *shown += more.len());
            browser::element::append_text(&element, &legible(&more));
        }
    });
    // Scrollable elements must be reachable by keyboard.
    let scrolls = label.is_some().then_some("0");
    view! {
        <div
            class=class
            dir="auto"
            role=label.map(|_| "group")
            aria-label=label
            tabindex=scrolls
            node_ref=reference
        ></div>
    }
    .into_any()
}

/// Replaces invisible characters with their names.
fn legible(text: &str) -> String {
    let pieces = pieces(text);
    let mut legible = String::with_capacity(text.len());
    for piece in &pieces {
        match piece {
            TextPiece::Plain(plain) => legible.push_str(plain),
            TextPiece::Hidden { mark, .. } => legible.push_str(mark),
        }
    }
    legible
}
