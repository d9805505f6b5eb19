//! A thousand episodes in `#/evaluate` against the same with the original in CPython; tasks of the main thread.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, output, output_aloud};
use crate::{Row, number};

/// Times the original.
const AIM: f64 = 20.0;
/// Longer tasks are noticeable, in milliseconds.
const LONG_TASK: f64 = 50.0;

/// Builds the page, plays the episodes in Chromium, and then with the original.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "original"])?;
    project.build_page()?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let mut node = tools.node("tests/bench/evaluate.mjs", &url);
    let said = output_aloud(&mut node)?;
    let mut python = tools.python("VOLARY_PYTHON")?;
    let theirs = output(python.arg(project.path("tests/bench/original_evaluation.py")))?;
    let theirs = number(&theirs, "seconds")?;
    let (first, median) = (number(&said, "first")?, number(&said, "median")?);
    let (long_tasks, longest) = (number(&said, "long_tasks")?, number(&said, "longest")?);
    let row = |what: &str, ours: f64| Row {
        what: what.to_owned(),
        ours: format!("{ours:.3} s"),
        against: format!("{theirs:.2} s (CPython)"),
        ratio: format!("{:.0} times", theirs / ours),
        aim: format!("at least {AIM:.0} times"),
        met: theirs >= AIM * ours,
    };
    Ok(vec![
        row("1,000 dummy episodes in an evaluation", median),
        row("the first of a visit, which starts the workers", first),
        Row {
            what: "tasks over 50 ms meanwhile".to_owned(),
            ours: format!("{long_tasks:.0} (longest {longest:.0} ms)"),
            against: format!("{LONG_TASK:.0} ms"),
            ratio: format!("{:.0} %", 100.0 * longest / LONG_TASK),
            aim: "none".to_owned(),
            met: long_tasks == 0.0,
        },
    ])
}
