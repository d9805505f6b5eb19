//! `cargo xtask test`: native tests, journeys in a real browser, and comparisons with the original.

use std::process::Command;
use std::thread::ScopedJoinHandle;

use anyhow::{Result, anyhow, bail};

use crate::project::Project;
use crate::run::output;
use crate::setup::{
    self, CONFORMANCE, HAPROXY, HARNESSES, OPENENV, ORIGINAL, PLAYWRIGHT, SDKS, TOKENIZER,
    TOKENIZER_FILE, Tool,
};
use crate::test_summary::Count;
use crate::{dist, journeys, run};

/// The parts, those that fail soonest first.
const PARTS: [&str; 4] = ["unit", "golden", "interop", "e2e"];

/// Runs all parts, or the named ones; returns whether all passed.
pub fn test(project: &Project, only: &[String]) -> Result<bool> {
    let count = parts(project, only)?;
    println!("\n{count}");
    Ok(count.failed == 0)
}

/// Runs the parts and counts; a part that cannot be run counts as one failure.
pub fn parts(project: &Project, only: &[String]) -> Result<Count> {
    if let Some(unknown) = only.iter().find(|name| !PARTS.contains(&name.as_str())) {
        bail!("unknown part `{unknown}`; available: {}", PARTS.join(", "));
    }
    // The native tests already include the golden cases, unless these are selected alone.
    let wanted =
        |part: &&str| only.iter().any(|name| name == part) || only.is_empty() && *part != "golden";
    let mut total = Count::default();
    std::thread::scope(|scope| {
        // Mostly on one core, so the other parts run concurrently. A person who tests only the journeys does not wait for a
        // release of the command.
        let mut packaged = only
            .is_empty()
            .then(|| scope.spawn(|| dist::install(project)));
        for part in PARTS.into_iter().filter(wanted) {
            println!("\n== {part} ==");
            let count = match part {
                "unit" => unit(project),
                "golden" => golden(project),
                "interop" => interop(project),
                _ => match packaged.take().map(ScopedJoinHandle::join) {
                    None => journeys::journeys(project, None),
                    Some(Ok(Ok(command))) => journeys::journeys(project, Some(&command)),
                    Some(Ok(Err(error))) => Err(error.context("the release cannot be installed")),
                    Some(Err(_)) => Err(anyhow!("the thread that packs the release panicked")),
                },
            };
            total += count.unwrap_or_else(|error| {
                eprintln!("error: {error:#}");
                Count::of(false)
            });
        }
    });
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
    // Its summary is parsed, so it must be plain text.
    nextest.args(["--workspace", "--color", "never"]);
    let mut count = tally(&mut nextest)?;
    // nextest runs neither the golden harness nor the examples in documentation.
    count += golden(project)?;
    let mut cargo = project.cargo("test");
    count += tally(cargo.args(["--workspace", "--doc", "--no-fail-fast"]))?;
    Ok(count)
}

/// The variable with the path of Qwen2.5's tokenizer for the harness.
const TOKENIZER_VARIABLE: &str = "VOLARY_QWEN25_TOKENIZER";

fn golden(project: &Project) -> Result<Count> {
    // The harness reports the cases that it skips without the file.
    if let Err(error) = setup::ensure(project, &[&TOKENIZER]) {
        eprintln!("Without {}: {error:#}", TOKENIZER.name);
    }
    let mut cargo = project.cargo("test");
    if TOKENIZER.path(project).is_some() && std::env::var_os(TOKENIZER_VARIABLE).is_none() {
        cargo.env(TOKENIZER_VARIABLE, project.path(TOKENIZER_FILE));
    }
    tally(cargo.args(["--workspace", "--test", "golden"]))
}

/// Compares with the original, then with providers' SDKs and servers that use their wire formats, then with the tools
/// that write and read formats of trajectories, then with OpenEnv's clients.
fn interop(project: &Project) -> Result<Count> {
    if HAPROXY.can_be_had(project) {
        setup::ensure(project, &[&HAPROXY])?;
    }
    let mut count = pytest(
        project,
        &ORIGINAL,
        &[
            "tests/interop",
            "--ignore=tests/interop/providers",
            "--ignore=tests/interop/harnesses",
            "--ignore=tests/interop/openenv",
        ],
    )?;
    setup::ensure(project, &[&PLAYWRIGHT])?;
    count += pytest(project, &SDKS, &["tests/interop/providers"])?;
    setup::ensure(project, &[&CONFORMANCE])?;
    count += pytest(project, &HARNESSES, &["tests/interop/harnesses"])?;
    count += pytest(project, &OPENENV, &["tests/interop/openenv"])?;
    Ok(count)
}

/// Runs tests in a virtual environment.
fn pytest(project: &Project, environment: &'static Tool, tests: &[&str]) -> Result<Count> {
    setup::ensure(project, &[environment])?;
    let python = environment.ensured_path(project)?;
    let mut pytest = project.command(&python);
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider"])
        .args(tests)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    if let Some(variable) = ORIGINAL
        .variable
        .filter(|_| environment.key == ORIGINAL.key)
    {
        pytest.env(variable, &python);
    }
    tally(&mut pytest)
}

/// Counts the tests of a command with visible output.
pub fn tally(command: &mut Command) -> Result<Count> {
    let mut count = Count::default();
    let fine = run::watch(command, |line| count.read(line))?;
    if !fine && count.failed == 0 {
        // A failure before or outside of its tests counts as well.
        count.failed = 1;
    }
    if count == Count::default() {
        bail!("`{}` ran no test at all", run::line(command));
    }
    Ok(count)
}
