//! The Python files that the browser keeps, shared by all tabs.

use leptos::prelude::*;

use super::files::{Description, PythonFiles};
use crate::browser::timers;
use crate::shared::Shared;

thread_local! {
    static FILES: Shared<PythonFiles> = Shared::new(
        "python-files",
        |text| serde_json::from_str(text).ok(),
        |files| serde_json::to_string(files).unwrap_or_default(),
        |_| {},
    );
}

/// The files. Tracks changes.
pub fn files() -> PythonFiles {
    FILES.with(Shared::signal).get()
}

/// Saves code under a name.
pub fn save(name: &str, code: &str) {
    // Milliseconds since 1970, which are whole and below 2^53.
    let now = (timers::wall_clock() * 1000.0) as u64;
    FILES.with(|files| files.change(|files| files.save(name, code, now)));
}

/// Notes what Python says of some code.
pub fn describe(code: &str, description: &Description) {
    FILES.with(|files| files.change(|files| files.describe(code, description)));
}

/// Removes a file with all its versions.
pub fn remove(name: &str) {
    FILES.with(|files| files.change(|files| files.remove(name)));
}
