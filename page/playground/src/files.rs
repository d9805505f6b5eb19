//! The buttons for files: **Import**, **Export** and **Share**. What they do is in [`super::transfer`], which is loaded with the
//! first of them.

use leptos::prelude::*;
use volary_browser::files::{self, GivenFile};

use super::state::Playground;

/// The file types that the import dialog accepts.
const KINDS: &str = ".json,.jsonl,.zip,application/json,application/zip";

/// Opens the file dialog. Browsers allow that only at once, while a click is handled.
pub(super) fn pick_file(playground: Playground) {
    playground.begin_attempt();
    files::pick(KINDS, move |files| take_files(playground, files));
}

/// Reads files that were picked or dropped.
pub fn take_files(playground: Playground, files: Vec<GivenFile>) {
    playground.begin_attempt();
    playground.with_code("The import", move |code| {
        (code.take_files)(playground, files)
    });
}

/// Offers links to the episode and to its task.
pub fn share(playground: Playground) {
    playground.begin_attempt();
    playground.with_code("Share", move |code| (code.share)(playground));
}

/// Opens the dialog of the export formats.
pub(super) fn show_export(playground: Playground) {
    playground.with_code("The export", move |_| {
        playground.transfer().exporting.set(true);
    });
}
