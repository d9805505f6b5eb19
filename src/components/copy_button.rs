//! A button that copies a text, and says that it did.

use leptos::prelude::*;

use super::erased::{self, pointed, pressed};
use super::icon::{Glyph, Icon};
use crate::shell;

/// What became of the last copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    NotYet,
    Yes,
    /// The browser refused.
    No,
}

/// Copies a text, which is asked for only when it is needed.
#[component]
pub fn CopyButton(
    /// Gives the text.
    #[prop(into)]
    text: Callback<(), String>,
    /// The name of the button.
    #[prop(default = "Copy")]
    label: &'static str,
    /// Whether the name is for screen readers only, and the icon stands alone.
    #[prop(optional)]
    icon_only: bool,
) -> impl IntoView {
    let copied = RwSignal::new(Copied::NotYet);
    let copy = pressed(move |_| {
        let done = Callback::new(move |worked| {
            // The button may be gone by then.
            copied.try_set(if worked { Copied::Yes } else { Copied::No });
        });
        shell::clipboard::copy(text.run(()), done);
    });
    let forget = pointed(move |_| copied.set(Copied::NotYet));
    let glyph = Signal::derive(move || match copied.get() {
        Copied::NotYet => Glyph::Copy,
        Copied::Yes => Glyph::Check,
        Copied::No => Glyph::Warning,
    });
    let words = erased::label(move || match copied.get() {
        Copied::NotYet => "",
        Copied::Yes => "Copied",
        Copied::No => "Not copied: the browser refused",
    });
    view! {
        <button
            type="button"
            class="quiet small copy-button"
            title=icon_only.then_some(label)
            on:click=copy
            on:pointerleave=forget
        >
            <Icon glyph />
            <span class:visually-hidden=icon_only>{label}</span>
        </button>
        <span class="copied" aria-live="polite">
            {words}
        </span>
    }
    .into_any()
}
