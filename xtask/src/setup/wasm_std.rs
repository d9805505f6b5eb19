//! The standard library for `wasm32-unknown-unknown`.
//!
//! It is part of rustup's target. If rustup cannot download it, it comes from Debian: a separate compiler and the
//! sources of its library, which cargo then builds along with the page.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::debian;
use crate::project::Project;
use crate::run::{output, quietly};

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGES: [&str; 4] = ["rustc-web", "rust-web-src", "rust-web-clippy", "lld-19"];
/// Set to `debian` to build as if rustup were unavailable.
const CHOICE: &str = "VOLARY_WASM_STD";
/// The source of the standard library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WasmStd {
    /// The toolchain has it.
    Toolchain,
    /// Debian's compiler builds it.
    Debian,
}

impl WasmStd {
    /// The available library, if there is one.
    pub fn find(project: &Project) -> Option<WasmStd> {
        let debian_wanted = std::env::var(CHOICE).is_ok_and(|choice| choice == "debian");
        if !debian_wanted && toolchain_has_it(project) {
            Some(WasmStd::Toolchain)
        } else if debian_has_it() {
            Some(WasmStd::Debian)
        } else {
            None
        }
    }

    /// The available library; call it after it was ensured.
    pub fn here(project: &Project) -> Result<WasmStd> {
        WasmStd::find(project).with_context(|| format!("there is no library for {TARGET}"))
    }

    /// The environment variables for building wasm with this library.
    pub fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            WasmStd::Toolchain => &[],
            WasmStd::Debian => &[
                ("RUSTC", "/usr/bin/rustc"),
                ("RUSTC_BOOTSTRAP", "1"),
                ("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort"),
                ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19"),
            ],
        }
    }

    /// Configures a cargo command to build for wasm with this library.
    pub fn apply(self, command: &mut Command) {
        command.envs(self.environment().iter().copied());
    }

    /// The matching linter: a `cargo clippy` of the same release as the compiler.
    pub fn clippy(self, project: &Project) -> Command {
        let mut command = match self {
            WasmStd::Toolchain => project.cargo("clippy"),
            WasmStd::Debian => project.command("/usr/bin/cargo-clippy"),
        };
        if self == WasmStd::Debian {
            command.args(["clippy", "--locked"]);
        }
        self.apply(&mut command);
        command
    }

    /// A description of its installation.
    pub const HOW: &str =
        "with rustup target add wasm32-unknown-unknown, or from the packages of Debian";

    /// Whether this program can install it.
    pub fn can_be_installed() -> bool {
        output(Command::new("rustup").arg("--version")).is_ok() || debian::can_install()
    }

    /// Installs it, preferably by rustup.
    pub fn install(project: &Project) -> Result<()> {
        match add_target(project) {
            Ok(()) if WasmStd::find(project).is_some() => Ok(()),
            Ok(()) if debian::can_install() => debian::install(&PACKAGES),
            Err(error) if debian::can_install() => {
                debian::install(&PACKAGES).with_context(|| format!("{error:#}"))
            }
            added => added,
        }
    }
}

fn add_target(project: &Project) -> Result<()> {
    let mut rustup = project.command("rustup");
    rustup.args(["target", "add", TARGET]);
    // Where the network drops packets, rustup would wait for many minutes.
    rustup.env("RUSTUP_MAX_RETRIES", "1");
    quietly(rustup.env("RUSTUP_DOWNLOAD_TIMEOUT", "60"))
}

fn toolchain_has_it(project: &Project) -> bool {
    let mut rustc = project.command("rustc");
    output(rustc.args(["--print", "target-libdir", "--target", TARGET]))
        .is_ok_and(|folder| Path::new(&folder).is_dir())
}

fn debian_has_it() -> bool {
    let parts = [
        "/usr/bin/rustc",
        "/usr/bin/cargo-clippy",
        "/usr/bin/wasm-ld-19",
        "/usr/lib/rustlib/src/rust/library/std/Cargo.toml",
    ];
    debian::is_recent() && parts.iter().all(|part| Path::new(part).exists())
}
