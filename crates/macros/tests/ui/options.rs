use volary_macros::tool;

/// Do nothing.
#[tool(unsafe_for_concurrency)]
fn function_option() {}

/// Do nothing.
#[tool(allow_missing_descriptions)]
fn parameter_option(#[tool(optional)] x: i64) {
    let _ = x;
}

/// Do nothing.
#[tool(allow_missing_descriptions)]
fn hidden(#[tool(hidden)] x: i64) {
    let _ = x;
}

fn main() {}
