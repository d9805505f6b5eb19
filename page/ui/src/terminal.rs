//! Terminal output. Its colours are classes of the style sheet.

use leptos::prelude::*;
use volary_view::ansi::{TextStyle, stretches};

use super::prose::plain;
use super::text::inert;

/// Maximum number of coloured runs. A text with more runs is shown without colours, because each run is an element.
const MOST: usize = 4_000;

/// Renders a text with escape sequences that begins at an offset, in characters, of a longer text.
pub fn terminal(text: &str, at: usize) -> AnyView {
    let found = stretches(text);
    if found.len() > MOST {
        return plain(text, at);
    }
    let (mut counted, mut byte) = (0, 0);
    let drawn = found.into_iter().map(|(range, look)| {
        counted += text
            .get(byte..range.start)
            .unwrap_or_default()
            .chars()
            .count();
        byte = range.start;
        let shown = inert(text.get(range).unwrap_or_default());
        view! { <span class=class(look) data-at=(at + counted).to_string()>{shown}</span> }
    });
    view! { <span>{drawn.collect_view()}</span> }.into_any()
}

fn class(look: TextStyle) -> Option<String> {
    let (colour, behind) = if look.inverse {
        (
            Some(look.behind.unwrap_or(0)),
            Some(look.colour.unwrap_or(7)),
        )
    } else {
        (look.colour, look.behind)
    };
    let mut classes: Vec<String> = Vec::new();
    classes.extend(colour.map(|colour| format!("ink-{colour}")));
    classes.extend(behind.map(|colour| format!("ground-{colour}")));
    let weights = [
        (look.bold, "ink-bold"),
        (look.faint, "ink-faint"),
        (look.italic, "ink-italic"),
        (look.underlined, "ink-underlined"),
        (look.struck, "ink-struck"),
    ];
    let weights = weights.into_iter().filter(|(is_so, _)| *is_so);
    classes.extend(weights.map(|(_, class)| class.to_owned()));
    (!classes.is_empty()).then(|| classes.join(" "))
}
