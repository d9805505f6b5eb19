//! What Review gives to Ask, and the code that is loaded for it.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_analysis::table::Row;
use volary_analysis::table::answers::AnswersByEpisode;
use volary_browser::appearance;
use volary_browser::lazy::{DrawFn, Loaded};
use volary_library_client::LibraryClient;
use volary_ui::lazy::Coming;
use volary_view::route::ReviewPlace;

/// Shared, because a table may have a hundred thousand.
pub type TableRows = Arc<Vec<Arc<Row>>>;

/// What Review gives to Ask, as a context.
#[derive(Clone, Copy)]
pub struct AskHost {
    pub client: LibraryClient,
    /// All rows of the library.
    pub rows: Signal<TableRows>,
    /// The rows that pass the filters of the table.
    pub shown: Signal<TableRows>,
    /// The part of Review that the address names.
    pub place: Memo<ReviewPlace>,
    /// The answers, which Ask fills in.
    pub answers: RwSignal<Arc<AnswersByEpisode>>,
}

/// Loads the code of Ask.
pub fn load() -> Coming {
    Box::pin(ask_page())
}

#[wasm_split(ask, wasm_split_path = leptos::wasm_split, fallible)]
fn ask_page() -> Loaded<DrawFn> {
    appearance::adopt(include_str!("../../../style/ask.css"));
    appearance::adopt(include_str!("../../../style/progress-bar.css"));
    Ok(crate::page::ask_page)
}
