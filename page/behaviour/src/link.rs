//! What the table needs of the panel of behaviour. It is small, because it is loaded with the table.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_analysis::table::narrowing::Narrowing;
use volary_app::behaviour::RowNarrowing;
use volary_core::json::Text;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::text::inert;

/// What the table and the panel share.
#[derive(Clone, Copy)]
pub struct BehaviourLink {
    /// Whether the panel is shown.
    pub is_open: RwSignal<bool>,
    /// The rows to which the table is narrowed.
    pub narrowed: RwSignal<Option<RowNarrowing>>,
    /// What the address narrows the table to, until it is found.
    pub wanted: RwSignal<Option<Narrowing>>,
    /// The cluster of each row, by id.
    pub clusters: RwSignal<Arc<HashMap<Text, Text>>>,
}

impl BehaviourLink {
    /// Nothing is shown or narrowed.
    pub fn new() -> BehaviourLink {
        BehaviourLink {
            is_open: RwSignal::new(false),
            narrowed: RwSignal::new(None),
            wanted: RwSignal::new(None),
            clusters: RwSignal::default(),
        }
    }

    /// What the table is narrowed to, for the address.
    pub fn named(self) -> Option<Narrowing> {
        let named = self
            .narrowed
            .with(|narrowed| narrowed.as_ref().map(|narrowed| narrowed.named.clone()));
        named.unwrap_or_else(|| self.wanted.get())
    }

    /// Narrows the table to what an address names, once the panel has found it.
    pub fn restore(self, named: Option<Narrowing>) {
        if untrack(|| self.named()) != named {
            self.narrowed.set(None);
            self.wanted.set(named);
        }
    }

    /// Shows all rows again.
    fn show_all(self) {
        self.narrowed.set(None);
        self.wanted.set(None);
    }

    /// The ids to which the table is narrowed.
    pub fn only(self) -> Option<impl Fn(&Row) -> bool> {
        let ids = self
            .narrowed
            .with(|narrowed| narrowed.as_ref().map(|narrowed| Arc::clone(&narrowed.ids)));
        ids.map(|ids| move |row: &Row| ids.contains(&row.id))
    }
}

impl Default for BehaviourLink {
    fn default() -> Self {
        BehaviourLink::new()
    }
}

/// What the table is narrowed to, with a button that shows all rows again.
#[component]
pub fn NarrowingChip(link: BehaviourLink) -> impl IntoView {
    move || {
        let label = link
            .narrowed
            .with(|narrowed| narrowed.as_ref().map(|narrowed| narrowed.label.clone()));
        let is_wanted = link.wanted.with(Option::is_some);
        let label = label.or_else(|| is_wanted.then(|| "Looking for its rows…".to_owned()))?;
        Some(view! {
            <ul class="chips" aria-label="Behaviour">
                <li class="chip">
                    <span dir="auto">{inert(&label)}</span>
                    <button
                        type="button"
                        class="quiet icon-button small"
                        on:click=move |_| link.show_all()
                    >
                        <NamedIcon glyph=Glyph::Close name="Show all rows"/>
                    </button>
                </li>
            </ul>
        })
    }
}

/// The button that shows or hides the panel.
#[component]
pub fn BehaviourButton(link: BehaviourLink) -> impl IntoView {
    view! {
        <button
            type="button"
            aria-pressed=move || link.is_open.get().to_string()
            on:click=move |_| link.is_open.update(|is_open| *is_open = !*is_open)
        >
            {"Behaviour"}
        </button>
    }
}
