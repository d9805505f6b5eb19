//! A button that copies a text and confirms it.

use std::time::Duration;

use leptos::prelude::*;

use super::icon::{Glyph, Icon};
use crate::shell;

/// How long the confirmation is shown.
const CONFIRMATION: Duration = Duration::from_secs(3);

/// The result of the last copy.
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
    // A second copy restarts the time.
    let alarm = StoredValue::new_local(None);
    let copy = move |_| {
        let done = Callback::new(move |worked| {
            // The button may be gone by then.
            copied.try_set(if worked { Copied::Yes } else { Copied::No });
            let forget = move || {
                copied.try_set(Copied::NotYet);
            };
            alarm.try_set_value(Some(shell::timers::alarm(CONFIRMATION, forget)));
        });
        shell::clipboard::copy(text.run(()), done);
    };
    let words = move || match copied.get() {
        Copied::NotYet => "",
        Copied::Yes => "Copied",
        Copied::No => "Not copied: the browser refused",
    };
    let glyph = move || match copied.get() {
        Copied::NotYet => Glyph::Copy,
        Copied::Yes => Glyph::Check,
        Copied::No => Glyph::Warning,
    };
    view! {
        <button type="button" class="quiet small copy-button" title=icon_only.then_some(label) on:click=copy>
            {move || view! { <Icon glyph=glyph()/> }}
            <span class:visually-hidden=icon_only>{label}</span>
        </button>
        <span class="copied" aria-live="polite">
            {words}
        </span>
    }
}

/// [`CopyButton`] for callers that build their views without `view!`.
pub fn copy_button(text: Callback<(), String>, label: &'static str, icon_only: bool) -> AnyView {
    view! { <CopyButton text label icon_only/> }.into_any()
}
