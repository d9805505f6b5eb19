//! Firefox and WebKit for a smoke journey. Chromium is what all other journeys run in; these two are installed where
//! Debian's packages are at hand, and their journey is skipped elsewhere.

use std::path::PathBuf;

use super::{Need, debian};
use crate::project::Project;

/// A browser from Debian.
pub struct OtherBrowser {
    name: &'static str,
    reason: &'static str,
    /// The program that drives it, or the browser itself.
    program: &'static str,
    packages: &'static [&'static str],
}

/// Firefox.
pub const FIREFOX: OtherBrowser = OtherBrowser {
    name: "Firefox",
    reason: "plays a smoke journey",
    program: "firefox-esr",
    packages: &["firefox-esr"],
};

/// WebKit's driver, with a virtual screen.
pub const WEBKIT: OtherBrowser = OtherBrowser {
    name: "WebKit's driver",
    reason: "plays a smoke journey in the engine of Safari",
    program: "WebKitWebDriver",
    packages: &["webkit2gtk-driver", "xvfb", "xauth"],
};

impl OtherBrowser {
    /// Whether it is here or can be installed.
    pub fn can_be_had(&self, project: &Project) -> bool {
        self.path(project).is_some() || debian::can_install()
    }

    /// Where its program is.
    pub fn path(&self, project: &Project) -> Option<PathBuf> {
        std::env::split_paths(&project.search_path())
            .map(|folder| folder.join(self.program))
            .find(|path| path.is_file())
    }
}

impl Need for OtherBrowser {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn reason(&self) -> &'static str {
        self.reason
    }

    fn find(&self, project: &Project) -> Option<String> {
        self.path(project).map(|path| path.display().to_string())
    }

    fn packages(&self) -> &'static [&'static str] {
        self.packages
    }

    fn by_hand(&self) -> String {
        format!(
            "Install {} (on Debian: `{}`).",
            self.name,
            debian::by_hand(self.packages)
        )
    }
}

/// WebKit's parts.
pub mod webkit {
    use std::path::{Path, PathBuf};

    /// The browser that WebKit's driver starts: beside the library, in a folder named after the architecture.
    pub fn mini_browser() -> Option<PathBuf> {
        let folders = |path: &Path| {
            let entries = path.read_dir().into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        folders(Path::new("/usr/lib"))
            .iter()
            .filter(|folder| folder.is_dir())
            .flat_map(|folder| {
                ["4.1", "4.0", "6.0"]
                    .map(|version| folder.join(format!("webkit2gtk-{version}/MiniBrowser")))
            })
            .find(|path| path.is_file())
    }
}
