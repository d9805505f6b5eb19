//! What npm brings: wasm-opt, and what drives a browser in tests.

use anyhow::{Context, Result};

use super::node::npm;
use super::quietly::{Status, quietly};
use super::{Lane, Need, Remedy};
use crate::project::Project;
use crate::run::output;

/// Debian's own, 108, does not know what Rust's compiler emits today.
const BINARYEN: &str = "132.0.0";

/// wasm-opt.
pub struct WasmOpt;

impl Need for WasmOpt {
    fn name(&self) -> String {
        format!("wasm-opt {BINARYEN}")
    }

    fn reason(&self) -> &'static str {
        "makes the page smaller"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let said = output(project.command(wasm_opt()).arg("--version")).ok()?;
        let major = BINARYEN.split('.').next()?;
        let found = said.split_whitespace().nth(2)?;
        (found == major).then(|| "binaryen".to_owned())
    }

    fn remedy(&self, _: &Project) -> Remedy {
        Remedy::Install {
            how: format!("npm install binaryen@{BINARYEN}, 10 MB"),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let folder = project.path("target/tools/npm");
        std::fs::create_dir_all(&folder)?;
        let mut command = npm(project);
        command
            .args(["install", "--no-save", "--no-package-lock", "--no-audit"])
            .args(["--no-fund", "--ignore-scripts", "--prefix"])
            .arg(&folder)
            .arg(format!("binaryen@{BINARYEN}"));
        quietly(&mut command, None, status)
    }

    fn by_hand(&self) -> String {
        "To install it yourself: binaryen's release 132, with `wasm-opt` on the search path."
            .to_owned()
    }
}

fn wasm_opt() -> &'static str {
    if cfg!(windows) {
        "wasm-opt.cmd"
    } else {
        "wasm-opt"
    }
}

/// Playwright, axe and a mock of model providers, as `tests/package-lock.json` fixes them.
pub struct Playwright;

impl Need for Playwright {
    fn name(&self) -> String {
        "Playwright, axe and aimock".to_owned()
    }

    fn reason(&self) -> &'static str {
        "drive a browser in tests, and play model providers"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let lock = std::fs::read(project.path("tests/package-lock.json")).ok()?;
        let installed = std::fs::read(project.path(INSTALLED)).ok()?;
        (lock == installed).then(|| "in tests/node_modules".to_owned())
    }

    fn remedy(&self, _: &Project) -> Remedy {
        Remedy::Install {
            how: "npm ci in tests/, 17 MB".to_owned(),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let mut command = npm(project);
        command
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(project.path("tests"));
        quietly(&mut command, None, status)?;
        let lock = project.path("tests/package-lock.json");
        std::fs::copy(&lock, project.path(INSTALLED))
            .with_context(|| format!("cannot copy {}", lock.display()))?;
        Ok(())
    }

    fn by_hand(&self) -> String {
        "To install them yourself: `npm ci` in tests/.".to_owned()
    }
}

/// A copy of the lock file that was installed: another lock file is another installation.
const INSTALLED: &str = "tests/node_modules/.installed-lock.json";
