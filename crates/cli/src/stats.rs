//! `volary stats`: prints the table of trajectories, groups of them, and pass^k.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use schemars::JsonSchema;
use serde::Serialize;
use volary_analysis::behaviour::diagnostics::DiagnosticKind;
use volary_analysis::csv;
use volary_analysis::statistics::{Estimate, mean, mean_over_tasks};
use volary_analysis::table::diagnostic_column::extra_steps_of;
use volary_analysis::table::groups::{Group, GroupBy, GroupOrder, SUCCESS, grouped, passes};
use volary_analysis::table::order::Direction;
use volary_analysis::table::view::read_column;
use volary_analysis::table::{Cell, Column, Row, found_columns};

use crate::ask::AnswerColumn;
use crate::output::{self, plain};
use crate::{ExitStatus, inputs};

/// The confidence level of intervals.
const CONFIDENCE: f64 = 0.95;
/// The maximum width of a table cell, in characters.
const LONGEST: usize = 40;

const EXAMPLES: &str = "\
Examples:
  volary stats runs/
  volary stats runs/ --by model
  volary stats rollouts/ --by step
  volary stats runs/ --by answer/@why-failed
  volary stats runs/ --csv > runs.csv

Exit status:
  0  all files were read
  1  a part of a file could not be read; the rest was counted
  2  nothing was counted";

/// Prints one row for each episode, or for each group of episodes, with rewards, steps, tokens and cost.
///
/// pass^k is the chance that k trials of a task all succeed, as the mean over the tasks that a model and agent tried.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Stats {
    /// Files, and folders with files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// A JSON file that maps the fields of records in an unknown format, such as {"prompt": "q.text", "reward": "score"}
    #[arg(long, value_name = "FILE")]
    fields: Option<PathBuf>,

    /// Group the episodes by task (trials of one task by one model and agent), run, model, agent, environment, outcome or
    /// another column of Review such as diagnostic/ignored-errors, or by a member of their metadata, such as step. `answer`
    /// groups by the answers of `volary ask` to the only question, `answer/TEXT` to the question that contains the text,
    /// `answer/@NAME` to one of Volary's
    #[arg(long, value_name = "COLUMN", value_parser = group_by)]
    by: Option<GroupBy>,

    /// The file with the answers; by default .volary/answers.jsonl in the first folder
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// The lowest reward that counts as a success; by default 1
    #[arg(long, value_name = "REWARD", default_value_t = SUCCESS, hide_default_value = true, allow_negative_numbers = true)]
    success: f64,

    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print the rows as a table for spreadsheets
    #[arg(long, conflicts_with = "by")]
    csv: bool,
}

/// Parses the name of a grouping. A name that is no column is a member of the metadata.
fn group_by(name: &str) -> Result<GroupBy, Infallible> {
    Ok(match name {
        "task" => GroupBy::Task,
        "run" => GroupBy::Run,
        name if AnswerColumn::is_name(name) => GroupBy::Column(Column::Score(name.into())),
        name => GroupBy::Column(
            read_column(name).unwrap_or_else(|| Column::Metadata(vec![name.into()])),
        ),
    })
}

/// The JSON output. Members without a value are null.
#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    totals: Totals,
    rows: Vec<RowLine>,
}

/// The figures over all episodes, and over groups of them. Members without a value are null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Totals {
    episodes: usize,
    /// The number of rollouts with a reward: an episode, or the branches of one.
    rewarded: usize,
    successes: usize,
    mean_reward: Option<Interval>,
    pass: Vec<Passes>,
    pub groups: Vec<GroupLine>,
}

/// A mean with its 95% confidence interval.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct Interval {
    mean: f64,
    low: Option<f64>,
    high: Option<f64>,
}

/// pass^k for k from 1.
#[derive(Debug, Serialize, JsonSchema)]
struct Passes {
    model: String,
    agent: String,
    all: Vec<f64>,
}

/// The figures of a group.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GroupLine {
    name: String,
    episodes: usize,
    rewarded: usize,
    successes: usize,
    mean_reward: Option<f64>,
    /// Of the mean; null for fewer than two rewards.
    standard_error: Option<f64>,
    agreement: Option<f64>,
}

impl GroupLine {
    /// The group in words.
    pub fn line(&self) -> String {
        let name = match self.name.as_str() {
            "" => "(unknown)",
            name => name,
        };
        let mean = self.mean_reward.map(number);
        let mean = mean.map(|mean| format!(", mean reward {mean}"));
        format!(
            "{name}: {} episodes, {} of {} succeeded{}",
            self.episodes,
            self.successes,
            self.rewarded,
            mean.unwrap_or_default()
        )
    }

