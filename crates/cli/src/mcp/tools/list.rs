//! `list_trajectories`: a page of the table.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_analysis::table::{Cell, Column, Row};

use super::{Library, ToolReply, short};
use crate::mcp::catalog::Entry;
use crate::mcp::failure::ToolFailure;
use crate::mcp::selection::{self, ListRest, RowFilter, RowOrder};

/// The number of rows, unless asked for.
const USUAL: usize = 50;
/// The maximum number of rows.
const MOST: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArguments {
    /// Conditions that all rows must meet
    #[serde(default)]
    filter: Vec<RowFilter>,
    /// The order; by default that of the files
    #[serde(default)]
    sort: Option<RowOrder>,
    /// More columns to return, such as a member of the metadata or score/NAME
    #[serde(default)]
    columns: Vec<String>,
    /// The number of rows to skip
    #[serde(default)]
    offset: usize,
    /// The maximum number of rows: 50 by default, 200 at most
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TrajectoryList {
    /// The number of trajectories in the files
    total: usize,
    /// The number of those that meet the conditions
    matching: usize,
    trajectories: Vec<ListedTrajectory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<ListRest>,
    /// What could not be read
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// A trajectory in a list. What is not known is left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTrajectory {
    /// Pass this to other tools
    pub id: String,
    /// The file; other tools need it only if several trajectories have the same id
    pub file: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    pub steps: usize,
    /// The number of tool calls
    pub calls: usize,
    /// The number of steps with an error
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Input and output tokens
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// In US dollars
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The ending
    pub outcome: String,
    /// Whether it failed, by its reward, outcome or scores
    pub failed: bool,
    /// The number of findings for each diagnostic that has some
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub diagnostics: BTreeMap<String, usize>,
    /// The values of the columns that were asked for
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

impl ListedTrajectory {
    pub fn of(entry: &Entry, columns: &[(String, Column)]) -> ListedTrajectory {
        let row: &Row = &entry.row;
        let text = |column: &Column| match row.cell(column) {
            Cell::Empty => None,
            cell => Some(short(&cell.to_text())),
        };
        let values = columns.iter();
        ListedTrajectory {
            id: row.id.to_string(),
            file: entry.file.clone(),
            name: short(&row.name),
            environment: text(&Column::Environment),
            model: text(&Column::Model),
            agent: text(&Column::Agent),
            task: text(&Column::Task),
            run: text(&Column::Run),
            reward: row.reward,
            steps: row.steps,
            calls: row.calls,
            errors: row.errors,
            tokens: row.tokens,
            cost: row.cost,
            seconds: row.seconds,
            outcome: short(&row.outcome),
            failed: row.failed(),
            diagnostics: entry
                .found()
                .map(|(kind, count, _)| (kind.as_str().to_owned(), count))
                .collect(),
            values: values
                .filter_map(|(name, column)| Some((name.clone(), text(column)?)))
                .collect(),
        }
    }

    /// The line of the text.
    fn line(&self) -> String {
        let mut line = format!("{}: {}", self.id, self.name);
        let known = [
            ("model", &self.model),
            ("agent", &self.agent),
            ("task", &self.task),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                // Writing to a text cannot fail.
                let _ = write!(line, ", {name} {value}");
            }
        }
        if let Some(reward) = self.reward {
            let _ = write!(line, ", reward {reward}");
        }
        let _ = write!(line, ", {} steps, {}", self.steps, self.outcome);
        let diagnostics = self.diagnostics.iter();
        for (name, count) in diagnostics {
            let _ = write!(line, ", {count} {name}");
        }
        for (name, value) in &self.values {
            let _ = write!(line, ", {name} {value}");
        }
        line.push('\n');
        line
    }
}

pub fn list(
    library: &Library,
    arguments: ListArguments,
    _cancelled: &CancellationToken,
) -> Result<ToolReply<TrajectoryList>, ToolFailure> {
    let listing = library.catalog.listing()?;
    let entries = selection::selected(&listing, &arguments.filter, arguments.sort.as_ref())?;
    let columns = arguments.columns.iter().map(|name| {
        let column = selection::column(name, &listing)?;
        Ok((name.clone(), column))
    });
    let columns: Vec<(String, Column)> = columns.collect::<Result<_, ToolFailure>>()?;
    let limit = arguments.limit.unwrap_or(USUAL).clamp(1, MOST);
    let page = entries.iter().skip(arguments.offset).take(limit);
    let trajectories: Vec<ListedTrajectory> = page
        .map(|entry: &Arc<Entry>| ListedTrajectory::of(entry, &columns))
        .collect();
    let more = ListRest::of(entries.len(), arguments.offset, trajectories.len());
    let mut text = format!(
        "{} of {} trajectories match.\n",
        entries.len(),
        listing.entries.len()
    );
    text.extend(trajectories.iter().map(ListedTrajectory::line));
    text.push_str(&ListRest::line(more));
    for problem in &listing.problems {
        let _ = writeln!(text, "Not read: {problem}");
    }
    Ok(ToolReply {
        text,
        value: TrajectoryList {
            total: listing.entries.len(),
            matching: entries.len(),
            trajectories,
            more,
            problems: listing.problems.clone(),
        },
    })
}
