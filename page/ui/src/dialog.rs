//! A modal dialog based on the `<dialog>` element, which traps the focus and restores it.

use leptos::html;
use leptos::prelude::*;

use super::icon::{Glyph, NamedIcon};
use volary_browser as browser;

/// A dialog with a title and a close button.
#[component]
pub fn Dialog(
    /// Whether the dialog is shown. Closing the dialog sets it to `false`.
    open: RwSignal<bool>,
    #[prop(into)] title: String,
    children: Children,
) -> impl IntoView {
    let reference = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let open = open.get();
        if let Some(dialog) = reference.get() {
            browser::element::show_dialog(&dialog, open);
        }
    });
    let heading = title.clone();
    view! {
        <dialog
            class="dialog"
            aria-label=title
            node_ref=reference
            on:close=move |_| open.set(false)
        >
            <header class="dialog-head">
                <h2>{heading}</h2>
                <button type="button" class="quiet icon-button" on:click=move |_| open.set(false)>
                    <NamedIcon glyph=Glyph::Close name="Close"/>
                </button>
            </header>
            <div class="dialog-body">{children()}</div>
        </dialog>
    }
}
