//! `cargo xtask test`: native tests, journeys in a real browser, and the original as the judge.

use std::process::Command;

use anyhow::{Result, bail};

use crate::project::Project;
use crate::run::{Stream, output};
use crate::setup::{
    self, HARNESSES, HaProxy, Need, Node, ORIGINAL, PLAYWRIGHT, SDKS, TOKENIZER, TOKENIZER_FILE,
};
use crate::test_summary::Count;
use crate::{journeys, run};

/// The parts, in the order in which they fail soonest.
const PARTS: [&str; 4] = ["unit", "golden", "interop", "e2e"];

/// Runs every part, or those that are named, and says whether all passed.
pub fn test(project: &Project, only: &[String]) -> Result<bool> {
    let count = parts(project, only)?;
    println!("\n{count}");
    Ok(count.failed == 0)
}

/// Runs the parts and counts; a part that can't be run at all counts as one that failed.
pub fn parts(project: &Project, only: &[String]) -> Result<Count> {
    if let Some(unknown) = only.iter().find(|name| !PARTS.contains(&name.as_str())) {
        bail!(
            "there is no part `{unknown}`; there are {}",
            PARTS.join(", ")
        );
    }
    let mut total = Count::default();
    for part in PARTS {
        // The golden cases are among the native tests already, unless they are asked for alone.
        let wanted = only.iter().any(|name| name == part) || only.is_empty() && part != "golden";
        if wanted {
            println!("\n== {part} ==");
            let count = match part {
                "unit" => unit(project),
                "golden" => golden(project),
                "interop" => interop(project),
                _ => journeys::journeys(project),
            };
            total += count.unwrap_or_else(|error| {
                eprintln!("error: {error:#}");
                Count::of(false)
            });
        }
    }
    Ok(total)
}

fn unit(project: &Project) -> Result<Count> {
    if output(
        project
            .command("cargo-nextest")
            .args(["nextest", "--version"]),
    )
    .is_err()
    {
        println!("cargo-nextest is not installed, so cargo test runs one test program at a time.");
        let mut cargo = project.cargo("test");
        return tally(cargo.args(["--workspace", "--no-fail-fast"]));
    }
    let mut nextest = project.cargo("nextest run");
    // Its summary is read, so it must be plain text.
    nextest.args(["--workspace", "--color", "never"]);
    let mut count = tally_hearing(&mut nextest, Stream::Error, |_| ())?;
    // nextest runs neither the golden harness nor the examples in documentation.
    count += golden(project)?;
    let mut cargo = project.cargo("test");
    count += tally(cargo.args(["--workspace", "--doc", "--no-fail-fast"]))?;
    Ok(count)
}

/// Where the harness looks for Qwen2.5's tokenizer.
const TOKENIZER_VARIABLE: &str = "VOLARY_QWEN25_TOKENIZER";

fn golden(project: &Project) -> Result<Count> {
    // The harness names the cases that it can't run without the file.
    if let Err(error) = setup::ensure(project, &[&Node, &TOKENIZER]) {
        eprintln!("Without {}: {error:#}", TOKENIZER.name());
    }
    let mut cargo = project.cargo("test");
    if TOKENIZER.find(project).is_some() && std::env::var_os(TOKENIZER_VARIABLE).is_none() {
        cargo.env(TOKENIZER_VARIABLE, project.path(TOKENIZER_FILE));
    }
    tally(cargo.args(["--workspace", "--test", "golden"]))
}

fn interop(project: &Project) -> Result<Count> {
    setup::ensure(project, &[&ORIGINAL])?;
    if HaProxy::can_be_had(project) {
        setup::ensure(project, &[&HaProxy])?;
    }
    let python = ORIGINAL.python(project);
    let mut pytest = project.command(&python);
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider", "tests/interop"])
        .arg("--ignore=tests/interop/providers")
        .arg("--ignore=tests/interop/harnesses")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("VOLARY_PYTHON", &python);
    let mut count = tally(&mut pytest)?;
    count += providers(project)?;
    count += harnesses(project)?;
    Ok(count)
}

/// The wire formats of model providers, by the providers' own SDKs and by servers that speak them.
fn providers(project: &Project) -> Result<Count> {
    setup::ensure(project, &[&SDKS, &Node, &PLAYWRIGHT])?;
    let mut pytest = project.command(SDKS.python(project));
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider"])
        .arg("tests/interop/providers")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    tally(&mut pytest)
}

/// Formats of trajectories, by the tools that write and read them.
fn harnesses(project: &Project) -> Result<Count> {
    setup::ensure(project, &[&HARNESSES])?;
    let mut pytest = project.command(HARNESSES.python(project));
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider"])
        .arg("tests/interop/harnesses")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    tally(&mut pytest)
}

fn tally(command: &mut Command) -> Result<Count> {
    tally_hearing(command, Stream::Output, |_| ())
}

/// Counts, and passes each line on.
fn tally_hearing(
    command: &mut Command,
    stream: Stream,
    mut hear: impl FnMut(&str),
) -> Result<Count> {
    let mut count = Count::default();
    let fine = run::watch(command, stream, |line| {
        count.read(line);
        hear(line);
    })?;
    if !fine && count.failed == 0 {
        // It failed before or beside its tests: that is a failure as well.
        count.failed = 1;
    }
    if count == Count::default() {
        bail!("`{}` ran no test at all", run::line(command));
    }
    Ok(count)
}
