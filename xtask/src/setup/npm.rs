//! What npm brings: wasm-opt, esbuild, and what drives a browser in tests.

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
        add(project, "npm", &format!("binaryen@{BINARYEN}"), status)
    }

    fn by_hand(&self) -> String {
        "To install it yourself: binaryen's release 132, with `wasm-opt` on the search path."
            .to_owned()
    }
}

/// What wasm-opt is called here.
pub fn wasm_opt() -> &'static str {
    if cfg!(windows) {
        "wasm-opt.cmd"
    } else {
        "wasm-opt"
    }
}

const ESBUILD: &str = "0.28.2";

/// esbuild, for the scripts that wasm-bindgen and the splitter write. Trunk's own minifier takes
/// neither.
pub struct Esbuild;

impl Need for Esbuild {
    fn name(&self) -> String {
        format!("esbuild {ESBUILD}")
    }

    fn reason(&self) -> &'static str {
        "makes the page's scripts smaller"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let said = output(project.command(esbuild()).arg("--version")).ok()?;
        (said == ESBUILD).then(|| "esbuild".to_owned())
    }

    fn remedy(&self, _: &Project) -> Remedy {
        Remedy::Install {
            how: format!("npm install esbuild@{ESBUILD}, 12 MB"),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        add(project, "esbuild", &format!("esbuild@{ESBUILD}"), status)
    }

    fn by_hand(&self) -> String {
        format!("To install it yourself: `npm install --global esbuild@{ESBUILD}`.")
    }
}

/// What esbuild is called here.
pub fn esbuild() -> &'static str {
    if cfg!(windows) {
        "esbuild.cmd"
    } else {
        "esbuild"
    }
}

/// Installs a package. Each has a folder of its own: two may be installed at the same time.
fn add(project: &Project, folder: &str, package: &str, status: &Status) -> Result<()> {
    let folder = project.path(&format!("target/tools/{folder}"));
    std::fs::create_dir_all(&folder)?;
    let mut command = npm(project);
    command
        .args(["install", "--no-save", "--no-package-lock", "--no-audit"])
        .args(["--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder)
        .arg(package);
    quietly(&mut command, None, status)
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
