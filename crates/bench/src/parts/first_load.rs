//! The cost of a first visit: bytes, gzipped, and time.

use anyhow::Result;
use volary_site::Site;

use crate::project::{Project, output_aloud};
use crate::{Row, number};

/// The maximum size of the first load, in bytes.
const LIMIT: f64 = 350.0 * 1024.0;
/// The maximum time until the playground can be played, in milliseconds.
const PATIENCE: f64 = 600.0;
/// The original in a browser, through Pyodide, up to its first episode: bytes and milliseconds.
const ORIGINAL: (f64, f64) = (9_600_000.0, 4_800.0);

/// Builds the page and visits it in Chromium.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright"])?;
    project.build_page()?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path("dist"))?;
    let mut node = tools.node("tests/bench/first_load.mjs", &url);
    let said = output_aloud(&mut node)?;
    let (bytes, time) = (number(&said, "bytes")?, number(&said, "milliseconds")?);
    let (later, twice) = (number(&said, "later")?, number(&said, "twice")?);
    let kilobytes = |bytes: f64| format!("{:.0} KB", bytes / 1000.0);
    Ok(vec![
        Row {
            what: "first load, gzipped".to_owned(),
            ours: kilobytes(bytes),
            against: format!("{} (the original through Pyodide)", kilobytes(ORIGINAL.0)),
            ratio: format!("{:.0} times smaller", ORIGINAL.0 / bytes),
            aim: format!("at most {}", kilobytes(LIMIT)),
            met: bytes <= LIMIT,
        },
        Row {
            what: "at the first touch, gzipped".to_owned(),
            ours: kilobytes(later),
            against: String::new(),
            ratio: String::new(),
            aim: String::new(),
            met: true,
        },
        Row {
            what: "files fetched twice".to_owned(),
            ours: format!("{twice}"),
            against: String::new(),
            ratio: String::new(),
            aim: "none".to_owned(),
            met: twice == 0.0,
        },
        Row {
            what: "playable after".to_owned(),
            ours: format!("{time:.0} ms"),
            against: format!("{:.0} ms (the original through Pyodide)", ORIGINAL.1),
            ratio: format!("{:.0} times sooner", ORIGINAL.1 / time),
            aim: format!("at most {PATIENCE:.0} ms"),
            met: time <= PATIENCE,
        },
    ])
}
