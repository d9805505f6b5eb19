//! Which rows a tool is asked about: filters, order and pages, as in the table of Review.

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use volary_analysis::table::arrange::{Arranging, Wanted};
use volary_analysis::table::filter::Filter;
use volary_analysis::table::order::Direction;
use volary_analysis::table::view::{column_text, read_column};
use volary_analysis::table::{Cell, Column, Row, found_columns};

use super::catalog::{Entry, Listing};
use super::failure::ToolFailure;

/// The number of scores and members of metadata that an error names.
const MOST_NAMED: usize = 40;

/// The columns of every table.
const COLUMNS: [&str; 16] = [
    "name",
    "environment",
    "model",
    "agent",
    "task",
    "run",
    "reward",
    "steps",
    "calls",
    "errors",
    "repeated-calls",
    "tokens",
    "cost",
    "time",
    "started",
    "outcome",
];

/// A condition on a column.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowFilter {
    /// The column: name, environment, model, agent, task, run, reward, steps, calls, errors, repeated-calls, tokens, cost,
    /// time (seconds), outcome, score/NAME, or the name of a member of the metadata
    pub column: String,
    /// The value is one of these texts, exactly
    #[serde(default)]
    pub is: Option<Vec<String>>,
    /// The value contains this text, in any case
    #[serde(default)]
    pub contains: Option<String>,
    /// The value is a number, and at least this
    #[serde(default)]
    pub at_least: Option<f64>,
    /// The value is a number, and at most this
    #[serde(default)]
    pub at_most: Option<f64>,
    /// Whether there is a value
    #[serde(default)]
    pub known: Option<bool>,
}

/// A direction of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortDirection {
    #[default]
    Ascending,
    Descending,
}

/// By which column rows are sorted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowOrder {
    /// The column, as in a filter. Rows without a value come last
    pub column: String,
    #[serde(default)]
    pub direction: SortDirection,
}

/// What was left out of a list, and how to get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListRest {
    /// The number of items that follow
    pub left_out: usize,
    /// Pass this as `offset` to get them
    pub next_offset: usize,
}

impl ListRest {
    /// What follows `shown` items from `offset` on; `None` if nothing does.
    pub fn of(all: usize, offset: usize, shown: usize) -> Option<ListRest> {
        let next_offset = offset + shown;
        (next_offset < all).then_some(ListRest {
            left_out: all - next_offset,
            next_offset,
        })
    }

    /// The line of the text about it.
    pub fn line(rest: Option<ListRest>) -> String {
        match rest {
            None => String::new(),
            Some(rest) => format!(
                "{} more: call again with offset {}.\n",
                rest.left_out, rest.next_offset
            ),
        }
    }
}

/// Filters that were understood.
#[derive(Clone, Debug, Default)]
pub struct Conditions(Vec<(Column, Filter)>);

impl Conditions {
    /// # Errors
    /// If a column is in no row, or a filter has no condition.
    pub fn of(filters: &[RowFilter], listing: &Listing) -> Result<Conditions, ToolFailure> {
        let mut conditions = Vec::new();
        for filter in filters {
            let column = column(&filter.column, listing)?;
            let bounds = (filter.at_least, filter.at_most);
            let (is, contains) = (filter.is.clone(), filter.contains.clone());
            let all = Filter::all(is, contains, bounds, filter.known);
            if all.is_empty() {
                return Err(ToolFailure::NoCondition {
                    column: filter.column.clone(),
                });
            }
            conditions.extend(all.into_iter().map(|filter| (column.clone(), filter)));
        }
        Ok(Conditions(conditions))
    }

    pub fn pass(&self, row: &Row) -> bool {
        let mut all = self.0.iter();
        all.all(|(column, filter)| filter.passes(&row.cell(column)))
    }
}

/// The rows that pass all filters, in order.
pub fn selected(
    listing: &Listing,
    filters: &[RowFilter],
    order: Option<&RowOrder>,
) -> Result<Vec<Arc<Entry>>, ToolFailure> {
    let Conditions(filters) = Conditions::of(filters, listing)?;
    let sort = match order {
        Some(order) => {
            let direction = match order.direction {
                SortDirection::Ascending => Direction::Ascending,
                SortDirection::Descending => Direction::Descending,
            };
            Some((column(&order.column, listing)?, direction))
        }
        None => None,
    };
    let entries = listing.entries.iter();
    let by_row: HashMap<*const Row, &Arc<Entry>> = entries
        .map(|entry| (Arc::as_ptr(&entry.row), entry))
        .collect();
    let rows = listing.entries.iter().map(|entry| entry.row.clone());
    let wanted = Wanted {
        filters,
        only: None,
        sort,
    };
    let mut arranging = Arranging::of(Arc::new(rows.collect()), wanted);
    let rows = loop {
        if let Some(rows) = arranging.advance(usize::MAX) {
            break rows;
        }
    };
    let entries = rows.iter().filter_map(|row| by_row.get(&Arc::as_ptr(row)));
    Ok(entries.map(|entry| Arc::clone(entry)).collect())
}

/// The column with a name. What is no column is a member of the metadata, which some row must have.
pub fn column(name: &str, listing: &Listing) -> Result<Column, ToolFailure> {
    if let Some(column) = read_column(name) {
        return Ok(column);
    }
    let column = Column::Metadata(vec![name.into()]);
    let mut entries = listing.entries.iter();
    if entries.any(|entry| entry.row.cell(&column) != Cell::Empty) {
        return Ok(column);
    }
    let found = found_columns(listing.entries.iter().map(|entry| &*entry.row), MOST_NAMED);
    let found = found.iter().map(|(column, _)| column_text(column));
    let known = COLUMNS.iter().map(|name| (*name).to_owned());
    Err(ToolFailure::NoColumn {
        name: name.to_owned(),
        known: known.chain(found).collect::<Vec<_>>().join(", "),
    })
}
