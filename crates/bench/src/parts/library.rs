//! A large library on the page: a gigabyte is imported, five thousand trajectories are searched.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, output_aloud};
use crate::{Row, number};

/// The minimum throughput of an import, in megabytes per second.
const RATE: f64 = 80.0;
/// The maximum duration of a task of the page, in milliseconds.
const TASK: f64 = 50.0;
/// The maximum duration of a search, in milliseconds.
const ANSWER: f64 = 100.0;

/// Builds the page, and imports the files in Chromium.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright"])?;
    project.build_page()?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let mut node = tools.node("tests/bench/library.mjs", &url);
    node.env("VOLARY_DIST", project.path("dist"));
    let said = output_aloud(&mut node)?;
    let of = |key: &str| number(&said, key);
    let (index_rate, rate, kept_rate) = (of("index_rate")?, of("rate")?, of("kept_rate")?);
    let (memory, bytes) = (of("memory")?, of("bytes")?);
    let (median, slow) = (of("search_median")?, of("search_p95")?);
    Ok(vec![
        Row {
            what: format!(
                "a site's own {:.2} GB JSONL over HTTP, {:.0} trajectories, of which nothing is kept",
                bytes / 1e9,
                of("episodes")?
            ),
            ours: format!("{index_rate:.0} MB/s"),
            against: format!("{RATE:.0} MB/s"),
            ratio: format!("{:.2}", index_rate / RATE),
            aim: format!("at least {RATE:.0} MB/s"),
            met: index_rate >= RATE,
        },
        Row {
            what: format!(
                "import of {:.2} GB JSONL, {:.0} trajectories",
                bytes / 1e9,
                of("episodes")?
            ),
            ours: format!(
                "{rate:.0} MB/s (first row after {:.0} ms)",
                of("first_row")?
            ),
            against: format!("{RATE:.0} MB/s"),
            ratio: format!("{:.2}", rate / RATE),
            aim: format!("at least {RATE:.0} MB/s"),
            met: rate >= RATE,
        },
        Row {
            what: "with the copy that stays in the browser".to_owned(),
            ours: format!("{kept_rate:.0} MB/s"),
            against: format!("{RATE:.0} MB/s"),
            ratio: format!("{:.2}", kept_rate / RATE),
            aim: format!("at least {RATE:.0} MB/s"),
            met: kept_rate >= RATE,
        },
        Row {
            what: "memory of page and worker after that".to_owned(),
            ours: format!("{:.0} MB", memory / 1e6),
            against: "the file".to_owned(),
            ratio: format!("{:.2} of the file", memory / bytes),
            aim: "at most half of it".to_owned(),
            met: memory <= bytes / 2.0,
        },
        Row {
            what: "longest task of the page meanwhile".to_owned(),
            ours: format!("{:.0} ms", of("longest_task")?),
            against: format!("{TASK:.0} ms"),
            ratio: format!("{:.2}", of("longest_task")? / TASK),
            aim: format!("at most {TASK:.0} ms"),
            met: of("longest_task")? <= TASK,
        },
        Row {
            what: "sorting them by their names, longest task".to_owned(),
            ours: format!(
                "{:.0} ms (in order after {:.0} ms)",
                of("sort_task")?,
                of("sort")?
            ),
            against: format!("{TASK:.0} ms"),
            ratio: format!("{:.2}", of("sort_task")? / TASK),
            aim: format!("at most {TASK:.0} ms"),
            met: of("sort_task")? <= TASK,
        },
        Row {
            what: "search over 5,000 trajectories, letter to rows".to_owned(),
            ours: format!(
                "{median:.0} ms (95 of 100: {slow:.0} ms; the first {:.0} ms)",
                of("first_search")?
            ),
            against: format!("{ANSWER:.0} ms"),
            ratio: format!("{:.2}", slow / ANSWER),
            aim: format!("at most {ANSWER:.0} ms"),
            met: slow <= ANSWER,
        },
    ])
}
