//! Text as terminals show it: with its colours, which are classes of ours.

use super::markup::{El, el};
use super::prose::plain;
use crate::projection::ansi::{Look, stretches};

/// More stretches than this are shown without colours: each takes an element of the page.
const MOST: usize = 4_000;

/// A text with escape sequences, which begins at a character of a longer one.
pub fn terminal(text: &str, at: usize) -> El {
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
        let shown = plain(text.get(range).unwrap_or_default(), at + counted);
        shown.class(class(look)).view()
    });
    el("span").child(drawn.collect::<Vec<_>>())
}

fn class(look: Look) -> Option<String> {
    let (colour, behind) = match look.inverse {
        true => (
            Some(look.behind.unwrap_or(0)),
            Some(look.colour.unwrap_or(7)),
        ),
        false => (look.colour, look.behind),
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
