//! `cargo xtask test`: native tests, journeys in a real browser, and the original as the judge.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::again::Failures;
use crate::count::Count;
use crate::http::Site;
use crate::project::Project;
use crate::run::{Stream, output};
use crate::setup::{self, Chromium, HARNESSES, HaProxy, Node, ORIGINAL, PLAYWRIGHT, SDKS};
use crate::{page, run};

/// The page must work under any prefix, so this is where the tests meet it.
const PREFIX: &str = "/some/prefix/";

/// The server that journeys play on.
const OUR_SERVER: &str = "target/debug/volary-server";

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
                _ => e2e(project),
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

fn golden(project: &Project) -> Result<Count> {
    let mut cargo = project.cargo("test");
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

fn e2e(project: &Project) -> Result<Count> {
    setup::ensure(project, &[&Node, &Chromium, &PLAYWRIGHT, &ORIGINAL])?;
    page::build(project)?;
    // Journeys play on task dataset servers too: ours and the original's.
    let mut cargo = project.cargo("build");
    run::run(cargo.args(["-p", "volary-server", "--bin", "volary-server"]))?;
    let site = Site::serve(project.path("dist"), PREFIX, 0)?;
    // Two files at a time: each has a browser of its own, and waits for it more often than not.
    let mut node = journeys(project, &site, 2)?;
    node.args(files(&project.path("tests/e2e"), ".spec.mjs")?);
    let mut failures = Failures::default();
    let mut count = tally_hearing(&mut node, Stream::Output, |line| failures.read(line))?;
    for failure in failures.few(count.failed).unwrap_or_default() {
        println!("\n== again, alone: {} ==", failure.name);
        let mut node = journeys(project, &site, 1)?;
        node.arg(format!("--test-name-pattern={}", failure.pattern()))
            .arg(&failure.file);
        if tally(&mut node).is_ok_and(|again| again.failed == 0 && again.passed > 0) {
            count.failed -= 1;
            count.passed += 1;
            println!("It passed, alone; something is amiss in it all the same.");
        }
    }
    Ok(count)
}

/// Node, told of all that journeys need; so many files at a time.
fn journeys(project: &Project, site: &Site, beside: usize) -> Result<Command> {
    let mut node = in_browser(project, site)?;
    // A journey that failed may leave a server behind: that ends the file as well.
    node.args(["--test", "--test-force-exit", "--test-reporter=spec"])
        .arg(format!("--test-concurrency={beside}"))
        .env("VOLARY_DIST", project.path("dist"))
        .env("VOLARY_XTASK", std::env::current_exe()?)
        .env(
            "VOLARY_SERVER",
            project
                .path(OUR_SERVER)
                .with_extension(std::env::consts::EXE_EXTENSION),
        )
        .env("VOLARY_PYTHON", ORIGINAL.python(project));
    Ok(node)
}

/// Node, told where the page and the browser are.
pub fn in_browser(project: &Project, site: &Site) -> Result<Command> {
    let mut node = project.command("node");
    node.env("VOLARY_URL", site.url())
        .env("VOLARY_CHROMIUM", Chromium::path(project)?);
    Ok(node)
}

/// The files of a folder whose names end so, in order; none is an error, for then nothing is tested.
pub fn files(folder: &Path, end: &str) -> Result<Vec<std::path::PathBuf>> {
    let unreadable = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in folder.read_dir().with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if path.to_string_lossy().ends_with(end) {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("{} holds no {end}", folder.display());
    }
    files.sort();
    Ok(files)
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
