//! Review and Inspect View with the same logs in the same Chromium, in one run.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, output_aloud};
use crate::{Row, number};

/// The logs: the name in the scripts, the displayed name, and the maximum time to the first rows as a share of
/// Inspect View's.
const LOGS: [(&str, &str, f64); 5] = [
    ("few", "50 samples", 1.0 / 2.0),
    ("many", "5,000 samples, .eval", 1.0 / 2.0),
    ("many-json", "5,000 samples, .json", 1.0 / 8.0),
    ("long", "one sample of 3,000 messages", 1.0 / 8.0),
    ("huge", "one sample of 6,000 messages", 1.0 / 8.0),
];
/// The logs of one sample, which is read and scrolled.
const SAMPLES: [&str; 2] = ["long", "huge"];
/// Their maximum memory as a share of Inspect View's.
const MEMORY: f64 = 1.0 / 3.0;
/// The maximum duration of a step of scrolling, in milliseconds.
const STEP: f64 = 33.0;

/// Builds the page, writes the logs with inspect_ai, and measures both viewers.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "harnesses"])?;
    project.build_page()?;
    let logs = project.path("target/bench/review");
    let mut python = tools.python("VOLARY_HARNESSES")?;
    let script = project.path("tests/bench/inspect_logs.py");
    output_aloud(python.arg(script).arg(&logs))?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let mut node = tools.node("tests/bench/review.mjs", &url);
    node.env("VOLARY_LOGS", &logs)
        .env("VOLARY_DIST", project.path("dist"));
    rows(&output_aloud(&mut node)?)
}

fn rows(said: &str) -> Result<Vec<Row>> {
    let figure = |tool: &str, log: &str, what: &str| number(said, &format!("{tool}_{log}_{what}"));
    let mut rows = Vec::new();
    for (log, name, part) in LOGS {
        let both = |what: &str| {
            Ok::<_, anyhow::Error>((figure("ours", log, what)?, figure("theirs", log, what)?))
        };
        let (ours, theirs) = both("first")?;
        rows.push(row(
            &format!("{name}: first rows"),
            (ours, theirs),
            "ms",
            part,
        ));
        let is_sample = SAMPLES.contains(&log);
        let limit = if is_sample { MEMORY } else { 1.0 };
        rows.push(row(
            &format!("{name}: memory"),
            both("memory")?,
            "MB",
            limit,
        ));
        if is_sample {
            let (p95, most) = (
                figure("ours", log, "scroll_p95")?,
                figure("ours", log, "scroll_most")?,
            );
            let (their_p95, their_most) = (
                figure("theirs", log, "scroll_p95")?,
                figure("theirs", log, "scroll_most")?,
            );
            rows.push(Row {
                what: format!("{name}: a step of scrolling, 95 of 100 (most)"),
                ours: format!("{p95:.0} ms ({most:.0})"),
                against: format!("{their_p95:.0} ms ({their_most:.0})"),
                ratio: format!("{:.2}", p95 / their_p95),
                aim: format!("most: at most {STEP:.0} ms"),
                met: most <= STEP,
            });
        }
    }
    Ok(rows)
}

fn row(what: &str, (ours, theirs): (f64, f64), unit: &str, part: f64) -> Row {
    Row {
        what: what.to_owned(),
        ours: format!("{ours:.0} {unit}"),
        against: format!("{theirs:.0} {unit} (Inspect View)"),
        ratio: format!("{:.2}", ours / theirs),
        aim: format!("at most {part:.2}"),
        met: ours <= part * theirs,
    }
}
