//! Tools that are written in Rust: Trunk, wasm-bindgen's command line and the splitter.
//!
//! Where there is cargo-binstall, it downloads them. Else cargo builds them: unoptimised, and without what
//! we never use of them, because a user waits for them and they run for seconds only. On two cores
//! Trunk takes 2½ minutes like this, and 7 as its authors release it.

use anyhow::Result;

use super::quietly::{Status, quietly};
use super::{Lane, Need, Remedy};
use crate::project::Project;
use crate::run::output;

/// The last release that Rust 1.95 compiles.
const TRUNK: &str = "0.21.14";

/// Trunk.
pub struct Trunk;

impl Need for Trunk {
    fn name(&self) -> String {
        format!("trunk {TRUNK}")
    }

    fn reason(&self) -> &'static str {
        "bundles the page"
    }

    fn find(&self, project: &Project) -> Option<String> {
        find(project, "trunk", TRUNK)
    }

    fn remedy(&self, project: &Project) -> Remedy {
        remedy(project, "2½ minutes")
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let fixed = ["--locked", "--bin", "trunk"];
        install(project, "trunk", TRUNK, &fixed, status)
    }

    fn by_hand(&self) -> String {
        format!("To install it yourself: `cargo install --locked trunk --version {TRUNK}`.")
    }
}

/// wasm-bindgen's command line, of exactly the version that the page is compiled with.
pub struct WasmBindgen {
    version: String,
}

impl WasmBindgen {
    /// In the version that the lock file fixes.
    pub fn locked(project: &Project) -> Result<WasmBindgen> {
        let version = project.locked_version("wasm-bindgen")?;
        Ok(WasmBindgen { version })
    }
}

impl Need for WasmBindgen {
    fn name(&self) -> String {
        format!("wasm-bindgen {}", self.version)
    }

    fn reason(&self) -> &'static str {
        "lets the page and the browser call each other"
    }

    fn find(&self, project: &Project) -> Option<String> {
        find(project, "wasm-bindgen", &self.version)
    }

    fn remedy(&self, project: &Project) -> Remedy {
        remedy(project, "45 seconds")
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        // Not --locked: its lock file names a release that was withdrawn.
        let fixed = ["--bin", "wasm-bindgen"];
        install(project, "wasm-bindgen-cli", &self.version, &fixed, status)
    }

    fn by_hand(&self) -> String {
        format!(
            "To install it yourself: `cargo install wasm-bindgen-cli --version {}`.",
            self.version
        )
    }
}

/// The splitter's command line. It is of the family of `wasm_split_helpers`, which Leptos brings.
pub struct WasmSplit;

const SPLITTER: (&str, &str) = ("wasm_split_cli_support", "0.2.4");

impl Need for WasmSplit {
    fn name(&self) -> String {
        format!("wasm-split-cli {}", SPLITTER.1)
    }

    fn reason(&self) -> &'static str {
        "cuts the page into what is loaded at once and what is loaded later"
    }

    fn find(&self, project: &Project) -> Option<String> {
        // It does not know its own version, but cargo does.
        let installed = std::fs::read_to_string(project.path("target/tools/.crates.toml")).ok()?;
        let line = format!("\"{} {} ", SPLITTER.0, SPLITTER.1);
        installed
            .contains(&line)
            .then(|| "in target/tools".to_owned())
    }

    fn remedy(&self, project: &Project) -> Remedy {
        remedy(project, "45 seconds")
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let fixed = ["--bin", "wasm-split-cli", "--features", "build-binary"];
        build(project, SPLITTER.0, SPLITTER.1, &fixed, status)
    }

    fn by_hand(&self) -> String {
        format!(
            "To install it yourself, in the project: `cargo install {} --version {} \
             --features build-binary --root target/tools`.",
            SPLITTER.0, SPLITTER.1
        )
    }
}

fn remedy(project: &Project, time: &str) -> Remedy {
    let how = if binstall(project) {
        "downloading it with cargo-binstall, or else building it".to_owned()
    } else {
        format!(
            "building it, {time} on two cores (cargo-binstall, if you had it, would download it)"
        )
    };
    Remedy::Install {
        how,
        lane: Lane::Project,
    }
}

fn binstall(project: &Project) -> bool {
    output(project.command("cargo-binstall").arg("-V")).is_ok()
}

/// In the project's own tools or on the search path, if it is of that very version.
fn find(project: &Project, program: &str, version: &str) -> Option<String> {
    let said = output(project.command(program).arg("--version")).ok()?;
    let found = said.split_whitespace().nth(1)?;
    let own = project.path("target/tools/bin").join(program);
    (found == version).then(|| {
        if own.exists() {
            "in target/tools".to_owned()
        } else {
            "on the search path".to_owned()
        }
    })
}

fn install(
    project: &Project,
    package: &str,
    version: &str,
    fixed: &[&str],
    status: &Status,
) -> Result<()> {
    if binstall(project) && download(project, package, version, status).is_ok() {
        return Ok(());
    }
    build(project, package, version, fixed, status)
}

fn download(project: &Project, package: &str, version: &str, status: &Status) -> Result<()> {
    let mut command = project.command("cargo-binstall");
    command
        .args(["--no-confirm", "--force", "--disable-strategies", "compile"])
        .arg("--root")
        .arg(project.path("target/tools"))
        .arg(format!("{package}@{version}"));
    quietly(&mut command, None, status)
}

fn build(
    project: &Project,
    package: &str,
    version: &str,
    fixed: &[&str],
    status: &Status,
) -> Result<()> {
    let workshop = project.path("target/tools/build").join(package);
    let mut command = project.cargo();
    command
        .args(["install", package, "--version", version])
        .args(fixed)
        .args(["--debug", "--no-default-features", "--force", "--root"])
        .arg(project.path("target/tools"))
        .arg("--target-dir")
        .arg(&workshop)
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_DEV_INCREMENTAL", "false")
        .env("CARGO_TERM_PROGRESS_WHEN", "never")
        // The flags of the user's own code are not meant for these.
        .env_remove("RUSTFLAGS");
    quietly(&mut command, None, status)?;
    // What is left of the build is big, and of no more use; should it stay, no harm is done.
    let _ = std::fs::remove_dir_all(workshop);
    Ok(())
}
