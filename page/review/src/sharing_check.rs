//! Warns after a copy about sensitive data in the copied text. Copying is one click, so there is no question before it.

use leptos::prelude::*;
use volary_analysis::sensitive::{find, masked_text, summary};

use super::viewer::Viewer;
use volary_ui::CopyButton;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::text::inert;

/// A dismissible warning that a copied text contains sensitive data, with a button that copies a masked version.
#[component]
pub(super) fn CopyNote(viewer: Viewer) -> impl IntoView {
    let words = move || {
        let text = viewer.copied.get().unwrap_or_default();
        let kinds = find(&text).into_iter().map(|one| one.kind);
        format!("The copied text has {}.", summary(kinds))
    };
    let masked = move || masked_text(&viewer.copied.get_untracked().unwrap_or_default());
    view! {
        <Show when=move || viewer.copied.with(Option::is_some)>
            <div class="link-note" role="status" aria-label="Copied text">
                <p>{move || inert(&words())}</p>
                <CopyButton text=masked label="Copy masked"/>
                <button
                    type="button"
                    class="quiet small icon-button"
                    on:click=move |_| viewer.copied.set(None)
                >
                    <NamedIcon glyph=Glyph::Close name="Dismiss"/>
                </button>
            </div>
        </Show>
    }
}
