//! Runs the journeys of tests/e2e in real browsers with Playwright, and counts the results in its JSON report.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use volary_site::Site;

use crate::project::Project;
use crate::setup::{self, CHROMIUM, FIREFOX, JUPYTER, ORIGINAL, PLAYWRIGHT, WEBKIT};
use crate::test_summary::Count;
use crate::{page, run};

/// The page must work under any prefix, so the journeys use one.
const PREFIX: &str = "/some/prefix/";
/// The command `volary`, with the server that the journeys start.
const VOLARY: &str = "target/debug/volary";
/// The path of the report, set in tests/playwright.config.mjs.
const REPORT: &str = "target/e2e/report.json";
const RUNNER: &str = "tests/node_modules/@playwright/test/cli.js";
/// A test that passes only on retry is flaky. This many of them fail the run.
const TOO_MANY_FLAKY: u64 = 3;

/// Builds the page and the server, and runs all journeys; those of `volary view` with a packaged command if there is one,
/// which has the page inside.
pub fn journeys(project: &Project, packaged: Option<&Path>) -> Result<Count> {
    setup::ensure(project, &[&CHROMIUM, &PLAYWRIGHT, &ORIGINAL])?;
    for browser in [&FIREFOX, &WEBKIT] {
        if browser.can_be_had(project) {
            setup::ensure(project, &[browser])?;
        }
    }
    page::build(project)?;
    let mut cargo = project.cargo("build");
    // The same features of dependencies as in the native tests, which an example brings: nothing is compiled twice.
    run::run(cargo.args(["--workspace", "--bin", "volary", "--example", "interop"]))?;
    let url = Site::bind(0, PREFIX)?.serve_in_background(&project.path("dist"))?;
    let report = project.path(REPORT);
    if report.exists() {
        fs::remove_file(&report)?;
    }
    let mut node = project.command("node");
    node.arg(project.path(RUNNER))
        .env("VOLARY_URL", url)
        .args(["test", "--config", "tests/playwright.config.mjs"])
        .env("VOLARY_DIST", project.path("dist"))
        .env(
            "VOLARY_SERVER",
            project
                .path(VOLARY)
                .with_extension(std::env::consts::EXE_EXTENSION),
        );
    for tool in [&CHROMIUM, &FIREFOX, &WEBKIT, &ORIGINAL, &JUPYTER] {
        if let Some((variable, path)) = tool.variable.zip(tool.path(project)) {
            node.env(variable, path);
        }
    }
    if let Some(command) = packaged {
        node.env("VOLARY_PACKAGED", command);
    }
    if let Some(browser) = mini_browser() {
        node.env("VOLARY_WEBKIT", browser);
    }
    let succeeded = run::run(&mut node).is_ok();
    let text = fs::read_to_string(&report).context("Playwright wrote no report")?;
    let outcome = Outcome::read(&text)?;
    println!("\njourneys: {outcome}");
    let mut count = outcome.count()?;
    if !succeeded && count.failed == 0 {
        // Playwright failed outside of its tests, for example in a hook.
        count.failed = 1;
    }
    Ok(count)
}

/// The browser that WebKit's driver starts: next to the library, in a folder named after the architecture.
fn mini_browser() -> Option<PathBuf> {
    let folders = Path::new("/usr/lib").read_dir().ok()?.flatten();
    let places = folders.flat_map(|folder| {
        ["4.1", "4.0", "6.0"].map(|version| {
            let name = format!("webkit2gtk-{version}/MiniBrowser");
            folder.path().join(name)
        })
    });
    places.into_iter().find(|path| path.is_file())
}

/// The statistics of a report.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    passed: u64,
    flaky: u64,
    failed: u64,
    skipped: u64,
}

impl Outcome {
    fn read(report: &str) -> Result<Outcome> {
        let report: Value =
            serde_json::from_str(report).context("Playwright's report is not JSON")?;
        let number = |key: &str| {
            let number = report.pointer(&format!("/stats/{key}"));
            number
                .and_then(Value::as_u64)
                .with_context(|| format!("Playwright's report has no stats.{key}"))
        };
        Ok(Outcome {
            passed: number("expected")?,
            flaky: number("flaky")?,
            failed: number("unexpected")?,
            skipped: number("skipped")?,
        })
    }

    /// Flaky tests count as passed until there are too many.
    fn count(&self) -> Result<Count> {
        if self.passed + self.flaky + self.failed == 0 {
            bail!("Playwright ran no test at all");
        }
        let (flaky_passed, flaky_failed) = match self.flaky {
            few if few < TOO_MANY_FLAKY => (few, 0),
            many => (0, many),
        };
        Ok(Count {
            passed: self.passed + flaky_passed,
            failed: self.failed + flaky_failed,
        })
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome {
            passed,
            flaky,
            failed,
            skipped,
        } = self;
        write!(
            f,
            "{passed} passed at once, {flaky} flaky, {failed} failed, {skipped} skipped"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(passed: u64, flaky: u64, failed: u64) -> Outcome {
        let report = format!(
            r#"{{"stats": {{"expected": {passed}, "flaky": {flaky}, "unexpected": {failed}, "skipped": 1}}}}"#
        );
        Outcome::read(&report).unwrap()
    }

    #[test]
    fn two_flaky_tests_pass_and_three_fail() {
        let two = outcome(10, 2, 0).count().unwrap();
        assert_eq!((two.passed, two.failed), (12, 0));
        let three = outcome(10, 3, 1).count().unwrap();
        assert_eq!((three.passed, three.failed), (10, 4));
    }

    #[test]
    fn a_run_without_tests_is_an_error() {
        assert!(outcome(0, 0, 0).count().is_err());
        assert!(Outcome::read("{}").is_err());
        assert!(Outcome::read("").is_err());
    }
}
