//! Writes the list of the page's files with their digests into the service worker (`src/service-worker.js`). Without
//! it, as in development, the worker caches nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fs_err as fs;
use hmac_sha256::Hash;
use serde_json::json;

use crate::files::digest;

/// The path of the worker in the site.
const WORKER: &str = "service-worker.js";
/// The line that is replaced.
const PLACE: &str = "const BUILD = null;";
/// Files that are not cached: the Python runtime is large, and a worker never serves its sandboxed frame.
const LEFT_OUT: [&str; 2] = [WORKER, "python/"];

/// Writes the list into the service worker of a site.
pub fn write(site: &Path) -> Result<()> {
    let worker = site.join(WORKER);
    let script = fs::read_to_string(&worker)?;
    let listed = listed(site)?;
    let page = listed
        .keys()
        .find_map(|path| {
            path.split_once('/')
                .filter(|(folder, _)| folder.starts_with("volary-"))
        })
        .map(|(folder, _)| folder)
        .with_context(|| format!("{} has no folder of the page", site.display()))?;
    let mut version = Hash::new();
    for (path, digest) in &listed {
        version.update(path);
        version.update(digest);
    }
    let version = data_encoding::HEXLOWER.encode(version.finalize().get(..8).unwrap_or_default());
    let build = json!({"version": version, "page": page, "files": listed});
    fs::write(&worker, completed(&script, &build.to_string())?)?;
    Ok(())
}

fn completed(script: &str, build: &str) -> Result<String> {
    if !script.contains(PLACE) {
        bail!("{WORKER} has no line `{PLACE}`");
    }
    Ok(script.replacen(PLACE, &format!("const BUILD = {build};"), 1))
}

/// The files of a site by path, with their digests.
fn listed(site: &Path) -> Result<BTreeMap<String, String>> {
    let mut listed = BTreeMap::new();
    let mut all = Vec::new();
    walk(site, &mut all)?;
    for file in all {
        let path = file.strip_prefix(site)?;
        let path = path
            .to_str()
            .context("a path is not UTF-8")?
            .replace('\\', "/");
        if !LEFT_OUT.iter().any(|left_out| path.starts_with(left_out)) {
            listed.insert(path, digest(&file)?);
        }
    }
    Ok(listed)
}

fn walk(folder: &Path, all: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, all)?
        } else {
            all.push(path)
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_of_the_page_has_the_line() {
        let script = include_str!("../../../src/service-worker.js");
        let completed = completed(script, r#"{"version":"1"}"#).unwrap();
        assert!(completed.contains(r#"const BUILD = {"version":"1"};"#));
        assert!(super::completed("", "{}").is_err());
    }
}
