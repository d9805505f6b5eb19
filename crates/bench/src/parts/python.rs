//! Environments in Python on the page: steps a second next to the built-in environment, Stop, and memory after restarts.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, output_aloud};
use crate::{Row, number};

/// Steps a second of fhaviary's DummyEnv.
const STEPS: f64 = 500.0;
/// From the click on Stop until Python is ready again, in milliseconds.
const STOP: f64 = 100.0;
/// The maximum growth of memory over 90 restarts: a worker of Python takes about 100 MB, so a leak of one in ten shows.
const GROWTH: f64 = 1.2;

/// Builds the page and measures in Chromium.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright"])?;
    project.build_page()?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let said = output_aloud(&mut tools.node("tests/bench/python.mjs", &url))?;
    let [python, ours] = [number(&said, "python")?, number(&said, "ours")?];
    let [stop, slowest] = [number(&said, "stop")?, number(&said, "slowest")?];
    let [before, after] = [number(&said, "before")?, number(&said, "after")?];
    Ok(vec![
        Row {
            what: "steps a second of DummyEnv in an evaluation".to_owned(),
            ours: format!("{ours:.0} (built in)"),
            against: format!("{python:.0} (Python in the page)"),
            ratio: format!("{:.0} times", ours / python),
            aim: format!("at least {STEPS:.0} in Python"),
            met: python >= STEPS,
        },
        Row {
            what: "Stop of an endless loop in Python, median of 100".to_owned(),
            ours: format!("{stop:.0} ms (longest {slowest:.0} ms)"),
            against: format!("{STOP:.0} ms"),
            ratio: format!("{:.0} %", 100.0 * stop / STOP),
            aim: format!("at most {STOP:.0} ms"),
            met: stop <= STOP,
        },
        Row {
            what: "memory of the browser after 100 restarts of Python".to_owned(),
            ours: format!("{:.0} MB", after / 1e6),
            against: format!("{:.0} MB after 10", before / 1e6),
            ratio: format!("{:.2}", after / before),
            aim: format!("at most {GROWTH}"),
            met: after <= GROWTH * before,
        },
    ])
}
