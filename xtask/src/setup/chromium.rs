//! A browser for tests: Chromium, or Chrome.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Need, Remedy, debian};
use crate::project::Project;

/// Names the browser to use.
pub const CHOICE: &str = "VOLARY_CHROMIUM";
const PACKAGES: [&str; 1] = ["chromium"];
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
const PLACES: [&str; 4] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
];

/// Chromium or Chrome.
pub struct Chromium;

impl Chromium {
    /// Where it is; call it once it is here.
    pub fn path(project: &Project) -> Result<PathBuf> {
        find(project).with_context(|| Chromium.by_hand())
    }
}

impl Need for Chromium {
    fn name(&self) -> String {
        "Chromium".to_owned()
    }

    fn reason(&self) -> &'static str {
        "is the browser that tests and benchmarks run in"
    }

    fn find(&self, project: &Project) -> Option<String> {
        find(project).map(|path| path.display().to_string())
    }

    fn remedy(&self, _: &Project) -> Remedy {
        if std::env::var_os(CHOICE).is_some() {
            return Remedy::Ask;
        }
        debian::remedy(self.packages())
    }

    fn packages(&self) -> &'static [&'static str] {
        &PACKAGES
    }

    fn by_hand(&self) -> String {
        format!(
            "Install Chromium (on Debian: `{}`) or Google Chrome, or set {CHOICE} to where it is.",
            debian::by_hand(&PACKAGES)
        )
    }
}

fn find(project: &Project) -> Option<PathBuf> {
    if let Some(chosen) = std::env::var_os(CHOICE) {
        return Some(PathBuf::from(chosen)).filter(|path| path.is_file());
    }
    let search = project.search_path();
    let named = std::env::split_paths(&search)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    named.or_else(|| {
        PLACES
            .iter()
            .map(Path::new)
            .find(|path| path.is_file())
            .map(Path::to_owned)
    })
}
