use volary_macros::tool;

#[tool]
fn nothing_said() {}

/// # Arguments
///
/// - `x`: The x.
#[tool]
fn only_arguments(x: i64) -> i64 {
    x
}

fn main() {
    let _ = nothing_said::tool::<()>();
    let _ = only_arguments::tool::<()>();
}
