//! JSON values as coloured text.

use leptos::prelude::*;
use volary_core::Json;
use volary_core::json::Text;

use super::erased::dynamic;
use super::text::{Fold, FoldedText, fold_controls, inert, is_folded};
use crate::projection::pretty::{Token, TokenKind, pretty};
use crate::projection::size_text;

/// A folded value shows so many lines.
const PREVIEW_LINES: usize = 20;
/// A value of more lines than this is shown as plain text once unfolded: colours are elements.
const COLOURED_LINES: usize = 600;

/// The class of a colour.
pub(super) const fn token_class(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Plain => "token",
        TokenKind::Key => "token key",
        TokenKind::Text => "token string",
        TokenKind::Number => "token number",
        TokenKind::Word => "token word",
    }
}

fn coloured(tokens: Vec<Token>) -> AnyView {
    tokens
        .into_iter()
        .map(|Token { kind, text }| match kind {
            TokenKind::Plain => text.into_any(),
            kind => view! { <span class=token_class(kind)>{inert(&text)}</span> }.into_any(),
        })
        .collect_view()
        .into_any()
}

/// A JSON value of any size. A long one is folded.
#[component]
pub fn JsonText(
    /// The value.
    value: Json,
    /// How much of it is shown; kept by the caller, so that it outlives the element.
    #[prop(optional)]
    fold: Option<RwSignal<Fold>>,
) -> impl IntoView {
    let preview = pretty(&value, PREVIEW_LINES);
    if !preview.cut {
        return view! { <div class="text json" dir="ltr">{coloured(preview.tokens)}</div> }
            .into_any();
    }
    let fold = fold.unwrap_or_default();
    let whole = pretty(&value, COLOURED_LINES);
    if whole.cut {
        let whole: String = pretty(&value, usize::MAX)
            .tokens
            .into_iter()
            .map(|token| token.text)
            .collect();
        return view! { <FoldedText text=Text::from(whole) fold /> }.into_any();
    }
    let size = size_text(whole.tokens.iter().map(|token| token.text.len()).sum());
    let tokens = StoredValue::new((preview.tokens, whole.tokens));
    let shown = dynamic(move || {
        let open = fold.get() != Fold::Preview;
        coloured(tokens.with_value(|(preview, whole)| if open { whole } else { preview }.clone()))
    });
    view! {
        <div class="text json" class:folded=is_folded(fold) dir="ltr">
            {shown}
        </div>
        {fold_controls(fold, 1, size)}
    }
    .into_any()
}
