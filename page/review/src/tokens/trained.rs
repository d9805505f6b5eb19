//! What was trained on, as text.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::tokens::{TrainedPiece, gap_text, joined, trained_text};
use volary_core::json::Text;

use super::Tokens;
use super::vocabulary::Texts;
use volary_connections::tokenizer;
use volary_ui::CopyButton;
use volary_ui::text::{Fold, folded_text, inert};

/// Longer texts are shown as one text that can be unfolded.
const MOST_PIECES: usize = 200;
/// The maximum number of bytes of a text that is shown in pieces.
const LONGEST: usize = 20_000;

/// The pieces, or why there are none.
type Trained = Result<Arc<Vec<TrainedPiece>>, &'static str>;

#[component]
pub(super) fn TrainedText(tokens: Tokens) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let pieces = Memo::new(move |_| trained(tokens));
    let body = move || match pieces.get() {
        Err(reason) => view! { <p class="help">{reason}</p> }.into_any(),
        Ok(pieces) => {
            let text = {
                let pieces = Arc::clone(&pieces);
                move || joined(&pieces)
            };
            view! {
                <CopyButton text=move || text() label="Copy trained text"/>
                {drawn(&pieces)}
            }
            .into_any()
        }
    };
    view! {
        <section aria-labelledby="token-trained">
            <div class="pane-head">
                <h2 id="token-trained">{"Trained text"}</h2>
                <button
                    type="button"
                    class="small"
                    aria-expanded=move || is_open.get().to_string()
                    on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
                >
                    {move || if is_open.get() { "Hide trained text" } else { "Show trained text" }}
                </button>
            </div>
            <Show when=move || is_open.get()>{body}</Show>
        </section>
    }
}

fn trained(tokens: Tokens) -> Trained {
    let record = tokens.known().ok_or("There are no tokens.")?;
    if !record.is_mask_known {
        return Err("The file does not say which tokens are trained.");
    }
    let given = tokenizer::given().ok_or("Open the model's tokenizer file to see this text.")?;
    let pieces = trained_text(&record, &Texts(given));
    pieces
        .map(Arc::new)
        .ok_or("The tokenizer lacks a trained token. It seems to be another model's.")
}

fn drawn(pieces: &[TrainedPiece]) -> AnyView {
    let length: usize = pieces
        .iter()
        .map(|piece| match piece {
            TrainedPiece::Text { text, .. } => text.len(),
            TrainedPiece::Gap(_) => 0,
        })
        .sum();
    if pieces.len() > MOST_PIECES || length > LONGEST {
        return folded_text(Text::from(joined(pieces)), RwSignal::new(Fold::Preview));
    }
    let pieces = pieces.iter().map(|piece| match piece {
        TrainedPiece::Text { text, .. } => {
            view! { <span class="trained-piece">{inert(text)}</span> }.into_any()
        }
        TrainedPiece::Gap(range) => {
            view! { <span class="trained-gap">{gap_text(range.len())}</span> }.into_any()
        }
    });
    view! {
        <div class="text trained-text" dir="auto">
            {pieces.collect_view()}
        </div>
    }
    .into_any()
}
