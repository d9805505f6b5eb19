//! Environments in a browser against the original in CPython: steps, resets and episodes a second.

use std::fs;

use anyhow::{Context, Result};
use volary_site::Site;

use crate::project::{Project, Tools, output, run};
use crate::{Row, number};

/// The measurements: the name in both scripts, and the displayed name.
const RATES: [(&str, &str); 4] = [
    ("dummy_steps", "dummy steps a second"),
    ("dummy_resets", "dummy resets a second"),
    ("dummy_episodes", "dummy episodes a second"),
    ("calculator_steps", "calculator steps a second"),
];

/// Times the original.
const AIM: f64 = 100.0;

/// The output folder of the benchmark's build.
pub(super) const FOLDER: &str = "target/bench";

/// The WebAssembly features that the compiler uses; the same as for the page.
const FEATURES: [&str; 5] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Builds the environments as for the page, runs them in Chromium, and then the original in CPython.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["build-tools", "node", "chromium", "playwright", "original"])?;
    build(project, &tools)?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path(FOLDER))?;
    let mut browser = tools.node("tests/bench/environments.mjs", &url);
    browser.env("VOLARY_BENCH_URL", &url);
    let ours = output(&mut browser)?;
    let mut python = tools.python("VOLARY_PYTHON")?;
    let theirs = output(python.arg(project.path("tests/bench/original.py")))?;
    RATES
        .iter()
        .map(|(key, what)| {
            let (ours, theirs) = (number(&ours, key)?, number(&theirs, key)?);
            Ok(Row {
                what: (*what).to_owned(),
                ours: format!("{ours:.0}"),
                against: format!("{theirs:.0} (CPython)"),
                ratio: format!("{:.0} times", ours / theirs),
                aim: format!("at least {AIM:.0} times"),
                met: ours >= AIM * theirs,
            })
        })
        .collect()
}

/// The same steps as for the page: cargo, wasm-bindgen, wasm-opt.
pub(super) fn build(project: &Project, tools: &Tools<'_>) -> Result<()> {
    let mut cargo = project.cargo("build");
    cargo.args(["--target", "wasm32-unknown-unknown"]).args([
        "--profile",
        "wasm-release",
        "--package",
        "volary-bench",
        "--lib",
    ]);
    // The variables of the wasm library are for this build alone.
    project.tools(&["wasm"])?.apply(&mut cargo);
    run(&mut cargo)?;
    let folder = project.path(FOLDER);
    let wasm = "target/wasm32-unknown-unknown/wasm-release/volary_bench.wasm";
    let mut cargo = project.cargo("run");
    cargo.args(["--quiet", "--package", "wasm-parts", "--", "bind"]);
    cargo.arg(project.path(wasm)).arg(&folder);
    run(cargo.arg("volary_bench"))?;
    let bound = folder.join("volary_bench_bg.wasm");
    let mut optimise = tools.command("wasm-opt");
    optimise.arg("-Oz").args(FEATURES).arg("-o");
    run(optimise.arg(&bound).arg(&bound))?;
    let empty = "<!doctype html><title>Benchmark</title><link rel=icon href=data:,>";
    fs::write(folder.join("index.html"), empty).context("cannot write the benchmark's page")
}
