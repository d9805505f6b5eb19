//! A long episode on the page: the time of a step on the main thread, and the memory.
//!
//! The aim is absolute, on any machine. Machines differ, and so do the minutes of one: CPython runs the original
//! in the same run to show how fast this machine was. The bound does not depend on it.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, Tools, output, output_aloud};
use crate::{Row, number};

/// The bound for one step, in milliseconds: two frames of a 60 Hz screen.
const STEP_BOUND: f64 = 33.0;

/// CPython's rate for the original's dummy environment on the machine on which the aim was set.
const STEPS_THERE: f64 = 4_500.0;

/// The operations at ten thousand steps: the name in the script, and the displayed name.
const MOVES: [(&str, &str); 3] = [
    ("append", "append by hand"),
    ("next", "scrub by one step"),
    ("jump", "scrub by a random jump"),
];

/// Builds the page, and plays ten thousand steps of the dummy environment in Chromium.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "original"])?;
    project.build_page()?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let mut node = tools.node("tests/bench/long_episode.mjs", &url);
    let before = original(project, &tools)?;
    let said = output_aloud(&mut node)?;
    let steps_here = before.max(original(project, &tools)?);
    let mut rows = vec![run(&said)?];
    for (key, what) in MOVES {
        let median = number(&said, &format!("{key}_median"))?;
        let slow = number(&said, &format!("{key}_p95"))?;
        let most = number(&said, &format!("{key}_most"))?;
        rows.push(Row {
            what: format!("10,000 steps: {what}"),
            ours: format!("{median:.1} ms (95 of 100: {slow:.1} ms; the most: {most:.1} ms)"),
            against: format!(
                "{STEP_BOUND:.0} ms (a frame; CPython makes {steps_here:.0} steps a second here, {STEPS_THERE:.0} \
                 where the aim comes from)"
            ),
            ratio: format!(
                "{:.0} % (95 of 100: {:.0} %)",
                100.0 * median / STEP_BOUND,
                100.0 * slow / STEP_BOUND
            ),
            aim: format!("at most {STEP_BOUND:.0} ms in 95 of 100"),
            met: slow <= STEP_BOUND,
        });
    }
    rows.push(memory(&said)?);
    Ok(rows)
}

/// The original's steps per second in its dummy environment, measured now on this machine.
fn original(project: &Project, tools: &Tools<'_>) -> Result<f64> {
    let mut python = tools.python("VOLARY_PYTHON")?;
    python.arg(project.path("tests/bench/original.py"));
    number(&output(python.arg("dummy_steps"))?, "dummy_steps")
}

/// A policy acts as fast as it can, and the page shows its steps.
fn run(said: &str) -> Result<Row> {
    let step = number(said, "run_10000")?;
    Ok(Row {
        what: "10,000 steps: append by a policy".to_owned(),
        ours: format!("{step:.2} ms a step"),
        against: format!("{STEP_BOUND:.0} ms (a frame)"),
        ratio: format!("{:.0} %", 100.0 * step / STEP_BOUND),
        aim: format!("at most {STEP_BOUND:.0} ms"),
        met: step <= STEP_BOUND,
    })
}

/// Linear: twice the steps take about twice the memory.
fn memory(said: &str) -> Result<Row> {
    let at = |steps: u32| number(said, &format!("memory_{steps}"));
    let (first, second, last) = (at(2_500)?, at(5_000)?, at(10_000)?);
    let per_step = (last - first) / 7_500.0;
    let growth = (last - second) / (second - first);
    let megabytes = |bytes: f64| format!("{:.1}", bytes / 1e6);
    Ok(Row {
        what: "memory at 2,500, 5,000, 10,000 steps".to_owned(),
        ours: format!(
            "{}, {}, {} MB ({:.1} KB a step)",
            megabytes(first),
            megabytes(second),
            megabytes(last),
            per_step / 1e3
        ),
        against: "linear growth".to_owned(),
        ratio: format!("{growth:.1} times more for twice the steps"),
        aim: "about 2 times".to_owned(),
        met: growth <= 2.6,
    })
}
