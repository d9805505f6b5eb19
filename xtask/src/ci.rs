//! `cargo xtask ci`: all checks that must pass before a change is merged.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::project::Project;
use crate::setup::{self, WASM, WasmStd};
use crate::test_summary::Count;
use crate::{run, test};

/// Runs all stages, or the named ones, continuing after failures, and ends with a line that counts.
pub fn ci(project: &Project, only: &[String]) -> Result<bool> {
    let names = STAGES.map(|(name, _)| name);
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("unknown stage `{unknown}`; available: {}", names.join(", "));
    }
    let mut total = Count::default();
    let mut failed = Vec::new();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    for (name, stage) in STAGES.into_iter().filter(|(name, _)| wanted(name)) {
        println!("\n=== {name} ===");
        let start = Instant::now();
        let count = stage(project).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Count::of(false)
        });
        if count.failed > 0 {
            failed.push(name);
        }
        println!("{name}: {count} ({:.0?})", start.elapsed());
        total += count;
    }
    if !failed.is_empty() {
        println!("\nFailed: {}.", failed.join(", "));
    }
    println!("\n{total}");
    Ok(total.failed == 0)
}

/// The crates of the page, from the innermost outward. Each may depend on the ones before it.
pub const BELOW_THE_PAGE: &[&str] = &[
    "volary-macros",
    "volary-connectivity",
    "volary-core",
    "volary-policy",
    "volary-torch",
    "volary-parquet",
    "volary-tokens",
    "volary-rollout",
    "volary-envs",
    "volary-remote",
    "volary-openenv",
    "volary-episode",
    "volary-school",
    "volary-analysis",
    "volary-export",
    "volary-formats",
    "volary-classroom",
    "volary-agent",
    "volary-ask",
    "volary-protocol",
    "volary-app",
    "volary-library",
    "volary-lesson",
    "volary-view",
];

/// The crates of the page, each after those that it uses.
const OF_THE_PAGE: &[&str] = &[
    "volary-browser",
    "volary-secrets",
    "volary-storage",
    "volary-ui",
    "volary-connections",
    "volary-library-client",
    "volary-behaviour",
    "volary-workers",
    "volary-playground",
    "volary-evaluate",
    "volary-ask-page",
    "volary-review",
    "volary-teach",
    "volary-school-page",
    "volary-settings",
];

type Stage = fn(&Project) -> Result<Count>;

const STAGES: [(&str, Stage); 6] = [
    ("format", format),
    ("lint-native", lint_native),
    ("lint-wasm", lint_wasm),
    ("layers", layers),
    ("sources", sources),
    ("test", tests),
];

fn format(project: &Project) -> Result<Count> {
    one(project.cargo("fmt").args(["--all", "--check"]))
}

fn lint_native(project: &Project) -> Result<Count> {
    let mut clippy = project.cargo("clippy");
    clippy.args(["--workspace", "--all-targets", "--", "-D", "warnings"]);
    one(&mut clippy)
}

/// Lints all code of the page for wasm, with additional rules: operations that a browser's single thread must not do.
fn lint_wasm(project: &Project) -> Result<Count> {
    setup::ensure(project, &[&WASM])?;
    let mut clippy = WasmStd::here(project)?.clippy(project);
    clippy
        .env("CLIPPY_CONF_DIR", project.path(".ci/wasm"))
        .args(["--target", "wasm32-unknown-unknown", "--package", "volary"]);
    for member in BELOW_THE_PAGE.iter().chain(OF_THE_PAGE) {
        clippy.args(["--package", member]);
    }
    one(clippy.args(["--", "-D", "warnings"]))
}

/// See [`crate::checks`].
fn layers(project: &Project) -> Result<Count> {
    checks(project, "checks::layers")
}

fn sources(project: &Project) -> Result<Count> {
    checks(project, "checks::sources")
}

fn checks(project: &Project, filter: &str) -> Result<Count> {
    // The features of the whole workspace, as in the tests: otherwise the dependencies are compiled twice.
    let mut cargo = project.cargo("test");
    test::tally(cargo.args(["--quiet", "--workspace", "--bin", "xtask", filter]))
}

fn tests(project: &Project) -> Result<Count> {
    test::parts(project, &[])
}

fn one(command: &mut Command) -> Result<Count> {
    run::run(command).map(|()| Count::of(true))
}
