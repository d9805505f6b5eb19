//! What a newcomer waits for: bytes, gzipped, and the time to the first view and to the first answered step, on a fast
//! and on a slow line.

use anyhow::Result;

use crate::project::{Project, output_aloud};
use crate::{Row, number};

/// The most that the first view may need, in bytes.
const VIEW_BYTES: f64 = 500_000.0;
/// The most that may be sent until the first step is answered, in bytes.
const STEP_BYTES: f64 = 850_000.0;
/// The original in a browser, through Pyodide, up to its first episode, in bytes.
const ORIGINAL: f64 = 9_600_000.0;
/// The lines that the script measures, with the most milliseconds until the view and until the answer.
const LINES: [(&str, &str, f64, f64); 3] = [
    ("fast_cached", "local server", 600.0, 1_000.0),
    (
        "slow_cached",
        "1.6 Mbit/s, 150 ms, a page 4 times slower",
        3_000.0,
        6_000.0,
    ),
    (
        "slow_uncached",
        "the same, from a server without cache headers",
        3_000.0,
        6_000.0,
    ),
];

fn bytes(value: f64) -> String {
    format!("{:.0} KB", value / 1000.0)
}

fn milliseconds(value: f64) -> String {
    format!("{value:.0} ms")
}

/// Builds the page and visits it in Chromium.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright"])?;
    project.build_page()?;
    // The script serves the page itself, since it limits the line.
    let mut node = tools.node("tests/bench/first_load.mjs", "");
    node.env("VOLARY_DIST", project.path("dist"));
    let said = output_aloud(&mut node)?;
    let bound = |what: &str, value: f64, most: f64, text: fn(f64) -> String| Row {
        what: what.to_owned(),
        ours: text(value),
        against: String::new(),
        ratio: format!("{:.2}", value / most),
        aim: format!("at most {}", text(most)),
        met: value <= most,
    };
    let first = number(&said, "slow_cached_first")?;
    let mut rows = vec![
        Row {
            against: format!("{} (the original through Pyodide)", bytes(ORIGINAL)),
            ..bound("first view, gzipped", first, VIEW_BYTES, bytes)
        },
        bound(
            "all until the first answered step, gzipped",
            number(&said, "slow_cached_bytes")?,
            STEP_BYTES,
            bytes,
        ),
        bound(
            "the same without cache headers",
            number(&said, "slow_uncached_bytes")?,
            STEP_BYTES,
            bytes,
        ),
    ];
    for (key, line, view, step) in LINES {
        let of = |what: &str| number(&said, &format!("{key}_{what}"));
        rows.push(bound(
            &format!("first view: {line}"),
            of("view")?,
            view,
            milliseconds,
        ));
        rows.push(bound(
            &format!("first answered step: {line}"),
            of("step")?,
            step,
            milliseconds,
        ));
    }
    let twice = number(&said, "slow_cached_twice")?;
    rows.push(Row {
        what: "files fetched twice".to_owned(),
        ours: format!("{twice}"),
        against: String::new(),
        ratio: String::new(),
        aim: "none".to_owned(),
        met: twice == 0.0,
    });
    Ok(rows)
}
