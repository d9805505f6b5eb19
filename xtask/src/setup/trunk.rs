//! Trunk, which makes a static site of the page.
//!
//! Where there is cargo-binstall, it downloads Trunk. Otherwise cargo builds it: unoptimised, because a user waits for
//! it and it runs for seconds only. On two cores that takes 2½ minutes; an optimised build takes 7.

use anyhow::Result;

use super::progress::{Status, quietly};
use super::{Lane, Need, Remedy};
use crate::project::Project;
use crate::run::output;

/// The last release that Rust 1.95 compiles. Its crate brings a lock file, so this fixes all of its dependencies.
const VERSION: &str = "0.21.14";

/// Trunk.
pub struct Trunk;

impl Need for Trunk {
    fn name(&self) -> String {
        format!("trunk {VERSION}")
    }

    fn reason(&self) -> &'static str {
        "bundles the page"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let said = output(project.command("trunk").arg("--version")).ok()?;
        let found = said.split_whitespace().nth(1)?;
        let own = project.path("target/tools/bin/trunk");
        (found == VERSION).then(|| {
            if own.exists() {
                "in target/tools".to_owned()
            } else {
                "on the search path".to_owned()
            }
        })
    }

    fn remedy(&self, project: &Project) -> Remedy {
        let how = if has_binstall(project) {
            "downloading it with cargo-binstall, or else building it".to_owned()
        } else {
            "building it, 2½ minutes on two cores (with cargo-binstall it would be downloaded)"
                .to_owned()
        };
        Remedy::Install {
            how,
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        if has_binstall(project) && download(project, status).is_ok() {
            return Ok(());
        }
        build(project, status)
    }

    fn by_hand(&self) -> String {
        format!("To install it yourself: `cargo install --locked trunk --version {VERSION}`.")
    }
}

fn has_binstall(project: &Project) -> bool {
    output(project.command("cargo-binstall").arg("-V")).is_ok()
}

fn download(project: &Project, status: &Status) -> Result<()> {
    let mut command = project.command("cargo-binstall");
    command
        .args(["--no-confirm", "--force", "--disable-strategies", "compile"])
        .arg("--root")
        .arg(project.path("target/tools"))
        .arg(format!("trunk@{VERSION}"));
    quietly(&mut command, None, status)
}

fn build(project: &Project, status: &Status) -> Result<()> {
    let workshop = project.path("target/tools/build/trunk");
    let mut command = project.cargo("install");
    command
        .args(["trunk", "--version", VERSION, "--bin", "trunk"])
        .args(["--debug", "--no-default-features", "--force", "--root"])
        .arg(project.path("target/tools"))
        .arg("--target-dir")
        .arg(&workshop)
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_DEV_INCREMENTAL", "false")
        .env("CARGO_TERM_PROGRESS_WHEN", "never")
        // The flags of the user's own code are not meant for it.
        .env_remove("RUSTFLAGS");
    quietly(&mut command, None, status)?;
    // The build is large and of no more use. If it cannot be removed, no harm is done.
    let _ = std::fs::remove_dir_all(workshop);
    Ok(())
}
