//! Alerts: what went wrong, why, and what to do.

use leptos::prelude::*;

use super::icon::{Glyph, Icon, NamedIcon};
use super::markup::{El, el};
use super::text::inert_in;
use crate::projection::notice::Notice;

/// Shows a notice until it is dismissed.
#[component]
pub fn AlertBox(
    /// What went wrong; `None` shows nothing.
    notice: RwSignal<Option<Notice>>,
) -> impl IntoView {
    move || {
        notice.get().map(|Notice { what, why, advice }| {
            view! {
                <div class="alert" role="alert">
                    <Icon glyph=Glyph::Warning/>
                    {alert_words(&what, &why, &advice).view()}
                    <button type="button" class="quiet icon-button" on:click=move |_| notice.set(None)>
                        <NamedIcon glyph=Glyph::Close name="Dismiss"/>
                    </button>
                </div>
            }
        })
    }
}

/// The three sentences of an alert.
pub fn alert_words(what: &str, why: &str, advice: &str) -> El {
    el("div")
        .class("alert-words")
        .child(inert_in("p", "alert-what", what))
        .child(inert_in("p", "alert-why", why))
        .child(inert_in("p", "alert-advice", advice))
}
