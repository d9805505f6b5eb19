//! The built-in environments, for a view without the playground: no servers, no code of the user, nothing stored.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::playground::{Event, tasks};

use super::code_loading;
use super::session_driver;
use super::state::Playground;
use volary_browser::lazy::Loaded;
use volary_ui::later::Later;
use volary_ui::styles;
use volary_ui::whole;

static FILL: Later<fn(Playground)> = Later::new();

/// Loads the environments, and the code that draws episodes.
#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load() -> Loaded<()> {
    styles::adopt_later();
    whole::install();
    FILL.set(|playground| {
        let registry = volary_envs::described_registry();
        let sources = tasks::built_in(&registry);
        playground.registry().set_value(registry);
        playground.whole().set(true);
        code_loading::handle_events(playground, session_driver::update);
        playground.update(Event::Sources(sources));
    });
    Ok(())
}

/// Gives the playground's state the environments, once they are loaded.
pub fn fill(playground: Playground) {
    if let Some(fill) = FILL.get() {
        fill(playground);
    }
}
