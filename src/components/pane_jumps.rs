//! Links between the panes. On narrow screens the panes are stacked, and this bar scrolls to each of them.

use leptos::prelude::*;

use crate::shell;

/// Buttons that scroll to a pane. Visible on narrow screens only.
#[component]
pub fn PaneJumps(
    /// The id and the name of each pane.
    panes: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    view! {
        <nav class="pane-jumps" aria-label="Panes">
            {panes
                .iter()
                .map(|(id, name)| {
                    view! {
                        <button type="button" class="pane-jump" on:click=move |_| shell::element::scroll_to_id(id)>
                            {*name}
                        </button>
                    }
                })
                .collect_view()}
        </nav>
    }
}
