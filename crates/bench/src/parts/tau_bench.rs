//! The 115 retail tasks of tau-bench with their gold actions, reset to reward, in a browser against the original in
//! CPython. Both read the checkout that `TAU_BENCH_DIR` names.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use volary_site::Site;

use super::environments::{self, FOLDER};
use crate::project::{Project, output};
use crate::{Row, number};

/// The variable with the root of a checkout of tau-bench.
pub const CHECKOUT: &str = "TAU_BENCH_DIR";

/// Times the original.
const AIM: f64 = 100.0;

/// Plays all tasks in both, which must agree on the rewards.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let checkout = std::env::var_os(CHECKOUT).map(PathBuf::from);
    let checkout = checkout
        .with_context(|| format!("set {CHECKOUT} to the root of a checkout of tau-bench"))?;
    let checkout = checkout.canonicalize().context("there is no checkout")?;
    let tools = project.tools(&["build-tools", "node", "chromium", "playwright", "original"])?;
    environments::build(project, &tools)?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path(FOLDER))?;
    let mut browser = tools.node("tests/bench/tau_bench.mjs", &url);
    browser
        .env("VOLARY_BENCH_URL", &url)
        .env(CHECKOUT, &checkout);
    let ours = output(&mut browser)?;
    let mut python = tools.python("VOLARY_PYTHON")?;
    let script = project.path("tests/bench/tau_bench.py");
    let theirs = output(python.arg(script).arg(&checkout))?;
    for key in ["tasks", "rewarded"] {
        let (ours, theirs) = (number(&ours, key)?, number(&theirs, key)?);
        if ours.to_bits() != theirs.to_bits() {
            bail!("{key}: {ours} here, and {theirs} in the original");
        }
    }
    let (here, there) = (number(&ours, "seconds")?, number(&theirs, "seconds")?);
    Ok(vec![Row {
        what: format!(
            "{} retail tasks of tau-bench, gold actions, reset to reward ({} rewarded)",
            number(&ours, "tasks")?,
            number(&ours, "rewarded")?
        ),
        ours: format!("{:.1} ms", here * 1000.0),
        against: format!("{:.0} ms (CPython)", there * 1000.0),
        ratio: format!("{:.0} times", there / here),
        aim: format!("at least {AIM:.0} times"),
        met: there >= AIM * here,
    }])
}
