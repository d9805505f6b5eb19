//! `volary check`: replays recorded actions and compares the results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use tokio::runtime::Runtime;
use volary_agent::check::{self, Divergence};
use volary_core::json::Json;
use volary_core::registry::Registry;
use volary_episode::Episode;
use volary_server::time::RuntimeClock;

use crate::output::{self, plain};
use crate::{ExitStatus, inputs};

/// The number of characters of a value that are printed.
const SHOWN: usize = 200;

const EXAMPLES: &str = "\
Example:
  volary check runs/

Exit status:
  0  every episode that could be checked gives what was recorded
  1  an episode differs
  2  no episode could be checked: none was found, or none names a built-in environment";

/// Runs the actions of recorded episodes again and prints the first difference of each.
///
/// Only episodes of the built-in environments can be checked. They are deterministic, so a difference means that the
/// recording was changed or was made by another version.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// Files, and folders with files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Print one JSON object for each episode
    #[arg(long)]
    json: bool,
}

/// A finding of the check, as JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    name: &'a str,
    #[serde(flatten)]
    result: Found,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum Found {
    Same {
        steps: usize,
    },
    Differs {
        /// 0 is the reset.
        step: usize,
        what: String,
        recorded: String,
        now: String,
    },
    Skipped {
        reason: String,
    },
}

impl Check {
    /// Checks all episodes.
    pub fn run(&self) -> Result<ExitStatus> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let registry = volary_envs::registry();
        let (mut checked, mut differing) = (0, 0);
        let report = inputs::read(&self.paths, |file, episode| {
            let result = replay(&runtime, &registry, &episode);
            checked += usize::from(!matches!(result, Found::Skipped { .. }));
            differing += usize::from(matches!(result, Found::Differs { .. }));
            let line = Line {
                file,
                name: &episode.name,
                result,
            };
            if self.json {
                output::json(&line)
            } else {
                output::line(&line.to_text())
            }
        })?;
        report.print();
        if checked == 0 {
            bail!(
                "none of {} episodes could be checked: none names a built-in environment",
                report.episodes
            );
        }
        Ok(match differing {
            0 => ExitStatus::Good,
            _ => ExitStatus::Bad,
        })
    }
}

impl Line<'_> {
    fn to_text(&self) -> String {
        let result = match &self.result {
            Found::Same { steps } => format!("same ({steps} steps)"),
            Found::Differs {
                step,
                what,
                recorded,
                now,
            } => format!("differs at step {step}: {what} was {recorded} and is now {now}"),
            Found::Skipped { reason } => format!("skipped: {reason}"),
        };
        plain(&format!("{}: {}: {result}", self.file, self.name))
    }
}

fn replay(runtime: &Runtime, registry: &Registry, episode: &Episode) -> Found {
    let skipped = |reason: &str| Found::Skipped {
        reason: reason.to_owned(),
    };
    let Some(recipe) = &episode.recipe else {
        return skipped("the file does not say how to create its environment");
    };
    if registry.environment(&recipe.environment).is_err() {
        return skipped("its environment is not built in");
    }
    let check = check::check(registry, episode, RuntimeClock::new());
    // A panic in an environment must not end the check of the others.
    match catch_unwind(AssertUnwindSafe(|| runtime.block_on(check))) {
        Ok(Ok(check::Check::Same { steps })) => Found::Same { steps },
        Ok(Ok(check::Check::Differs(found))) => differs(&found),
        Ok(Ok(check::Check::NoRecipe)) => {
            skipped("the file does not say how to create its environment")
        }
        Ok(Err(error)) => skipped(&error.to_string()),
        Err(_) => skipped("the environment crashed"),
    }
}

fn differs(found: &Divergence) -> Found {
    Found::Differs {
        step: found.step,
        what: found.what.to_string(),
        recorded: short(&found.recorded),
        now: short(&found.now),
    }
}

fn short(value: &Json) -> String {
    let text = value.to_python_text();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
