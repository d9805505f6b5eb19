//! Says what went wrong, why, and what to do.

use leptos::prelude::*;

use super::erased::{dynamic, pressed};
use super::icon::{Glyph, Icon};
use super::text::inert;
use crate::projection::notice::Notice;

/// Shows a notice until it is dismissed.
#[component]
pub fn AlertBox(
    /// What went wrong; `None` for nothing.
    notice: RwSignal<Option<Notice>>,
) -> impl IntoView {
    dynamic(move || {
        let Some(Notice { what, why, advice }) = notice.get() else {
            return ().into_any();
        };
        let dismiss = pressed(move |_| notice.set(None));
        view! {
            <div class="alert" role="alert">
                <Icon glyph=Glyph::Warning />
                <div class="alert-words">
                    <p class="alert-what">{inert(&what)}</p>
                    <p class="alert-why">{inert(&why)}</p>
                    <p>{inert(&advice)}</p>
                </div>
                <button type="button" class="quiet icon-button" on:click=dismiss>
                    <Icon glyph=Glyph::Close />
                    <span class="visually-hidden">"Dismiss"</span>
                </button>
            </div>
        }
        .into_any()
    })
}
