//! Writes the list of the page's files into the service worker (`src/service-worker.js`): their digests and sizes, and which
//! are stored when a version is installed. Without it, as in development, the worker caches nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fs_err as fs;
use hmac_sha256::Hash;
use serde_json::json;

use crate::files::digest;
use crate::step_files;

/// The path of the worker in the site.
const WORKER: &str = "service-worker.js";
/// The line that is replaced.
const PLACE: &str = "const BUILD = null;";
/// The folder of the manifest and its icons, which the first view needs as it does the files at the top of the site.
const APP: &str = "app";
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
    let first = first(&listed, page, &step_files::read()?);
    let mut version = Hash::new();
    for (path, (digest, _)) in &listed {
        version.update(path);
        version.update(digest);
    }
    let version = data_encoding::HEXLOWER.encode(version.finalize().get(..8).unwrap_or_default());
    let build = json!({"version": version, "page": page, "files": listed, "first": first});
    fs::write(&worker, completed(&script, &build.to_string())?)?;
    Ok(())
}

/// The files that are stored when a version is installed: those of the first view, and `step`, the file names in the
/// folder `page` that a step in the playground needs.
fn first<'a>(listed: &'a Files, page: &str, step: &BTreeSet<String>) -> Vec<&'a str> {
    let needed = |path: &&str| match path.split_once('/') {
        Some((folder, file)) if folder == page => step.contains(file),
        Some((folder, _)) => folder == APP,
        None => true,
    };
    listed.keys().map(String::as_str).filter(needed).collect()
}

fn completed(script: &str, build: &str) -> Result<String> {
    if !script.contains(PLACE) {
        bail!("{WORKER} has no line `{PLACE}`");
    }
    Ok(script.replacen(PLACE, &format!("const BUILD = {build};"), 1))
}

/// The digests and sizes in bytes of files, by path.
type Files = BTreeMap<String, (String, u64)>;

/// The files of a site.
fn listed(site: &Path) -> Result<Files> {
    let mut listed = Files::new();
    let mut all = Vec::new();
    walk(site, &mut all)?;
    for file in all {
        let path = file.strip_prefix(site)?;
        let path = path
            .to_str()
            .context("a path is not UTF-8")?
            .replace('\\', "/");
        if !LEFT_OUT.iter().any(|left_out| path.starts_with(left_out)) {
            let bytes = fs::metadata(&file)?.len();
            listed.insert(path, (digest(&file)?, bytes));
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
    fn a_version_has_what_the_first_view_and_a_step_need() {
        let paths = [
            "app/icon.png",
            "docs/a.md",
            "index.html",
            "start-1.js",
            "volary-1/review.wasm",
            "volary-1/step.wasm",
        ];
        let listed = paths.map(|path| (path.to_owned(), (String::new(), 1)));
        let step = BTreeSet::from(["step.wasm".to_owned()]);
        let listed = Files::from(listed);
        let first = first(&listed, "volary-1", &step);
        let needed = [
            "app/icon.png",
            "index.html",
            "start-1.js",
            "volary-1/step.wasm",
        ];
        assert_eq!(first, needed);
    }

    #[test]
    fn the_worker_of_the_page_has_the_line() {
        let script = include_str!("../../../src/service-worker.js");
        let completed = completed(script, r#"{"version":"1"}"#).unwrap();
        assert!(completed.contains(r#"const BUILD = {"version":"1"};"#));
        assert!(super::completed("", "{}").is_err());
    }
}
