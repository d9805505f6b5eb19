//! Repository checks that no compiler does, as tests: `cargo xtask ci --only layers` and `--only sources`.

mod layers;
mod sources;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::project::Project;

/// Fails with all problems, if there are any.
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The files under a folder with one of these suffixes, sorted. Inputs of macro tests are excluded.
fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let unreadable = || format!("cannot read {}", folder.display());
    for entry in folder.read_dir().with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let is_wanted = path
            .extension()
            .is_some_and(|end| endings.iter().any(|wanted| end == *wanted));
        if path.is_dir() && !path.ends_with("tests/ui") {
            files.extend(self::files(&path, endings)?);
        } else if is_wanted {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A path within the project, with slashes.
fn name(project: &Project, file: &Path) -> String {
    let root = project.path("");
    let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy();
    name.replace('\\', "/")
}
