//! `cargo xtask fuzz`: damaged files of every format, in numbers that no test would take.

use anyhow::Result;

use crate::project::Project;
use crate::run;

/// What is tried.
#[derive(Default)]
pub struct Options {
    /// The formats; all, if there are none.
    pub only: Vec<String>,
    /// So many cases each.
    pub inputs: Option<u64>,
    /// The number of the first case.
    pub from: Option<u64>,
}

/// Builds with the checks of a debug build at the speed of a release build, and tries the cases. Those that
/// break something are left in `target/fuzz`.
pub fn fuzz(project: &Project, options: &Options) -> Result<()> {
    let mut cargo = project.cargo("run");
    cargo.args(["--quiet", "--profile", "fuzz", "-p", "volary-fuzz", "--"]);
    for format in &options.only {
        cargo.args(["--only", format]);
    }
    for (name, number) in [("--inputs", options.inputs), ("--from", options.from)] {
        if let Some(number) = number {
            cargo.args([name, &number.to_string()]);
        }
    }
    run::run(cargo.arg("--out").arg(project.path("target/fuzz")))
}
