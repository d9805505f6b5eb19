//! Updates of the school, next to the same loop in PyTorch on one thread.

use anyhow::Result;

use crate::project::{Project, output, run};
use crate::{Row, number};

/// The updates of a measurement: about as many as the agent needs to solve nine of ten tasks.
const UPDATES: &str = "100";
/// How many times as fast as PyTorch the native program is at least.
const RATIO: f64 = 10.0;

/// Builds the example of `crates/school`, and runs both.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["torch"])?;
    let example = ["--release", "-p", "volary-school", "--example", "speed"];
    run(project.cargo("build").arg("--quiet").args(example))?;
    let mut ours = project.cargo("run");
    let ours = output(ours.arg("--quiet").args(example).args(["--", UPDATES]))?;
    let mut theirs = tools.python("VOLARY_TORCH")?;
    let warm_start = project.path("crates/school/data/calculator.volp");
    theirs
        .arg(project.path("tests/bench/school.py"))
        .arg(warm_start);
    let theirs = output(theirs.arg(UPDATES))?;
    let [ours, theirs] = [ours, theirs].map(|said| number(&said, "updates_per_second"));
    let (ours, theirs) = (ours?, theirs?);
    Ok(vec![Row {
        what: "school: updates of 128 samples, native".to_owned(),
        ours: format!("{ours:.1} a second"),
        against: format!("{theirs:.1} a second (PyTorch, one thread)"),
        ratio: format!("{:.1}", ours / theirs),
        aim: format!("at least {RATIO:.0}"),
        met: ours >= RATIO * theirs,
    }])
}
