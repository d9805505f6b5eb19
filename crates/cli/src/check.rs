//! `volary check`: replays recorded actions and compares the results, or checks what a recording shows about itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use tokio::runtime::Runtime;
use volary_agent::check::{self, Divergence};
use volary_analysis::consistency::Consistency;
use volary_core::json::Json;
use volary_core::quantity::plural;
use volary_core::registry::Registry;
use volary_episode::Episode;
use volary_server::time::RuntimeClock;

use crate::output::{self, plain};
use crate::{ExitStatus, inputs};

/// The number of characters of a value that are printed.
const SHOWN: usize = 200;
/// The number of findings of an episode that are printed as text.
const LISTED: usize = 10;

const EXAMPLES: &str = "\
Example:
  volary check runs/

Exit status:
  0  all episodes give what was recorded, or are consistent
  1  an episode differs, or is inconsistent
  2  no episode was found";

/// Checks recorded episodes: replays them where that is possible, and otherwise looks for gaps.
///
/// The built-in environments are deterministic, so the actions of their episodes are run again, and tools, messages,
/// rewards, ends and frames are compared. A difference means that the recording was changed or was made by another version.
///
/// Episodes of other tools cannot be run again. Of these it is checked whether each call has one result and each result a
/// call, whether the steps are in the order of time, whether the model answered, and whether there is a task. Whether an
/// answer is right, or a result is what the tool returned, is not checked.
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

/// The result of the check of an episode, as JSON.
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
    /// Replayed, with the same results.
    Same { steps: usize },
    /// Replayed, with another result.
    Differs {
        /// 0 is the reset.
        step: usize,
        what: String,
        recorded: String,
        now: String,
    },
    /// Not replayed, and without findings.
    Consistent {
        steps: usize,
        calls: usize,
        timed_steps: usize,
    },
    /// Not replayed, and with findings.
    Inconsistent { findings: Vec<FindingLine> },
    /// Neither could be done.
    Skipped { reason: String },
}

#[derive(Serialize)]
struct FindingLine {
    /// 0 is the start; null for the whole episode.
    step: Option<usize>,
    text: String,
}

/// The number of episodes with each result.
#[derive(Default)]
struct Counts {
    replayed: usize,
    differing: usize,
    examined: usize,
    inconsistent: usize,
}

impl Check {
    /// Checks all episodes.
    pub fn run(&self) -> Result<ExitStatus> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let registry = volary_envs::registry();
        let mut counts = Counts::default();
        let report = inputs::read(&self.paths, |file, episode| {
            let result = if is_built_in(&registry, &episode) {
                replay(&runtime, &registry, &episode)
            } else {
                examine(&episode)
            };
            counts.add(&result);
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
        if report.episodes == 0 {
            bail!("no episode was found");
        }
        eprintln!("{}", counts.to_text());
        Ok(match counts.differing + counts.inconsistent {
            0 => ExitStatus::Good,
            _ => ExitStatus::Bad,
        })
    }
}

impl Counts {
    fn add(&mut self, found: &Found) {
        match found {
            Found::Same { .. } => self.replayed += 1,
            Found::Differs { .. } => {
                self.replayed += 1;
                self.differing += 1;
            }
            Found::Consistent { .. } => self.examined += 1,
            Found::Inconsistent { .. } => {
                self.examined += 1;
                self.inconsistent += 1;
            }
            Found::Skipped { .. } => {}
        }
    }

    /// What was checked, in how many episodes, and with which result.
    fn to_text(&self) -> String {
        let mut lines = Vec::new();
        if self.replayed > 0 {
            lines.push(format!(
                "Replayed: {} of built-in environments, {} different.",
                plural(self.replayed, "episode"),
                self.differing
            ));
        }
        if self.examined > 0 {
            lines.push(format!(
                "Not replayed, checked for calls and results, times, answers and tasks: {}, {} with findings.",
                plural(self.examined, "episode"),
                self.inconsistent
            ));
        }
        lines.join("\n")
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
            Found::Consistent {
                steps,
                calls,
                timed_steps,
            } => format!(
                "consistent ({}, {}, {} with a time)",
                plural(*steps, "step"),
                plural(*calls, "call"),
                plural(*timed_steps, "step")
            ),
            Found::Inconsistent { findings } => {
                let texts = findings.iter().map(|finding| &*finding.text);
                let listed: Vec<&str> = texts.take(LISTED).collect();
                let more = match findings.len().saturating_sub(LISTED) {
                    0 => String::new(),
                    more => format!("; {more} more"),
                };
                format!("inconsistent: {}{more}", listed.join("; "))
            }
            Found::Skipped { reason } => format!("skipped: {reason}"),
        };
        plain(&format!("{}: {}: {result}", self.file, self.name))
    }
}

fn is_built_in(registry: &Registry, episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    recipe.is_some_and(|recipe| registry.environment(&recipe.environment).is_ok())
}

/// Checks what the recording shows about itself.
fn examine(episode: &Episode) -> Found {
    let Consistency {
        calls,
        timed_steps,
        findings,
    } = Consistency::of(episode);
    if findings.is_empty() {
        return Found::Consistent {
            steps: episode.steps.len(),
            calls,
            timed_steps,
        };
    }
    let findings = findings.iter().map(|finding| FindingLine {
        step: finding.step,
        text: finding.to_string(),
    });
    Found::Inconsistent {
        findings: findings.collect(),
    }
}

fn replay(runtime: &Runtime, registry: &Registry, episode: &Episode) -> Found {
    let skipped = |reason: &str| Found::Skipped {
        reason: reason.to_owned(),
    };
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
