//! A button that copies a text and confirms it.

use std::time::Duration;

use leptos::prelude::*;

use super::erased::{dynamic, words};
use super::icon::{Glyph, hidden_name, icon};
use super::markup::{all, button, el};
use crate::browser;

/// How long the confirmation is shown.
const SAID: Duration = Duration::from_secs(3);

/// The result of the last copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    NotYet,
    Yes,
    /// The browser blocked it.
    No,
}

/// Copies a text, which is computed only on a click.
#[component]
pub fn CopyButton(
    /// Computes the text.
    #[prop(into)]
    text: Callback<(), String>,
    /// The name of the button.
    #[prop(default = "Copy")]
    label: &'static str,
    /// Whether only the icon is visible and the name is for screen readers.
    #[prop(optional)]
    icon_only: bool,
) -> impl IntoView {
    copy_button(text, label, icon_only)
}

/// Copies a text, which is computed only on a click.
pub fn copy_button(text: Callback<(), String>, label: &'static str, icon_only: bool) -> AnyView {
    let copied = RwSignal::new(Copied::NotYet);
    // Another copy restarts the timer.
    let said = StoredValue::new_local(None);
    let copy = move || {
        let done = Callback::new(move |worked| {
            // The button may have been removed meanwhile.
            copied.try_set(if worked { Copied::Yes } else { Copied::No });
            let forget = move || {
                copied.try_set(Copied::NotYet);
            };
            said.try_set_value(Some(browser::timers::alarm(SAID, forget)));
        });
        browser::clipboard::copy(text.run(()), done);
    };
    let glyph = dynamic(move || {
        icon(match copied.get() {
            Copied::NotYet => Glyph::Copy,
            Copied::Yes => Glyph::Check,
            Copied::No => Glyph::Warning,
        })
    });
    let words = words(move || {
        let said = match copied.get() {
            Copied::NotYet => "",
            Copied::Yes => "Copied",
            Copied::No => "Copy failed: the browser blocked it",
        };
        said.to_owned()
    });
    let name = match icon_only {
        true => hidden_name(label),
        false => label.into_any(),
    };
    all(vec![
        button("quiet small copy-button")
            .attr("title", icon_only.then_some(label))
            .on_click(copy)
            .child(glyph)
            .child(name)
            .view(),
        el("span")
            .class("copied")
            .attr("aria-live", "polite")
            .child(words)
            .view(),
    ])
}