    /// Whether all rewards are the same, so that training learns nothing from their differences.
    fn is_uniform(&self) -> bool {
        self.standard_error == Some(0.0)
    }
}

#[derive(Serialize)]
struct RowLine {
    id: String,
    name: String,
    environment: Option<String>,
    model: Option<String>,
    agent: Option<String>,
    task: Option<String>,
    run: Option<String>,
    reward: Option<f64>,
    steps: usize,
    calls: usize,
    tokens: Option<u64>,
    cost: Option<f64>,
    seconds: Option<f64>,
    outcome: String,
    /// Figures of the recorded tokens, by the titles that they have in CSV.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    token_figures: BTreeMap<String, f64>,
    /// The number of diagnostics of each kind that occurs, by their titles in CSV.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    diagnostics: BTreeMap<String, f64>,
}

impl Stats {
    /// Reads all episodes and prints the statistics.
    pub fn run(&self) -> Result<ExitStatus> {
        let answers = AnswerColumn::chosen(self.by.as_ref(), self.answers.as_deref(), &self.paths)?;
        let mut rows = Vec::new();
        let report = inputs::read_mapped(
            &self.paths,
            &inputs::mappings(self.fields.as_deref())?,
            |_, episode| {
                let mut row = Row::of(&episode, Vec::new());
                if let Some(answers) = &answers {
                    row.scores.extend(answers.cell(&row.id));
                }
                rows.push(row);
                Ok(())
            },
        )?;
        report.print();
        let extra_steps = extra_steps_of(&rows);
        for (row, extra) in rows.iter_mut().zip(extra_steps) {
            row.extra_steps = extra;
        }
        if self.csv {
            output::write(csv::to_text(&rows, &csv::columns(&rows)).as_bytes())?;
        } else {
            let summary = self.summary(&rows);
            if self.json {
                output::json(&summary)?
            } else {
                output::line(&self.tables(&rows, &summary))?
            }
        }
        Ok(if report.has_losses() {
            ExitStatus::Bad
        } else {
            ExitStatus::Good
        })
    }

    fn summary(&self, rows: &[Row]) -> Summary {
        Summary {
            totals: Totals::of(rows, self.by.as_ref(), self.success),
            rows: rows.iter().map(RowLine::of).collect(),
        }
    }

    /// The text output: the groups or the rows, followed by the summary.
    fn tables(&self, rows: &[Row], summary: &Summary) -> String {
        let mut table = Table::new();
        table.load_preset(NOTHING);
        if self.by.is_some() {
            table.set_header([
                "group",
                "episodes",
                "rewarded",
                "successes",
                "mean reward",
                "standard error",
            ]);
            for group in &summary.totals.groups {
                table.add_row([
                    match group.name.as_str() {
                        "" => "(unknown)".to_owned(),
                        name => short(name),
                    },
                    group.episodes.to_string(),
                    group.rewarded.to_string(),
                    group.successes.to_string(),
                    group.mean_reward.map(number).unwrap_or_default(),
                    group.standard_error.map(number).unwrap_or_default(),
                ]);
            }
        } else {
            let columns = [
                ("name", Column::Name),
                ("model", Column::Model),
                ("task", Column::Task),
                ("reward", Column::Reward),
                ("steps", Column::Steps),
                ("tokens", Column::Tokens),
                ("cost", Column::Cost),
                ("outcome", Column::Outcome),
            ];
            // Columns without any value are hidden.
            let shown = columns
                .iter()
                .filter(|(_, column)| rows.iter().any(|row| row.cell(column) != Cell::Empty));
            let shown: Vec<_> = shown.collect();
            table.set_header(shown.iter().map(|(title, _)| *title));
            for row in rows {
                table.add_row(shown.iter().map(|(_, column)| match row.cell(column) {
                    Cell::Number(value) => number(value),
                    cell => short(&cell.to_text()),
                }));
            }
        }
        let mut text = table.trim_fmt();
        text.push_str(&summary.totals.text());
        text
    }
}

