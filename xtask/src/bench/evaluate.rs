//! A thousand episodes in `#/evaluate` against the same with the original in CPython; tasks of the main thread.

use anyhow::Result;

use super::{Row, number};
use crate::http::Site;
use crate::project::Project;
use crate::run::{output, output_aloud};
use crate::setup::{self, Chromium, Node, ORIGINAL, PLAYWRIGHT};
use crate::{journeys, page};

/// Times the original.
const AIM: f64 = 50.0;
/// A task over this is felt, in milliseconds.
const LONG_TASK: f64 = 50.0;

/// Builds the page, has it play the episodes in Chromium, and the original beside it.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    setup::ensure(project, &[&Node, &Chromium, &PLAYWRIGHT, &ORIGINAL])?;
    page::build(project)?;
    let site = Site::serve(project.path("dist"), "/", 0)?;
    let mut node = journeys::in_browser(project, &site)?;
    let said = output_aloud(node.arg(project.path("tests/bench/evaluate.mjs")))?;
    let mut python = project.command(ORIGINAL.python(project));
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
