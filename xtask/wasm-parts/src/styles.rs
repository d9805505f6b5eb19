//! The styles of the first load: one file per component, joined into one sheet, which is one request and compresses
//! better than many. Pages loaded later have their own styles (`src/pages.rs`).

use std::path::Path;

use anyhow::Result;
use fs_err as fs;

/// The files, in `style/`. The first declares the layers; within a layer later files override earlier ones.
const FIRST_VISIT: [&str; 13] = [
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
    "components",
    "print",
];

/// Writes the sheet to which `index.html` links.
pub fn join(sheet: &Path) -> Result<()> {
    let mut joined = String::new();
    for name in FIRST_VISIT {
        let path = Path::new("style").join(name).with_extension("css");
        joined.push_str(&fs::read_to_string(path)?);
    }
    Ok(fs::write(sheet, joined)?)
}
