use volary_macros::tool;

/// Give it back.
#[tool(allow_missing_descriptions)]
fn same<T>(value: T) -> T {
    value
}

fn main() {}
