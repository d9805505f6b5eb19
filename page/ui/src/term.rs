//! Explanations of terms where they appear: a small button that opens a popover, for mouse, keyboard and touch.
//!
//! Invariants: the browser opens and closes the popover (`popover`), so that Escape and a click elsewhere close it and
//! the focus returns. The button does not contribute to the height of its line, so that nothing moves when its code is
//! loaded.

use leptos::prelude::*;
use volary_view::glossary::{meaning, question};

use crate::later::Later;

/// Slot for [`Terms`], for callers that cannot wait for its code. The first argument names the place, the second its
/// terms.
pub static TERMS: Later<fn(&'static str, &'static [&'static str]) -> AnyView> = Later::new();

pub(crate) fn install() {
    TERMS.set(|place, terms| view! { <Terms place terms/> }.into_any());
}

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
