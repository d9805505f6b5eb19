//! `volary assert`: checks trajectories against rules, for CI.
//!
//! - `junit`, `sarif`, `markdown`: the reports.

mod junit;
mod markdown;
mod sarif;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use volary_analysis::annotations::Annotations;
use volary_analysis::annotations::tags::tag_of;
use volary_analysis::behaviour::acts::acts;
use volary_analysis::behaviour::rules::{Rule, RuleFile, RuleFit, RuleLevel, matches_of};
use volary_analysis::result::{EpisodeResult, TaskOutcome};
use volary_core::json::Text;

use crate::convert::notes_beside;
use crate::output::{self, plain};
use crate::{ExitStatus, inputs};

const EXAMPLES: &str = "\
Examples:
  volary assert rules.toml runs/
  volary assert rules.toml runs/ --junit report.xml --sarif report.sarif --markdown summary.md

A file of rules:
  [[rule]]
  id = \"cancel-unread\"
  title = \"A booking is cancelled that was not looked up\"
  when = { tool = \"cancel_reservation\" }
  without_before = { tool = \"get_reservation_details\", same = [\"reservation_id\"] }

Exit status:
  0  no rule of the level error matches
  1  a rule of the level error matches, or a file could be read only in part
  2  nothing was checked";

/// Checks trajectories against rules about tools, arguments, order, number and changes of state.
///
/// Rules are forbidden behaviour. Matches of rules of the level warning or note are reported, and change no status.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Assert {
    /// The file of rules
    #[arg(value_name = "RULES")]
    rules: PathBuf,

    /// Files, and folders with files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write a SARIF report
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write a summary in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Compare the matches with this label of the notes next to the files, instead of with failures. Trajectories whose notes
    /// have neither a label nor a verdict are not compared
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A match of a rule.
#[derive(Clone, Debug, Serialize)]
struct Violation {
    #[serde(skip)]
    rule: usize,
    id: String,
    file: String,
    episode: String,
    step: usize,
    what: String,
}

/// A checked episode.
struct Checked {
    file: String,
    name: String,
}

/// What was found.
struct Outcome {
    rules: Vec<Rule>,
    episodes: Vec<Checked>,
    violations: Vec<Violation>,
    /// How each rule fits the failures, or the label.
    fits: Vec<RuleFit>,
    label: Option<String>,
}

#[derive(Serialize)]
struct Summary<'a> {
    episodes: usize,
    rules: Vec<RuleLine<'a>>,
    matches: &'a [Violation],
}

#[derive(Serialize)]
struct RuleLine<'a> {
    id: &'a str,
    title: &'a str,
    level: RuleLevel,
    /// The number of episodes with a match.
    matching: usize,
    /// Against the episodes that failed, or that have the label.
    precision: Option<f64>,
    recall: Option<f64>,
}

impl Assert {
    /// Checks all trajectories and writes the reports.
    pub fn run(&self) -> Result<ExitStatus> {
        let rules = read_rules(&self.rules)?;
        let mut outcome = Outcome {
            fits: vec![RuleFit::default(); rules.len()],
            rules,
            episodes: Vec::new(),
            violations: Vec::new(),
            label: self.label.clone(),
        };
        let labelled = match &self.label {
            Some(label) => Some(labelled(&notes_beside(&self.paths)?, label)?),
            None => None,
        };
        let report = inputs::read(&self.paths, |file, episode| {
            let acts = acts(&episode);
            let is_bad = match &labelled {
                Some(labelled) => labelled.get(&episode.id).copied(),
                None => {
                    let verdict = EpisodeResult::of(&episode).verdict;
                    verdict.map(|verdict| verdict == TaskOutcome::Failed)
                }
            };
            for (index, rule) in outcome.rules.iter().enumerate() {
                let found = matches_of(rule, &episode, &acts);
                if let Some(fit) = outcome.fits.get_mut(index) {
                    fit.add(!found.is_empty(), is_bad);
                }
                outcome
                    .violations
                    .extend(found.into_iter().map(|found| Violation {
                        rule: index,
                        id: rule.id.to_string(),
                        file: file.to_owned(),
                        episode: episode.name.to_string(),
                        step: found.step,
                        what: found.what,
                    }));
            }
            outcome.episodes.push(Checked {
                file: file.to_owned(),
                name: episode.name.to_string(),
            });
            Ok(())
        })?;
        report.print();
        write(self.junit.as_deref(), || junit::report(&outcome))?;
        write(self.sarif.as_deref(), || sarif::report(&outcome))?;
        write(self.markdown.as_deref(), || markdown::report(&outcome))?;
        if self.json {
            output::json(&outcome.summary())?;
        } else {
            for violation in &outcome.violations {
                output::line(&plain(&format!(
                    "{}: {}, step {}: {}: {}",
                    violation.file, violation.episode, violation.step, violation.id, violation.what
                )))?;
            }
            outcome.print();
        }
        Ok(if outcome.is_forbidden() || report.has_losses() {
            ExitStatus::Bad
        } else {
            ExitStatus::Good
        })
    }
}

