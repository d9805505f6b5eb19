//! The price table of the person: the built-in one until it is changed, then theirs.

use leptos::prelude::*;
use volary_agent::model::price::Prices;
use volary_core::json;

use crate::shell::storage::{self, Keep};

/// Under this name the table is stored, once it was changed.
const NAME: &str = "prices";

thread_local! {
    // Lives as long as the page, whatever part of it asked first.
    static STATE: ArcRwSignal<Prices> = ArcRwSignal::new(stored().unwrap_or_default());
}

fn stored() -> Option<Prices> {
    let text = storage::get(Keep::Always, NAME)?;
    Some(Prices::read(&json::read(&text).ok()?))
}

/// Looks at the prices. Tracks changes.
pub fn read<T>(look: impl FnOnce(&Prices) -> T) -> T {
    STATE.with(ArcRwSignal::clone).with(look)
}

/// Changes the prices.
pub fn change(act: impl FnOnce(&mut Prices)) {
    let state = STATE.with(ArcRwSignal::clone);
    let mut changed = state.get_untracked();
    act(&mut changed);
    storage::set(Keep::Always, NAME, &changed.to_json().to_compact_text());
    state.set(changed);
}

/// Goes back to the built-in table.
pub fn restore() {
    storage::remove(Keep::Always, NAME);
    STATE.with(ArcRwSignal::clone).set(Prices::default());
}
