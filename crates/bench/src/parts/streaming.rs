//! The cost of showing a streaming answer of a model: tasks of the main thread, and memory.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, output_aloud};
use crate::{Row, number};

/// Longer tasks are noticeable, in milliseconds.
const LONG_TASK: f64 = 50.0;
/// The size of the answer, and of the stored part of its stream, in bytes.
const FLAT: f64 = 8e6;

/// Builds the page, and streams a model's answer to it in Chromium for a minute.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright"])?;
    project.build_page()?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let mut node = tools.node("tests/bench/streaming.mjs", &url);
    let said = output_aloud(&mut node)?;
    let figure = |key: &str| number(&said, key);
    let (rate, seconds) = (figure("rate")?, figure("seconds")?);
    let (long_tasks, longest, busy) = (figure("long_tasks")?, figure("longest")?, figure("busy")?);
    let (early, late) = (figure("memory_early")?, figure("memory_late")?);
    let grown = late - early;
    Ok(vec![
        Row {
            what: format!("{rate:.0} tokens a second for {seconds:.0} s: tasks over 50 ms"),
            ours: format!("{long_tasks:.0} (longest {longest:.0} ms)"),
            against: format!("{LONG_TASK:.0} ms"),
            ratio: format!("{:.0} % of the time busy", 100.0 * busy),
            aim: "none".to_owned(),
            met: long_tasks == 0.0,
        },
        Row {
            what: "memory after 10 s and at the end".to_owned(),
            ours: format!("{:.1}, {:.1} MB", early / 1e6, late / 1e6),
            against: "flat".to_owned(),
            ratio: format!("{:+.1} MB", grown / 1e6),
            aim: format!("at most {:.0} MB more", FLAT / 1e6),
            met: grown <= FLAT,
        },
    ])
}
