//! Paths in the project, and commands that run in it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

/// The project that contains the working directory.
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// The project around the working directory. It may differ from the one in which this program was built:
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

    /// A command that runs in the root of the project, with the project's own tools first in its search path.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("PATH", self.search_path());
        command
    }

    /// A subcommand of the `cargo` that runs this program. It does not change `Cargo.lock`: starting xtask has updated
    /// the file or, in CI, has failed because it was outdated.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(subcommand.split(' '));
        // `cargo fmt` reads no lock file and has no such option.
        if subcommand != "fmt" {
            command.arg("--locked");
        }
        command
    }

    /// The search path of [`Project::command`].
    pub fn search_path(&self) -> OsString {
        let own = [
            self.path("target/tools/bin"),
            self.path("target/tools/npm/node_modules/.bin"),
        ];
        let given = std::env::var_os("PATH").unwrap_or_default();
        let all = own.into_iter().chain(std::env::split_paths(&given));
        // Only a path that contains a separator cannot be joined; then the project's tools are omitted.
        std::env::join_paths(all).unwrap_or(given)
    }
}
