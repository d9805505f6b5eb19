//! What is done to the files of the page after they are split.

use std::path::Path;

use anyhow::{Error, bail};

/// The kinds of build, by the names that `cargo xtask` passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The files as the splitter writes them.
    Debug,
    /// Few files, so that a page loads soon, but not optimized.
    Quick,
    /// Few and small files.
    Release,
}

impl Profile {
    /// Whether files that are needed together are merged.
    pub fn merges(self) -> bool {
        self != Profile::Debug
    }

    /// Whether files are made smaller.
    pub fn optimizes(self) -> bool {
        self == Profile::Release
    }
}

impl TryFrom<&Path> for Profile {
    type Error = Error;

    fn try_from(name: &Path) -> Result<Profile, Error> {
        Ok(match name.to_str() {
            Some("debug") => Profile::Debug,
            Some("quick") => Profile::Quick,
            Some("release") => Profile::Release,
            _ => bail!("there is no profile `{}`", name.display()),
        })
    }
}
