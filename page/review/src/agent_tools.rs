//! The tools of the table for agents in the browser, where it has any. They act as a person would: through the search field,
//! the filters, and the link of a row. They are registered while the table is shown.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_app::review::opening::ReviewOpening;
use volary_app::review::table_tools::{
    TableAct, TableTool, TableToolError, error_result, opened_result, shown_result,
};
use volary_core::json::Json;
use volary_view::review::screen::ReviewScreen;
use volary_view::route::{ReviewPlace, Route};

use super::page::Review;
use volary_browser::page_tools::{self, PageTool, ToolRegistration};
use volary_browser::{location, timers};

/// The time between two looks whether the page has done what was asked.
const REST: Duration = Duration::from_millis(20);

/// Registers the tools whenever the table is shown, and takes them back when it is left.
pub(super) fn offer(review: Review) {
    Effect::new(move |former: Option<Option<ToolRegistration>>| {
        // Their names must be free before they are registered again.
        drop(former);
        let is_shown = review.is_shown() && review.part.get() == ReviewScreen::Library;
        is_shown.then(|| page_tools::register(tools(review)))?
    });
}

fn tools(review: Review) -> Vec<PageTool> {
    let tools = TableTool::ALL.map(|tool| PageTool {
        name: tool.name(),
        title: tool.title(),
        description: tool.description(),
        schema: tool.schema(),
        run: Rc::new(move |arguments| {
            Box::pin(async move {
                let done = run(review, tool, arguments).await;
                done.unwrap_or_else(|error| error_result(&error))
            })
        }),
    });
    tools.into()
}

async fn run(review: Review, tool: TableTool, arguments: Json) -> Result<Json, TableToolError> {
    let look = review.look;
    let known = look.all_columns.get_untracked();
    match tool.act(&arguments, &known)? {
        TableAct::Search { words, offset } => {
            look.search(words);
            Ok(shown(review, offset).await)
        }
        TableAct::Filter {
            filters,
            sort,
            offset,
        } => {
            if let Some(filters) = filters {
                look.filters.set(filters);
            }
            if let Some(sort) = sort {
                look.sort.set(sort);
            }
            Ok(shown(review, offset).await)
        }
        TableAct::Open { id, step } => open(review, id, step).await,
    }
}

/// The rows that the table shows once it has followed.
async fn shown(review: Review, offset: usize) -> Json {
    let look = review.look;
    loop {
        // Effects run first.
        timers::sleep(REST).await;
        if !look.client.is_searching() && !look.is_arranging.get_untracked() {
            break;
        }
    }
    let all = look.rows.with_untracked(|rows| rows.len());
    let found = look.found.get_untracked();
    look.shown
        .with_untracked(|shown| shown_result(shown, all, offset, found.as_deref()))
}

async fn open(review: Review, id: String, step: Option<usize>) -> Result<Json, TableToolError> {
    let row: Option<Arc<Row>> = review.look.rows.with_untracked(|rows| {
        let mut rows = rows.iter();
        rows.find(|row| *row.id == *id).cloned()
    });
    let Some(row) = row else {
        return Err(TableToolError::NoTrajectory(id));
    };
    let place = ReviewPlace {
        episode: Some(id.clone()),
        step,
        ..ReviewPlace::default()
    };
    let address = Route::Review(place).to_hash();
    location::go(&address);
    let mut was_named = false;
    loop {
        timers::sleep(REST).await;
        let is_named = review.names(&id);
        match review.opening.get_untracked() {
            ReviewOpening::Shown(shown) if shown == id => {
                return Ok(opened_result(&row, step, &address));
            }
            ReviewOpening::Failed(reason) => return Err(TableToolError::Unopened(reason)),
            // The person went elsewhere meanwhile.
            _ if was_named && !is_named => {
                let reason = "the page was left".to_owned();
                return Err(TableToolError::Unopened(reason));
            }
            _ => was_named |= is_named,
        }
    }
}
