//! A training run of a gigabyte, written with torch, in `volary view`, next to `torch.load` and printing a sample, and to
//! slime's timeline viewer if `SLIME_DIR` names a checkout of slime.

use std::fs;
use std::time::Instant;

use anyhow::Result;

use crate::project::{Project, output, output_aloud, run};
use crate::{Row, number};

/// The run: steps, samples of each, and tokens of those.
const RUN: [u32; 3] = [50, 256, 4_000];
/// What the first rows may take, in milliseconds.
const FIRST: f64 = 1_000.0;
/// Megabytes a second that are indexed at least.
const RATE: f64 = 150.0;
/// The part of the files that page and worker may take in memory.
const MEMORY: f64 = 0.2;
/// What opening a sample may take, in milliseconds.
const OPEN: f64 = 150.0;
/// What a step of scrolling may take, in milliseconds.
const SCROLL: f64 = 16.0;
/// What colouring all tokens by another stream may take, in milliseconds: the longest task that is not felt as a pause.
const COLOUR: f64 = 50.0;
/// The part of the time to the first view in Python, and in slime's viewer.
const FIRST_VIEW: f64 = 0.2;
/// The variable with the root of a checkout of slime.
const SLIME: &str = "SLIME_DIR";
const COMMAND: &str = "target/release/volary";

/// Writes the run, builds the command with the page inside, and measures.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "torch"])?;
    project.build_page()?;
    let command = ["--release", "-p", "volary-cli", "--features", "page"];
    run(project.cargo("build").arg("--quiet").args(command))?;
    let folder = project.path("target/bench/training");
    fs::create_dir_all(&folder)?;
    let files = folder.join("rollout_data");
    let script = project.path("tests/bench/training.py");
    let mut write = tools.python("VOLARY_TORCH")?;
    write.arg(&script).arg("write").arg(&files);
    let written = output_aloud(write.args(RUN.map(|part| part.to_string())))?;
    let bytes = number(&written, "bytes")?;
    let start = Instant::now();
    let mut print = tools.python("VOLARY_TORCH")?;
    let printed = output(print.arg(&script).arg("print").arg(files.join("0.pt")))?;
    let theirs = start.elapsed().as_secs_f64() * 1000.0;
    // Without the start of Python and torch, for each of the files.
    let all = number(&printed, "loaded")? * f64::from(RUN[0]);
    let mut node = tools.command("node");
    node.arg(project.path("tests/bench/training.mjs"))
        .env("VOLARY_RUN", &files)
        .env("VOLARY_SAMPLES", (RUN[0] * RUN[1]).to_string())
        .env("VOLARY_SERVER", project.path(COMMAND));
    let said = output_aloud(&mut node)?;
    let of = |key: &str| number(&said, key);
    let (first, whole, memory) = (of("first_row")?, of("all_rows")?, of("memory")?);
    let rate = bytes / 1e3 / whole;
    let (open, open_most) = (of("open_median")?, of("open_most")?);
    let (scroll, scroll_most) = (of("scroll_p95")?, of("scroll_most")?);
    let (far, far_most) = (of("scroll_128k_p95")?, of("scroll_128k_most")?);
    let within = |what: &str, ours: f64, more: String, limit: f64| Row {
        what: what.to_owned(),
        ours: format!("{ours:.0} ms{more}"),
        against: format!("{limit:.0} ms"),
        ratio: format!("{:.2}", ours / limit),
        aim: format!("at most {limit:.0} ms"),
        met: ours <= limit,
    };
    let first_view = |theirs: f64, against: &str| Row {
        what: "to the first view of the run".to_owned(),
        ours: format!("{first:.0} ms"),
        against: format!("{theirs:.0} ms ({against})"),
        ratio: format!("{:.2}", first / theirs),
        aim: format!("at most {FIRST_VIEW:.2}"),
        met: first <= FIRST_VIEW * theirs,
    };
    let mut rows = vec![
        within(
            &format!("{:.2} GB of rollout dumps: first rows", bytes / 1e9),
            first,
            String::new(),
            FIRST,
        ),
        Row {
            what: "all of it, until every sample has a row".to_owned(),
            ours: format!("{rate:.0} MB/s"),
            against: format!("{RATE:.0} MB/s"),
            ratio: format!("{:.2}", rate / RATE),
            aim: format!("at least {RATE:.0} MB/s"),
            met: rate >= RATE,
        },
        Row {
            what: "memory of page and worker after that".to_owned(),
            ours: format!("{:.0} MB", memory / 1e6),
            against: "the files".to_owned(),
            ratio: format!("{:.2} of the files", memory / bytes),
            aim: format!("at most {MEMORY:.2}"),
            met: memory <= MEMORY * bytes,
        },
        within(
            "the tokens of a sample, from its address",
            open,
            format!(" (most: {open_most:.0})"),
            OPEN,
        ),
        within(
            "a step of scrolling 32,000 coloured tokens, 95 of 100",
            scroll,
            format!(" (most: {scroll_most:.0})"),
            SCROLL,
        ),
        within(
            "the same of 128,000 tokens",
            far,
            format!(" (most: {far_most:.0})"),
            SCROLL,
        ),
        within(
            "colouring these by another stream, the worst of 6",
            of("coloured_most")?,
            String::new(),
            COLOUR,
        ),
        first_view(all, "torch.load of all steps, as that of one for each"),
        first_view(theirs, "torch.load of one step and printing a sample"),
    ];
    if std::env::var_os(SLIME).is_some() {
        let viewer = "slime's timeline viewer, which shows one step";
        rows.push(first_view(of("timeline")?, viewer));
    }
    Ok(rows)
}
