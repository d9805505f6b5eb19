//! How much a first visit downloads, as a host that compresses with gzip sends it.

use anyhow::{Context, Result};

use super::Row;
use crate::project::Project;
use crate::run::output;
use crate::setup::{self, Node};
use crate::{page, test};

/// Of the whole first load.
const LIMIT: f64 = 250_000.0;
/// The original in a browser, through Pyodide: up to its first episode.
const ORIGINAL: f64 = 9_600_000.0;

/// Prints the gzipped size of a file; Node is here for the page anyway, so this takes no crate.
const GZIPPED: &str = "console.log(require('zlib').gzipSync(require('fs').readFileSync(process.argv[1]),{level:9}).length)";

/// Builds the page and weighs every file of `dist/`, for the page loads each of them at once.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    page::build(project)?;
    setup::ensure(project, &[&Node])?;
    let mut total = 0.0;
    for file in test::files(&project.path("dist"), "")? {
        let mut node = project.command("node");
        let size: f64 = output(node.args(["-e", GZIPPED]).arg(&file))?.parse()?;
        let name = file.file_name().context("a file without a name")?;
        eprintln!("  {:>8.1} KB  {}", size / 1000.0, name.to_string_lossy());
        total += size;
    }
    Ok(vec![Row {
        what: "first load, gzipped".to_owned(),
        ours: format!("{:.0} KB", total / 1000.0),
        against: format!("{:.0} KB (the original through Pyodide)", ORIGINAL / 1000.0),
        ratio: format!("{:.0} times smaller", ORIGINAL / total),
        aim: format!("at most {:.0} KB", LIMIT / 1000.0),
        met: total <= LIMIT,
    }])
}
