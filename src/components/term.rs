//! Explanations of words where they appear: a small button that opens their meaning, for mouse, keyboard and touch.
//!
//! Invariants: the browser opens and closes them (`popover`), so Escape and a click elsewhere close them and the focus
//! returns. The button takes no part in the height of a line, so that nothing moves when its code arrives.

use leptos::prelude::*;

use crate::later::Later;
use crate::projection::glossary::{meaning, question};

/// [`Terms`], for callers that cannot wait for its code. The first argument names the place, the second its terms.
pub static TERMS: Later<fn(&'static str, &'static [&'static str]) -> AnyView> = Later::new();

pub(crate) fn install() {
    TERMS.set(|place, terms| view! { <Terms place terms/> }.into_any());
}

/// The button and the meanings.
#[component]
pub fn Terms(
    /// Where it is; there is one such button at each place.
    place: &'static str,
    /// The terms, as the glossary has them.
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
