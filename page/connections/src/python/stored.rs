//! The Python files that the browser stores, shared by all tabs.

use leptos::prelude::*;

use volary_app::python::files::{Description, PythonFiles, PythonSource};
use volary_app::python::wheels::{LARGEST, Wheel};
use volary_browser::files::GivenFile;
use volary_browser::shared::{Shared, Unsaved};
use volary_browser::{spawn, timers};
use volary_storage::sources;

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

/// Whether changes of the files are only in memory.
pub fn unsaved() -> Unsaved {
    FILES.with(Shared::unsaved)
}

/// Saves code under a name, and removes the wheels that no version needs any more.
pub fn save(name: &str, source: &PythonSource) {
    // Milliseconds since 1970 are below 2^53.
    let now = (timers::wall_clock() * 1000.0) as u64;
    change(|files| files.save(name, source, now));
}

/// Stores the description of some code.
pub fn describe(source: &PythonSource, description: &Description) {
    FILES.with(|files| files.change(|files| files.describe(source, description)));
}

/// Removes a file with all its versions, and the wheels that no other file needs.
pub fn remove(name: &str) {
    change(|files| files.remove(name));
}

/// Changes the files. Deletes the wheels that `act` returns, unless the stored files, which may need them, stay as they
/// are.
fn change(act: impl FnOnce(&mut PythonFiles) -> Vec<Wheel>) {
    let mut unused = Vec::new();
    let is_stored = FILES.with(|files| files.change(|files| unused = act(files)));
    if !is_stored || unused.is_empty() {
        return;
    }
    spawn(async move {
        for wheel in unused {
            // If the browser does not delete it, nothing refers to it any more.
            let _ = sources::forget(&key(&wheel)).await;
        }
    });
}

/// Checks a wheel and stores it. The error is a message for the user.
pub async fn keep_wheel(file: &GivenFile) -> Result<Wheel, String> {
    if file.size > LARGEST as f64 {
        return Err(format!("{} is larger than 8 MB.", file.name));
    }
    let wheel = Wheel::of(&file.name, &file.read().await?)?;
    match sources::keep(&key(&wheel), file).await {
        Ok(()) => Ok(wheel),
        Err(error) => Err(format!("{} could not be stored: {error}", file.name)),
    }
}

/// Returns the bytes of a wheel; `None` if this browser does not have it. Works in workers too.
pub async fn wheel_bytes(wheel: &Wheel) -> Option<Vec<u8>> {
    let file = sources::file(&key(wheel), &wheel.name).await.ok()??;
    file.read().await.ok()
}

/// The storage key of a wheel. All files that need a wheel share it.
fn key(wheel: &Wheel) -> String {
    format!("wheel-{}", wheel.sha256)
}
