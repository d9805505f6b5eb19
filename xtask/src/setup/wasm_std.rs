//! The standard library for `wasm32-unknown-unknown`.
//!
//! It comes with rustup's target, or, where rustup can't download, from Debian: a compiler of its
//! own and the sources of its library, which cargo then builds along with the page.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::progress::{Status, quietly};
use super::{Lane, Need, Remedy, debian};
use crate::project::Project;
use crate::run::output;

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGES: [&str; 4] = ["rustc-web", "rust-web-src", "rust-web-clippy", "lld-19"];
/// Set to `debian` to build as if rustup had nothing to offer.
const CHOICE: &str = "VOLARY_WASM_STD";
/// A download of 20 MB; where the network swallows packets, rustup would wait for very long.
const PATIENCE: Duration = Duration::from_secs(240);

/// Where the standard library comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The toolchain has it.
    Toolchain,
    /// Debian's compiler builds it.
    Debian,
}

impl Source {
    /// What is here, if any.
    pub fn here(project: &Project) -> Option<Source> {
        let debian_wanted = std::env::var(CHOICE).is_ok_and(|choice| choice == "debian");
        if !debian_wanted && toolchain_has_it(project) {
            Some(Source::Toolchain)
        } else if debian_has_it() {
            Some(Source::Debian)
        } else {
            None
        }
    }

    /// Makes a command that runs cargo build for wasm with this library.
    pub fn apply(self, command: &mut Command) {
        if self == Source::Debian {
            command
                .env("RUSTC", "/usr/bin/rustc")
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19");
        }
    }

    /// The linter that knows this library: a `cargo clippy` of the same release as the compiler.
    pub fn clippy(self, project: &Project) -> Command {
        let mut command = match self {
            Source::Toolchain => project.cargo("clippy"),
            Source::Debian => project.command("/usr/bin/cargo-clippy"),
        };
        if self == Source::Debian {
            command.args(["clippy", "--locked"]);
        }
        self.apply(&mut command);
        command
    }
}

/// The need for it.
pub struct WasmStd;

impl WasmStd {
    /// Where it comes from; call it once it is here.
    pub fn source(project: &Project) -> Result<Source> {
        Source::here(project).with_context(|| WasmStd.by_hand())
    }
}

impl Need for WasmStd {
    fn name(&self) -> String {
        format!("Rust's library for {TARGET}")
    }

    fn reason(&self) -> &'static str {
        "compiles the page for the browser"
    }

    fn find(&self, project: &Project) -> Option<String> {
        Source::here(project).map(|source| match source {
            Source::Toolchain => "in the Rust toolchain".to_owned(),
            Source::Debian => "Debian's sources, built along with the page".to_owned(),
        })
    }

    fn remedy(&self, _: &Project) -> Remedy {
        let how = match (rustup(), debian::can_install()) {
            (true, true) => format!(
                "rustup target add {TARGET}, or else apt-get install {}",
                PACKAGES.join(" ")
            ),
            (true, false) => format!("rustup target add {TARGET}"),
            (false, true) => format!("apt-get install {}", PACKAGES.join(" ")),
            (false, false) => return Remedy::Ask,
        };
        Remedy::Install {
            how,
            lane: Lane::System,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let added = add_target(project, status);
        match added {
            Ok(()) if Source::here(project).is_some() => Ok(()),
            added if debian::can_install() => {
                debian::install(&PACKAGES, status).context(match added {
                    Ok(()) => String::new(),
                    Err(error) => format!("{error:#}"),
                })
            }
            added => added,
        }
    }

    fn by_hand(&self) -> String {
        format!(
            "With rustup: `rustup target add {TARGET}`. On Debian 12 or later: `{}`. \
             Elsewhere your distribution has a package of Rust's library for wasm32.",
            debian::by_hand(&PACKAGES)
        )
    }
}

fn rustup() -> bool {
    output(Command::new("rustup").arg("--version")).is_ok()
}

fn add_target(project: &Project, status: &Status) -> Result<()> {
    if !rustup() {
        bail!("there is no rustup");
    }
    let mut command = project.command("rustup");
    command
        .args(["target", "add", TARGET])
        .env("RUSTUP_MAX_RETRIES", "1");
    quietly(&mut command, Some(PATIENCE), status)
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
