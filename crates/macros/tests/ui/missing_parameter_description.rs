use volary_macros::tool;

/// Add two numbers.
///
/// # Arguments
///
/// - `first`: The first number.
#[tool]
fn add(first: i64, second: i64, third: i64) -> i64 {
    first + second + third
}

fn main() {}
