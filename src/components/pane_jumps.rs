//! On narrow screens the panes stand below each other; this bar leads to each of them.

use leptos::prelude::*;

use super::erased::pressed;
use crate::shell;

/// Buttons that scroll to a pane. Seen on narrow screens only.
#[component]
pub fn PaneJumps(
    /// The id and the name of each pane.
    panes: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let jumps = panes
        .iter()
        .map(|(id, name)| {
            let jump = pressed(move |_| shell::element::scroll_to_id(id));
            view! {
                <button type="button" on:click=jump>
                    {*name}
                </button>
            }
        })
        .collect_view();
    view! {
        <nav class="pane-jumps" aria-label="Panes">
            {jumps}
        </nav>
    }
    .into_any()
}
