//! An alert that states what went wrong, why, and what to do.

use leptos::prelude::*;
use volary_app::notice::Notice;

use super::icon::{Glyph, Icon, NamedIcon};
use super::text::inert;

/// Shows a notice until it is dismissed.
#[component]
pub fn AlertBox(
    /// The notice; the box is empty if it is `None`.
    notice: RwSignal<Option<Notice>>,
) -> impl IntoView {
    move || {
        notice.get().map(|Notice { what, why, advice }| {
            view! {
                <div class="alert" role="alert">
                    <Icon glyph=Glyph::Warning/>
                    <AlertWords what why advice/>
                    <button
                        type="button"
                        class="quiet icon-button"
                        on:click=move |_| notice.set(None)
                    >
                        <NamedIcon glyph=Glyph::Close name="Dismiss"/>
                    </button>
                </div>
            }
        })
    }
}

/// The three texts of a notice, laid out as in any alert.
#[component]
pub fn AlertWords(
    /// The failure, as a sentence.
    #[prop(into)]
    what: String,
    #[prop(into)] why: String,
    /// What the user can do about it.
    #[prop(into)]
    advice: String,
    /// Additional content below the texts.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="alert-words">
            <p class="alert-what" dir="auto">{inert(&what)}</p>
            <p class="alert-why" dir="auto">{inert(&why)}</p>
            <p class="alert-advice" dir="auto">{inert(&advice)}</p>
            {children.map(|children| children())}
        </div>
    }
}
