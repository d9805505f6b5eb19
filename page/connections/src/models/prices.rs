//! The price table: the built-in one until the user changes it.

use leptos::prelude::*;
use volary_agent::model::price::Prices;
use volary_agent::model::{Connection, Usage};
use volary_core::json;

use volary_browser::shared::{Shared, Unsaved};

thread_local! {
    // Stored only after a change.
    static STATE: Shared<Prices> = Shared::new(
        "prices",
        |text| Some(Prices::read(&json::read(text).ok()?)),
        |prices| prices.to_json().to_compact_text(),
        |_| {},
    );
}

/// Reads the prices. Tracks changes.
pub fn read<T>(look: impl FnOnce(&Prices) -> T) -> T {
    STATE.with(Shared::signal).with(look)
}

/// Whether the cost of a response will be known, from the table or from the provider.
pub fn has_price(connection: &Connection) -> bool {
    let preset = connection.preset();
    // A model in the browser costs nothing, and says so.
    !connection.kind.has_server()
        || preset.is_some_and(|preset| preset.name == "OpenRouter")
        || untrack(|| read(|prices| prices.cost(&connection.model, &Usage::default()).is_some()))
}

/// Changes the prices, in all tabs.
pub fn change(act: impl FnOnce(&mut Prices)) {
    STATE.with(|state| state.change(act));
}

/// Whether changes of the prices are only in memory.
pub fn unsaved() -> Unsaved {
    STATE.with(Shared::unsaved)
}

/// Restores the built-in table.
pub fn restore() {
    STATE.with(Shared::reset);
}
