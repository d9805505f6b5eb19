//! Behaviour over many trajectories: diagnostics and signatures, clusters, and the map, natively.

use anyhow::Result;

use crate::project::{Project, output, run};
use crate::{Row, number};

/// The maximum duration of diagnostics and signatures, and of clusters, in milliseconds.
const WORK: f64 = 1_000.0;
/// The duration of a frame, in milliseconds.
const FRAME: f64 = 16.7;

/// Runs the example that makes trajectories and times the work on them.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let example = ["--release", "-p", "volary-view", "--example", "behaviour"];
    run(project.cargo("build").arg("--quiet").args(example))?;
    let mut cargo = project.cargo("run");
    let said = output(cargo.arg("--quiet").args(example))?;
    let rows = number(&said, "rows")?;
    let timed = |what: String, key: &str, most: f64| -> Result<Row> {
        let ours = number(&said, key)?;
        Ok(Row {
            what,
            ours: format!("{ours:.1} ms"),
            against: format!("{most:.0} ms"),
            ratio: format!("{:.2}", ours / most),
            aim: format!("at most {most:.0} ms"),
            met: ours <= most,
        })
    };
    Ok(vec![
        timed(
            format!("diagnostics and signatures of {rows:.0} trajectories of 25 steps, native"),
            "diagnosed_ms",
            WORK,
        )?,
        timed(
            format!("their clusters, {:.0} of them", number(&said, "clusters")?),
            "clustered_ms",
            WORK,
        )?,
        timed(
            format!(
                "the layout of their map, {:.0} arrows",
                number(&said, "edges")?
            ),
            "drawn_ms",
            FRAME,
        )?,
    ])
}
