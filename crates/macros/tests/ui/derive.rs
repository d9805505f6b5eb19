use volary_macros::{ToolParameter, ToolRecord};

#[derive(ToolParameter)]
enum Told {
    One(i64),
    Two(String),
}

#[derive(ToolParameter)]
#[tool(untagged)]
enum Untagged {
    One { x: i64 },
}

#[derive(ToolParameter)]
#[tool(tag = "kind")]
enum Tagged {
    One { kind: i64 },
}

#[derive(ToolParameter)]
#[tool(tag = "kind")]
enum Wrapped {
    One(i64),
}

#[derive(ToolParameter)]
enum Never {}

#[derive(ToolParameter)]
struct Generic<T> {
    x: T,
}

#[derive(ToolParameter)]
struct Pair(i64, i64);

#[derive(ToolParameter)]
#[tool(rename_all = "Title Case")]
struct Cased {
    x: i64,
}

#[derive(ToolParameter)]
struct Twice {
    x: i64,
    #[tool(rename = "x")]
    y: i64,
}

#[derive(ToolParameter)]
struct FieldOption {
    #[tool(hidden)]
    x: i64,
}

#[derive(ToolRecord)]
struct Unit;

#[derive(ToolRecord)]
enum Data {
    One(i64),
}

fn main() {}
