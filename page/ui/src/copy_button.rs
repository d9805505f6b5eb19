//! A button that copies a text and confirms it.

use std::time::Duration;

use leptos::prelude::*;

use super::icon::{Glyph, Icon};
use volary_browser as browser;

/// How long the confirmation is shown.
const CONFIRMATION: Duration = Duration::from_secs(3);

/// The result of the last copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    NotYet,
    Yes,
    /// The browser blocked clipboard access.
    No,
}

/// Copies a text, which is computed only on a click.
#[component]
pub fn CopyButton(
    /// Computes the text when the button is pressed.
    #[prop(into)]
    text: Callback<(), String>,
    /// The accessible name of the button, which is also its label.
    #[prop(default = "Copy")]
    label: &'static str,
    /// Whether only the icon is visible; the name is then for screen readers only.
    #[prop(optional)]
    icon_only: bool,
) -> impl IntoView {
    let copied = RwSignal::new(Copied::NotYet);
    // Another copy restarts the timer.
    let alarm = StoredValue::new_local(None);
    let copy = move |_| {
        let done = Callback::new(move |worked| {
            // The button may have been removed meanwhile.
            copied.try_set(if worked { Copied::Yes } else { Copied::No });
            let forget = move || {
                copied.try_set(Copied::NotYet);
            };
            alarm.try_set_value(Some(browser::timers::alarm(CONFIRMATION, forget)));
        });
        browser::clipboard::copy(text.run(()), done);
    };
    let confirmation = move || match copied.get() {
        Copied::NotYet => "",
        Copied::Yes => "Copied",
        Copied::No => "Copy failed: the browser blocked it",
    };
    let glyph = move || match copied.get() {
        Copied::NotYet => Glyph::Copy,
        Copied::Yes => Glyph::Check,
        Copied::No => Glyph::Warning,
    };
    let name = if icon_only {
        view! { <span class="visually-hidden">{label}</span> }.into_any()
    } else {
        label.into_any()
    };
    view! {
        <button
            type="button"
            class="quiet small copy-button"
            title=icon_only.then_some(label)
            on:click=copy
        >
            {move || view! { <Icon glyph=glyph()/> }}
            {name}
        </button>
        <span class="copied" aria-live="polite">
            {confirmation}
        </span>
    }
}
