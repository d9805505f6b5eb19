//! The styles of a first visit: a file for each component, joined into one sheet, which is one request and packs
//! better than many. What is shown later brings its own styles (`src/pages.rs`).

use std::path::Path;

use anyhow::Result;
use fs_err as fs;

/// The files, in `style/`. The first names the layers; within a layer what comes later wins.
const FIRST_VISIT: [&str; 12] = [
    "base",
    "elements",
    "layout",
    "narrow",
    "transcript",
    "message",
    "form",
    "tools",
    "timeline",
    "frame",
    "notices",
    "print",
];

/// Writes the sheet that `index.html` links.
pub fn join(sheet: &Path) -> Result<()> {
    let mut joined = String::new();
    for name in FIRST_VISIT {
        let path = Path::new("style").join(name).with_extension("css");
        joined.push_str(&fs::read_to_string(path)?);
    }
    Ok(fs::write(sheet, joined)?)
}