impl Outcome {
    fn summary(&self) -> Summary<'_> {
        let rules = self.rules.iter().zip(&self.fits);
        Summary {
            episodes: self.episodes.len(),
            rules: rules
                .map(|(rule, fit)| RuleLine {
                    id: &rule.id,
                    title: &rule.title,
                    level: rule.level,
                    matching: fit.matching,
                    precision: fit.precision(),
                    recall: fit.recall(),
                })
                .collect(),
            matches: &self.violations,
        }
    }

    /// Prints one line for each rule.
    fn print(&self) {
        for (rule, fit) in self.rules.iter().zip(&self.fits) {
            let known = match (fit.precision(), fit.recall()) {
                (Some(precision), Some(recall)) => {
                    let (precision, recall) = (precision * 100.0, recall * 100.0);
                    match &self.label {
                        Some(label) => format!(
                            "; {precision:.0}% of them are labelled {label}, {recall:.0}% of all with the label"
                        ),
                        None => format!(
                            "; {precision:.0}% of them failed, {recall:.0}% of all failures"
                        ),
                    }
                }
                _ => String::new(),
            };
            eprintln!(
                "{}",
                plain(&format!(
                    "{}: {} of {} trajectories match{known}",
                    rule.id, fit.matching, fit.rows
                ))
            );
        }
    }

    /// The level of the rule of a match.
    fn level(&self, violation: &Violation) -> RuleLevel {
        let rule = self.rules.get(violation.rule);
        rule.map(|rule| rule.level).unwrap_or_default()
    }

    /// Whether a rule of the level error matches.
    fn is_forbidden(&self) -> bool {
        let mut violations = self.violations.iter();
        violations.any(|violation| self.level(violation) == RuleLevel::Error)
    }
}

/// The judged episodes, and whether each has the label.
///
/// # Errors
/// If none has it.
fn labelled(notes: &Annotations, label: &str) -> Result<BTreeMap<Text, bool>> {
    let mut judged: BTreeMap<Text, bool> = BTreeMap::new();
    let notes = notes.iter().filter(|note| tag_of(note).is_none());
    for note in notes.filter(|note| note.label.is_some() || note.verdict.is_some()) {
        let has_label = judged.entry(note.episode.clone()).or_default();
        *has_label |= note.label.as_deref() == Some(label);
    }
    if judged.values().any(|has_label| *has_label) {
        Ok(judged)
    } else {
        bail!(
            "no note next to the files has the label {label}; the notes are in .volary/notes.jsonl"
        )
    }
}

fn read_rules(path: &Path) -> Result<Vec<Rule>> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let file: RuleFile =
        toml::from_str(&text).with_context(|| format!("{shown} is not a file of rules"))?;
    file.check()
        .with_context(|| format!("{shown} cannot be used"))?;
    Ok(file.rule)
}

fn write(path: Option<&Path>, report: impl FnOnce() -> String) -> Result<()> {
    match path {
        Some(path) => {
            fs::write(path, report()).with_context(|| format!("cannot write {}", path.display()))
        }
        None => Ok(()),
    }
}
