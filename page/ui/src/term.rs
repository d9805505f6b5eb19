//! Explanations of terms where they appear: a small button that opens a popover, for mouse, keyboard and touch.
//!
//! Invariants: the browser opens and closes the popover (`popover`), so that Escape and a click elsewhere close it and
//! the focus returns.

use leptos::prelude::*;
use volary_view::glossary::{meaning, question};

/// The button and the popover with the explanations.
#[component]
pub fn Terms(
    /// The place of the button, which is unique on the page.
    place: &'static str,
    /// The terms, spelled as in the glossary.
    terms: &'static [&'static str],
) -> impl IntoView {
    let id = format!("terms-{place}");
    let meanings = terms.iter().map(|term| {
        view! {
            <span>
                <strong>{*term}</strong>
                {format!(": {}", meaning(term))}
            </span>
        }
    });
    view! {
        <span class="terms">
            <button
                type="button"
                class="terms-button"
                aria-label=question(terms)
                popovertarget=id.clone()
            >
                {"?"}
            </button>
            <span class="terms-meaning" id=id popover="auto">
                {meanings.collect_view()}
            </span>
        </span>
    }
}
