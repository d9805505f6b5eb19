//! A message text of any length. In Review it is rendered as Markdown, as terminal output, or as plain text
//! ([`super::read_text`]).

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_core::message::Role;
use volary_view::ansi::is_for_terminals;
use volary_view::text::cut_at;

use super::context::{FoldKey, TranscriptContext};
use crate::text::folded_text;

/// How a text is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Plain,
    /// Markdown, unless the user switched it off.
    Prose,
    /// Terminal output with colours.
    Terminal,
}

/// Chooses the rendering of a message text. People and models write Markdown; tool output and text laid out with spaces
/// are not Markdown.
pub(super) fn manner(message: &AnyMessage, text: &str) -> Manner {
    if is_for_terminals(text) {
        return Manner::Terminal;
    }
    match message {
        AnyMessage::Response(_) => Manner::Plain,
        _ if message.role() == Role::Assistant || !is_laid_out(text) => Manner::Prose,
        _ => Manner::Plain,
    }
}

/// Returns whether lines have significant indentation, as in listings and code.
fn is_laid_out(text: &str) -> bool {
    const LOOKED_AT: usize = 20_000;
    const MANY: usize = 4;
    let start = text.get(..cut_at(text, LOOKED_AT)).unwrap_or_default();
    let indented = start.lines().filter(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        let is_list =
            rest.starts_with(['-', '*', '+']) || rest.starts_with(|c: char| c.is_ascii_digit());
        line.len() - rest.len() >= 3 && !rest.is_empty() && !is_list
    });
    indented.take(MANY).count() == MANY
}

/// Renders a text that begins at an offset of its message.
pub(super) fn message_text(
    context: TranscriptContext,
    place: FoldKey,
    text: Text,
    at: usize,
    manner: Manner,
) -> AnyView {
    match context.reading {
        Some(reading) => (reading.views.text)(context, reading, place, text, at, manner),
        None => folded_text(text, context.fold(place)),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;

    use super::*;

    #[test]
    fn tool_output_is_not_rendered_as_markdown() {
        let listing = "def f():\n    a\n    b\n    c\n    d\n";
        let of = |role, text: &str| manner(&Message::new(role, text).into(), text);
        assert_eq!(of(Role::User, listing), Manner::Plain);
        assert_eq!(of(Role::Assistant, listing), Manner::Prose);
        assert_eq!(
            of(Role::User, "1. a\n   - b\n   - c\n   - d\n   - e"),
            Manner::Prose
        );
        assert_eq!(of(Role::User, "\u{1b}[1mx"), Manner::Terminal);
    }
}
