//! Which files of the page a step in the playground needs: the first load, and the parts of the playground and of its
//! worker. The service worker stores them when a version is installed.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use fs_err as fs;

/// Where [`write`] leaves the list for [`read`], which runs once the site is assembled.
const FILE: &str = "target/xtask/wasm/step.json";

/// The parts that a step needs, and that store it and write its address.
const PARTS: [&str; 3] = ["play", "playground", "environments"];

/// Writes the list. `needs` has the file stems of each part, and `first` the names of the files of the first load.
pub fn write(needs: &HashMap<String, Vec<String>>, first: &[&str]) -> Result<()> {
    let mut files: BTreeSet<String> = first.iter().map(|&name| name.to_owned()).collect();
    for part in PARTS {
        let stems = needs
            .get(part)
            .with_context(|| format!("there is no part {part}"))?;
        files.extend(stems.iter().map(|stem| format!("{stem}.wasm")));
    }
    Ok(fs::write(Path::new(FILE), serde_json::to_vec(&files)?)?)
}

/// Reads the names of the files.
pub fn read() -> Result<BTreeSet<String>> {
    Ok(serde_json::from_slice(&fs::read(Path::new(FILE))?)?)
}
