//! Node, with npm.

use super::{Need, debian};
use crate::project::Project;
use crate::run::output;

/// Of Debian 12.
const OLDEST: u32 = 18;
const PACKAGES: [&str; 2] = ["nodejs", "npm"];

/// Node and npm.
pub struct Node;

impl Need for Node {
    fn name(&self) -> String {
        format!("Node {OLDEST} or later with npm")
    }

    fn reason(&self) -> &'static str {
        "runs wasm-opt and the browser tests"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let version = output(project.command("node").arg("--version")).ok()?;
        let major: u32 = version
            .trim_start_matches('v')
            .split('.')
            .next()?
            .parse()
            .ok()?;
        output(npm(project).arg("--version")).ok()?;
        (major >= OLDEST).then_some(version)
    }

    fn packages(&self) -> &'static [&'static str] {
        &PACKAGES
    }

    fn by_hand(&self) -> String {
        format!(
            "Install it with your package manager (on Debian: `{}`) or from nodejs.org.",
            debian::by_hand(&PACKAGES)
        )
    }
}

/// npm; on Windows it is a script, which has to be called by its full name.
pub fn npm(project: &Project) -> std::process::Command {
    project.command(if cfg!(windows) { "npm.cmd" } else { "npm" })
}
