//! JSON values as syntax-highlighted text.

use leptos::prelude::*;
use volary_core::Json;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_view::pretty::{Token, TokenKind, pretty};

use super::text::{Fold, FoldControls, fold_class, folded_text, inert};

/// The number of lines shown of a collapsed value.
const PREVIEW_LINES: usize = 20;
/// Maximum number of highlighted lines. Longer values are shown as plain text when expanded, because each colour is an
/// element.
const COLOURED_LINES: usize = 600;

/// The CSS class of a token.
pub(super) const fn token_class(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Plain => "token",
        TokenKind::Key => "token key",
        TokenKind::Text => "token string",
        TokenKind::Number => "token number",
        TokenKind::Word => "token word",
    }
}

fn coloured(tokens: &[Token]) -> AnyView {
    let views = tokens.iter().map(|Token { kind, text }| match kind {
        TokenKind::Plain => text.clone().into_any(),
        kind => view! { <span class=token_class(*kind)>{inert(text)}</span> }.into_any(),
    });
    views.collect_view().into_any()
}

/// A JSON value of any size. A long one is collapsed; the caller owns the fold, which outlives the element.
pub fn json_text(value: &Json, fold: RwSignal<Fold>) -> AnyView {
    let preview = pretty(value, PREVIEW_LINES);
    if !preview.cut {
        let tokens = coloured(&preview.tokens);
        return view! { <div class="text json" dir="ltr">{tokens}</div> }.into_any();
    }
    let whole = pretty(value, COLOURED_LINES);
    if whole.cut {
        let whole: String = pretty(value, usize::MAX)
            .tokens
            .into_iter()
            .map(|token| token.text)
            .collect();
        return folded_text(Text::from(whole), fold);
    }
    let bytes: usize = whole.tokens.iter().map(|token| token.text.len()).sum();
    let size = size_text(bytes as u64);
    let tokens = move || match fold.get() {
        Fold::Preview => coloured(&preview.tokens),
        Fold::Open(_) => coloured(&whole.tokens),
    };
    view! {
        <div class=fold_class("text json", fold) dir="ltr">{tokens}</div>
        <FoldControls fold parts=1 size/>
    }
    .into_any()
}
