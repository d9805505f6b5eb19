//! `summarize_trajectories`: rewards, success and pass^k, in groups.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_analysis::table::Row;
use volary_analysis::table::groups::{GroupBy, SUCCESS};

use super::{Library, ToolReply};
use crate::mcp::failure::ToolFailure;
use crate::mcp::selection::{self, RowFilter};
use crate::stats::Totals;

/// The maximum number of groups.
const MOST: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryArguments {
    /// One or two columns to group by, as in a filter: model, task, run, outcome, score/NAME, a member of the metadata such as
    /// step, …
    #[serde(default)]
    by: Vec<String>,
    /// Conditions that the trajectories must meet
    #[serde(default)]
    filter: Vec<RowFilter>,
    /// The lowest reward that counts as a success: 1 by default
    #[serde(default)]
    success: Option<f64>,
    /// The number of groups to skip
    #[serde(default)]
    offset: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TrajectorySummary {
    #[serde(flatten)]
    totals: Totals,
    /// What follows, if there are more than 200 groups
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<selection::ListRest>,
}

pub fn summarize(
    library: &Library,
    arguments: SummaryArguments,
    _cancelled: &CancellationToken,
) -> Result<ToolReply<TrajectorySummary>, ToolFailure> {
    let listing = library.catalog.listing()?;
    let entries = selection::selected(&listing, &arguments.filter, None)?;
    let column = |name: &str| selection::column(name, &listing);
    let by = match arguments.by.as_slice() {
        [] => None,
        [one] if one == "task" => Some(GroupBy::Task),
        [one] if one == "run" => Some(GroupBy::Run),
        [one] => Some(GroupBy::Column(column(one)?)),
        [one, two] => Some(GroupBy::Pair(column(one)?, column(two)?)),
        more => return Err(ToolFailure::Columns { count: more.len() }),
    };
    let rows: Vec<&Row> = entries.iter().map(|entry| &*entry.row).collect();
    let success = arguments.success.unwrap_or(SUCCESS);
    let mut totals = Totals::of(&rows, by.as_ref(), success);
    let all = totals.groups.len();
    totals.groups = totals
        .groups
        .into_iter()
        .skip(arguments.offset)
        .take(MOST)
        .collect();
    let more = selection::ListRest::of(all, arguments.offset, totals.groups.len());
    let mut text = String::new();
    for group in &totals.groups {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}", group.line());
    }
    text.push_str(&selection::ListRest::line(more));
    text.push_str(totals.text().trim_start());
    text.push('\n');
    Ok(ToolReply {
        text,
        value: TrajectorySummary { totals, more },
    })
}
