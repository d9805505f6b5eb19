//! Environments in a browser against the original in CPython: steps, resets and episodes a second.

use std::fs;

use anyhow::{Context, Result};

use super::{Row, number};
use crate::http::Site;
use crate::project::Project;
use crate::run::{self, output};
use crate::setup::{self, BUILD_TOOLS, Chromium, Node, ORIGINAL, PLAYWRIGHT, WasmStd};
use crate::{journeys, wasm};

/// Each in one run on one machine: what it is called in both scripts, and for people.
const RATES: [(&str, &str); 4] = [
    ("dummy_steps", "dummy steps a second"),
    ("dummy_resets", "dummy resets a second"),
    ("dummy_episodes", "dummy episodes a second"),
    ("calculator_steps", "calculator steps a second"),
];

/// Times the original.
const AIM: f64 = 100.0;

const FOLDER: &str = "target/bench";

/// What the compiler uses of WebAssembly; the same as in index.html.
const FEATURES: [&str; 5] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Builds the environments as the page has them, runs them in Chromium, and the original beside it.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    setup::ensure(
        project,
        &[&WasmStd, &Node, &Chromium, &PLAYWRIGHT, &ORIGINAL],
    )?;
    setup::ensure(project, &[&BUILD_TOOLS])?;
    build(project)?;
    let site = Site::serve(project.path(FOLDER), "/", 0)?;
    let mut browser = journeys::in_browser(project, &site)?;
    browser
        .arg(project.path("tests/bench/environments.mjs"))
        .env("VOLARY_BENCH_URL", site.url());
    let ours = output(&mut browser)?;
    let mut python = project.command(ORIGINAL.python(project));
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

/// As Trunk does it for the page: cargo, wasm-bindgen, wasm-opt.
fn build(project: &Project) -> Result<()> {
    let mut cargo = project.cargo("build");
    cargo.args(["--target", "wasm32-unknown-unknown"]).args([
        "--profile",
        "wasm-release",
        "--package",
        "volary-bench",
    ]);
    WasmStd::source(project)?.apply(&mut cargo);
    run::run(&mut cargo)?;
    let folder = project.path(FOLDER);
    let wasm = "target/wasm32-unknown-unknown/wasm-release/volary_bench.wasm";
    wasm::parts(
        project,
        "bind",
        &project.path(wasm),
        &folder,
        "volary_bench",
    )?;
    let bound = folder.join("volary_bench_bg.wasm");
    let mut optimise = project.command("wasm-opt");
    optimise.arg("-Oz").args(FEATURES).arg("-o");
    run::run(optimise.arg(&bound).arg(&bound))?;
    let empty = "<!doctype html><title>Benchmark</title><link rel=icon href=data:,>";
    fs::write(folder.join("index.html"), empty).context("cannot write the benchmark's page")
}
