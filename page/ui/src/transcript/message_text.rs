//! A message text of any length, rendered as Markdown, as terminal output, or as plain text. A long one is collapsed
//! and shows its size.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_core::message::Role;
use volary_core::quantity::size_text;
use volary_view::ansi::is_for_terminals;
use volary_view::text::{cut_at, part, part_count, preview_end};

use super::context::{FoldKey, TranscriptContext};
use crate::prose::{PROSE, plain};
use crate::terminal::terminal;
use crate::text::{Fold, FoldControls, fold_class, folded_text};
use crate::transient_memo::transient_memo;

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
    let fold = context.fold(place);
    let Some(reading) = context.reading else {
        return folded_text(text, fold);
    };
    let is_prose = transient_memo(move |_| manner == Manner::Prose && reading.formatted.get());
    let draw = move |text: &str, at: usize| -> AnyView {
        match manner {
            Manner::Terminal => terminal(text, at),
            Manner::Prose if is_prose.get() => PROSE.get().unwrap_or(plain)(text, at),
            Manner::Plain | Manner::Prose => plain(text, at),
        }
    };
    let Some(preview) = preview_end(&text) else {
        let body = match manner {
            Manner::Prose => (move || draw(&text, at)).into_any(),
            Manner::Plain | Manner::Terminal => draw(&text, at),
        };
        return view! { <div class="text" dir="auto">{body}</div> }.into_any();
    };
    let (size, parts) = (size_text(text.len() as u64), part_count(&text));
    let slice = move || {
        let range = match fold.get() {
            Fold::Preview => 0..preview,
            Fold::Open(number) => part(&text, number),
        };
        let before = text.get(..range.start).unwrap_or_default().chars().count();
        draw(text.get(range).unwrap_or_default(), at + before)
    };
    view! {
        <div class=fold_class("text", fold) dir="auto">{slice}</div>
        <FoldControls fold parts size/>
    }
    .into_any()
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
