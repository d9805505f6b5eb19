//! Updates of the school, next to the same loop in PyTorch on one thread: natively, and in a worker of Chromium. Ten seeds
//! until nine of ten tasks are solved, and the longest time between two drawings of the page meanwhile.

use anyhow::Result;

use crate::project::{Project, output, output_aloud, run};
use crate::{Row, number};

/// The updates of a measurement: about as many as the agent needs to solve nine of ten tasks.
const UPDATES: &str = "100";
/// How often both are measured.
const ROUNDS: usize = 3;
/// How many times as fast as PyTorch the native program is at least, and a worker of the page.
const NATIVE_RATIO: f64 = 10.0;
const PAGE_RATIO: f64 = 5.0;
/// The seconds in which the page solves nine of ten tasks at most: a median over seeds.
const SECONDS: f64 = 40.0;
/// The gzipped bytes that the school loads at most after the first view of the playground.
const LAZY: f64 = 200_000.0;
/// The time between two drawings of the page at most, in milliseconds.
const DRAWING: f64 = 50.0;

/// Builds the example of `crates/school` and the page, and runs all.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["torch", "node", "chromium", "playwright"])?;
    let example = ["--release", "-p", "volary-school", "--example", "speed"];
    run(project.cargo("build").arg("--quiet").args(example))?;
    // In turns, so that what else the machine does slows both.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut native = project.cargo("run");
        let native = output(native.arg("--quiet").args(example).args(["--", UPDATES]))?;
        ours.push(number(&native, "updates_per_second")?);
        let mut torch = tools.python("VOLARY_TORCH")?;
        torch
            .arg(project.path("tests/bench/school.py"))
            .arg(project.path("crates/school/data/calculator.volp"));
        theirs.push(number(&output(torch.arg(UPDATES))?, "updates_per_second")?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    project.build_page()?;
    // The script serves the page itself.
    let mut node = tools.node("tests/bench/school.mjs", "");
    node.env("VOLARY_DIST", project.path("dist"));
    let page = output_aloud(&mut node)?;
    let of = |key: &str| number(&page, key);
    let rate = |what: &str, ours: f64, aim: f64| Row {
        what: format!("school: updates of 128 samples, {what}"),
        ours: format!("{ours:.1} a second"),
        against: format!("{theirs:.1} a second (PyTorch, one thread)"),
        ratio: format!("{:.1}", ours / theirs),
        aim: format!("at least {aim:.0}"),
        met: ours >= aim * theirs,
    };
    let (seconds, failed, seeds) = (of("seconds_to_90")?, of("failed")?, of("seeds")?);
    let lazy = of("lazy_bytes")?;
    let (drawing, median) = (of("drawing_most")?, of("drawing_median")?);
    Ok(vec![
        rate("native", ours, NATIVE_RATIO),
        rate(
            "in a worker of Chromium",
            of("updates_per_second")?,
            PAGE_RATIO,
        ),
        Row {
            what: format!(
                "school: to 90 % in Chromium, median of {seeds:.0} seeds ({:.0} updates); {failed:.0} failed",
                of("updates_to_90")?
            ),
            ours: format!("{seconds:.1} s"),
            against: String::new(),
            ratio: format!("{:.2}", seconds / SECONDS),
            aim: format!("at most {SECONDS:.0} s"),
            met: seconds <= SECONDS,
        },
        Row {
            what: "school: what its page and worker load after the first view, gzipped".to_owned(),
            ours: format!(
                "{:.0} KB, {:.0} KB of them for the school alone",
                lazy / 1000.0,
                of("own_bytes")? / 1000.0
            ),
            against: String::new(),
            ratio: format!("{:.2}", lazy / LAZY),
            aim: format!("at most {:.0} KB", LAZY / 1000.0),
            met: lazy <= LAZY,
        },
        Row {
            what: "school: between two drawings while it trains, worst of all seeds".to_owned(),
            ours: format!("{drawing:.0} ms (median of the seeds' worst {median:.0} ms)"),
            against: String::new(),
            ratio: format!("{:.2}", drawing / DRAWING),
            aim: format!("at most {DRAWING:.0} ms"),
            met: drawing <= DRAWING,
        },
    ])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
