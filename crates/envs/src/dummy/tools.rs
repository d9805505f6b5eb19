//! The tools of the dummy environment.

use volary_core::ToolSet;
use volary_core::json::Json;
use volary_core::tool::ToolError;
use volary_macros::tool;

use super::DummyState;
use crate::cast::{to_float, to_integer};

thread_local! {
    /// The tools of every dummy environment.
    pub static TOOLS: ToolSet<DummyState> = ToolSet::new([
        print_story::tool(),
        cast_float::tool(),
        cast_int::tool(),
        get_random_int::tool(),
    ]);
}

/// Print a story.
///
/// # Arguments
///
/// - `story`: Story to print.
#[tool]
fn print_story(#[tool(schema = String)] _story: &Json, state: &mut DummyState) {
    state.progress.reward = 1.0;
    state.progress.done = state.end_immediately;
}

/// Cast the input argument x to a float.
#[tool(allow_missing_descriptions)]
fn cast_float(#[tool(schema = String)] x: &Json) -> Result<f64, ToolError> {
    to_float(x)
}

/// Cast the input argument x to an integer.
#[tool(allow_missing_descriptions)]
fn cast_int(#[tool(schema = f64)] x: &Json) -> Result<Json, ToolError> {
    to_integer(x).map(Json::Integer)
}

/// Get a random integer in 1 to 10.
#[tool]
fn get_random_int(state: &mut DummyState) -> i64 {
    state.random.range(1..=10)
}
