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

    /// A subcommand of the `cargo` that runs us. It leaves `Cargo.lock` as it is: starting xtask has brought the
    /// file up to date or, in CI, has failed because it was not.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(subcommand.split(' '));
        // `cargo fmt` reads no lock file and knows no such option.
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
        // Only a path with a separator in its own name cannot be joined; then ours cannot be offered.
        std::env::join_paths(all).unwrap_or(given)
    }
}