impl Totals {
    /// The figures of rows. `success` is the lowest reward that counts as one.
    pub fn of<R: Borrow<Row>>(rows: &[R], by: Option<&GroupBy>, success: f64) -> Totals {
        let tasks = grouped(rows, &GroupBy::Task, success);
        let groups = match by {
            Some(by) => {
                let mut groups = grouped(rows, by, success);
                GroupOrder::Name.sort(&mut groups, Direction::Ascending);
                groups
            }
            None => Vec::new(),
        };
        let rewards = |group: &Group| group.rewards.clone();
        // Trials of one task are correlated. Without tasks each episode is a sample.
        let estimate = if tasks.iter().all(|group| group.tried.is_some()) {
            mean_over_tasks(&tasks.iter().map(rewards).collect::<Vec<_>>(), CONFIDENCE)
        } else {
            mean(
                &tasks.iter().flat_map(rewards).collect::<Vec<_>>(),
                CONFIDENCE,
            )
        };
        let of = |group: &Group| GroupLine {
            name: match &group.second {
                Some(second) => format!("{}, {second}", group.name),
                None => group.name.to_string(),
            },
            episodes: group.rows.len(),
            rewarded: group.trials,
            successes: group.successes,
            mean_reward: group.mean_reward,
            standard_error: group.standard_error,
            agreement: group.agreement,
        };
        Totals {
            episodes: rows.len(),
            rewarded: tasks.iter().map(|group| group.trials).sum(),
            successes: tasks.iter().map(|group| group.successes).sum(),
            mean_reward: estimate.map(Interval::of),
            pass: passes(&tasks)
                .into_iter()
                .map(|passes| Passes {
                    model: passes.model.to_string(),
                    agent: passes.agent.to_string(),
                    all: passes.all,
                })
                .collect(),
            groups: groups.iter().map(of).collect(),
        }
    }

    /// The lines below the groups or rows, after a line without its end.
    pub fn text(&self) -> String {
        let mut text = format!("\n\n{} episodes", self.episodes);
        let uniform = self.groups.iter().filter(|group| group.is_uniform());
        match uniform.count() {
            0 => {}
            count => text.push_str(&format!(
                "\n{count} of {} groups have the same reward throughout",
                self.groups.len()
            )),
        }
        if let Some(mean) = self.mean_reward {
            text.push_str(&format!(
                ", {} of {} succeeded, mean reward {}",
                self.successes,
                self.rewarded,
                mean.to_text()
            ));
        }
        for passes in &self.pass {
            let all = passes.all.iter().enumerate();
            let all: Vec<String> = all
                .map(|(k, chance)| format!("pass^{} {}", k + 1, number(*chance)))
                .collect();
            let who = [&passes.model, &passes.agent].map(|name| short(name));
            let who = who.iter().filter(|name| !name.is_empty());
            let who = who.cloned().collect::<Vec<_>>().join(", ");
            let who = if who.is_empty() { "all" } else { &who };
            text.push_str(&format!("\n{who}: {}", all.join(", ")));
        }
        text
    }
}

impl Interval {
    fn of(estimate: Estimate) -> Interval {
        Interval {
            mean: estimate.mean,
            low: estimate.low,
            high: estimate.high,
        }
    }

    fn to_text(self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => {
                format!(
                    "{} (95%: {} to {})",
                    number(self.mean),
                    number(low),
                    number(high)
                )
            }
            _ => number(self.mean),
        }
    }
}

impl RowLine {
    fn of(row: &Row) -> RowLine {
        let text = |column| match row.cell(&column) {
            Cell::Empty => None,
            cell => Some(cell.to_text()),
        };
        let figures = found_columns([row], usize::MAX);
        let figure = |(column, _): (Column, usize)| match column {
            Column::TokenFigure(column) => Some((csv::figure_title(&column), column.value(row)?)),
            _ => None,
        };
        let kinds = DiagnosticKind::ALL.into_iter().filter_map(|kind| {
            let column = Column::Diagnostic(kind);
            match row.cell(&column) {
                Cell::Number(number) if number > 0.0 => Some((csv::title(&column), number)),
                _ => None,
            }
        });
        RowLine {
            diagnostics: kinds.collect(),
            id: row.id.to_string(),
            name: row.name.to_string(),
            environment: text(Column::Environment),
            model: text(Column::Model),
            agent: text(Column::Agent),
            task: text(Column::Task),
            run: text(Column::Run),
            reward: row.reward,
            steps: row.steps,
            calls: row.calls,
            tokens: row.tokens,
            cost: row.cost,
            seconds: row.seconds,
            outcome: row.outcome.to_string(),
            token_figures: figures.into_iter().filter_map(figure).collect(),
        }
    }
}

/// Formats a number with at most four decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn short(text: &str) -> String {
    let text = plain(text);
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (-0.123456, "-0.1235"),
            (1200.0, "1200"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
