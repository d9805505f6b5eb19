//! A message text in Review, rendered as Markdown, as terminal output, or as plain text. A long one is collapsed and shows
//! its size.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_view::text::{part, part_count, preview_end};

use super::context::{FoldKey, TranscriptContext};
use super::message_text::Manner;
use super::reading::ReadingOptions;
use crate::prose::{plain, prose_view};
use crate::terminal::terminal;
use crate::text::{Fold, FoldControls, fold_class};
use crate::transient_memo::transient_memo;

/// Renders a text that begins at an offset of its message.
pub(super) fn read_text(
    context: TranscriptContext,
    reading: ReadingOptions,
    place: FoldKey,
    text: Text,
    at: usize,
    manner: Manner,
) -> AnyView {
    let fold = context.fold(place);
    let is_prose = transient_memo(move |_| manner == Manner::Prose && reading.formatted.get());
    let draw = move |text: &str, at: usize| -> AnyView {
        match manner {
            Manner::Terminal => terminal(text, at),
            Manner::Prose if is_prose.get() => prose_view(text, at),
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
