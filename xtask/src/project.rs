//! Where things are in the project, and what its lock file says.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

/// The project in whose folders a command was given.
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// The project around the working directory. It need not be the one that this program was built in:
    /// two clones may share a target folder.
    pub fn here() -> Result<Project> {
        let here = std::env::current_dir().context("there is no working directory")?;
        let root = here
            .ancestors()
            .find(|folder| folder.join("xtask/Cargo.toml").exists())
            .with_context(|| format!("{} lies outside of the project", here.display()))?;
        Ok(Project {
            root: root.to_owned(),
        })
    }

    /// A path inside the project, written with slashes.
    pub fn path(&self, inside: &str) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(inside.split('/'));
        path
    }

    /// A program, started at the root of the project with the project's own tools first in its path.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("PATH", self.search_path());
        command
    }

    /// `cargo`, as the one that runs us.
    pub fn cargo(&self) -> Command {
        self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// The search path of [`Project::command`].
    pub fn search_path(&self) -> OsString {
        let own = [
            self.path("target/tools/bin"),
            self.path("target/tools/npm/node_modules/.bin"),
            self.path("target/tools/esbuild/node_modules/.bin"),
        ];
        let given = std::env::var_os("PATH").unwrap_or_default();
        let all = own.into_iter().chain(std::env::split_paths(&given));
        // Only a path with a separator in its own name cannot be joined; then ours cannot be offered.
        std::env::join_paths(all).unwrap_or(given)
    }

    /// The version that `Cargo.lock` fixes for a package; made first if there is none yet.
    pub fn locked_version(&self, package: &str) -> Result<String> {
        let lock = self.path("Cargo.lock");
        if !lock.exists() {
            crate::run::run(self.cargo().args(["generate-lockfile", "--quiet"]))?;
        }
        let text = std::fs::read_to_string(&lock)
            .with_context(|| format!("cannot read {}", lock.display()))?;
        version_in(&text, package)
            .with_context(|| format!("{} does not mention {package}", lock.display()))
    }
}

fn version_in(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines();
    lines.find(|line| *line == name)?;
    let version = lines.next()?.strip_prefix("version = ")?;
    Some(version.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.1\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(version_in(lock, "wasm"), None);
    }
}
