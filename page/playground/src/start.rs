//! Starts the playground: creates it, and says when its code is loaded.

use std::time::Duration;

use leptos::prelude::*;
use volary_browser::{
    self as browser, crash_recovery, first_interaction, location, offline, timers,
};
use volary_connections::has_stored;
use volary_ui::navigation::Page;
use volary_view::route::Route;

use super::lazy_part;
use super::lazy_table::LazyTable;
use super::play_part;
use super::state::Playground;
use super::worker;

/// The time after the first interaction before the page is stored for use offline. Storing takes bandwidth, and about 40 MB
/// of memory meanwhile, from what the user opens first.
const BEFORE_STORING: Duration = Duration::from_secs(5);

/// Creates the page's playground and provides it as context.
pub fn provide() -> Playground {
    let playground = Playground::new(LazyTable::new(play_part::load), lazy_part::load);
    provide_context(playground);
    playground
}

/// Loads the code that plays, and the worker, after the first view; on other pages, when the person first interacts with
/// the page.
pub fn start(playground: Playground) {
    first_interaction::on_first_interaction(move || {
        playground.play_soon();
        browser::spawn(async {
            timers::sleep(BEFORE_STORING).await;
            offline::store().await;
        });
    });
    if Page::of(&Route::parse(&location::hash())) == Page::Playground {
        timers::next_frame(move || {
            playground.play_soon();
            worker::warm_up(playground);
            if has_stored() {
                load_all(playground);
            }
        });
    }
    if crash_recovery::is_kept() {
        load_all(playground);
    }
}

/// Loads all code of the playground, for pages that also show environments of servers and of Python files.
pub fn load_all(playground: Playground) {
    playground.play_soon();
    playground.load_code_ahead();
}
