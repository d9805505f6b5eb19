//! The project that is measured, and the tools that `cargo xtask setup` installs for it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The project that contains the working directory.
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// The project around the working directory.
    pub fn here() -> Result<Project> {
        let here = std::env::current_dir().context("there is no working directory")?;
        let root = here
            .ancestors()
            .find(|folder| folder.join("xtask/Cargo.toml").exists())
            .with_context(|| format!("{} is outside of the project", here.display()))?;
        Ok(Project {
            root: root.to_owned(),
        })
    }

    /// A path inside the project.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// A program, started at the root of the project.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// A subcommand of the `cargo` that runs this program.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args([subcommand, "--locked"]);
        command
    }

    /// Builds the page in `dist/`.
    pub fn build_page(&self) -> Result<()> {
        run(self.xtask().arg("build"))
    }

    /// Installs tools, by the names that `cargo xtask setup` knows.
    pub fn tools(&self, names: &[&str]) -> Result<Tools<'_>> {
        let lines = output_aloud(self.xtask().arg("setup").args(names))?;
        let environment = lines.lines().filter_map(|line| line.split_once('='));
        Ok(Tools {
            project: self,
            environment: environment
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })
    }

    fn xtask(&self) -> Command {
        let mut cargo = self.cargo("run");
        cargo.args(["--quiet", "--package", "xtask", "--"]);
        cargo
    }
}

/// Installed tools, and the environment in which programs find them.
pub struct Tools<'p> {
    /// The project that has them.
    pub project: &'p Project,
    environment: Vec<(String, String)>,
}

impl Tools<'_> {
    /// Runs a command in the environment of the tools.
    pub fn apply(&self, command: &mut Command) {
        command.envs(self.environment.iter().cloned());
    }

    /// A program that may be one of the tools.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.project.command(program);
        self.apply(&mut command);
        command
    }

    /// Node, for a script that opens an address in a browser.
    pub fn node(&self, script: &str, url: &str) -> Command {
        let mut node = self.command("node");
        node.arg(self.project.path(script)).env("VOLARY_URL", url);
        node
    }

    /// The Python whose path a variable holds.
    pub fn python(&self, variable: &str) -> Result<Command> {
        let found = self.environment.iter().find(|(name, _)| name == variable);
        let (_, python) = found.with_context(|| format!("setup did not print {variable}"))?;
        Ok(self.command(python))
    }
}

/// Runs a program whose output the user sees.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| cannot_start(command))?;
    if !status.success() {
        bail!("{command:?} failed ({status})");
    }
    Ok(())
}

/// The output of a program without the trailing newline. Its errors are shown if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| cannot_start(command))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed ({})\n{}", output.status, errors.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The output of a program without the trailing newline. Its errors go to the terminal.
pub fn output_aloud(command: &mut Command) -> Result<String> {
    output(command.stderr(Stdio::inherit()))
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start {command:?}")
}
