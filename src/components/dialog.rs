//! A dialog above the page: the browser's own, which keeps the focus inside and gives it back.

use leptos::html;
use leptos::prelude::*;

use super::erased::{changed, pressed, watch};
use super::icon::{Glyph, Icon};
use crate::shell;

/// A dialog with a title and a close button.
#[component]
pub fn Dialog(
    /// Whether it is shown.
    open: RwSignal<bool>,
    /// The title.
    #[prop(into)]
    title: String,
    /// What stands in it.
    children: Children,
) -> impl IntoView {
    let label = title.clone();
    let dialog = NodeRef::<html::Dialog>::new();
    watch(move || {
        let open = open.get();
        if let Some(dialog) = dialog.get() {
            if open {
                shell::element::show_dialog(&dialog);
            } else {
                shell::element::close_dialog(&dialog);
            }
        }
    });
    let close = pressed(move |_| open.set(false));
    let closed = changed(move |_| open.set(false));
    view! {
        <dialog class="dialog" node_ref=dialog aria-label=label on:close=closed>
            <header class="dialog-head">
                <h2>{title}</h2>
                <button type="button" class="quiet icon-button" on:click=close>
                    <Icon glyph=Glyph::Close />
                    <span class="visually-hidden">"Close"</span>
                </button>
            </header>
            <div class="dialog-body">{children()}</div>
        </dialog>
    }
    .into_any()
}
