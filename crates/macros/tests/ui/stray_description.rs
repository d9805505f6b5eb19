use volary_macros::tool;

/// Add one.
///
/// # Arguments
///
/// - `number`: What to add to.
/// - `nmber`: What to add to.
/// - no name
#[tool]
fn misspelt(number: i64) -> i64 {
    number + 1
}

/// Add one.
///
/// # Arguments
///
/// - `number`: What to add to.
/// - `nmber`: What to add to.
#[tool]
fn left_over(number: i64) -> i64 {
    number + 1
}

fn main() {}
