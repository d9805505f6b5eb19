use volary_macros::tool;

struct Game;

impl Game {
    /// Play.
    #[tool]
    fn play(&mut self) {}
}

/// Take a pattern.
#[tool(allow_missing_descriptions)]
fn pattern((x, y): (i64, i64)) -> i64 {
    x + y
}

/// Take a reference.
#[tool(allow_missing_descriptions)]
fn reference(list: &[i64], text: &mut str) {
    let _ = (list, text);
}

/// Take anything that can be shown.
#[tool(allow_missing_descriptions)]
fn some(text: impl std::fmt::Display) -> String {
    text.to_string()
}

/// Take two of one name.
#[tool(allow_missing_descriptions)]
fn twice(x: i64, #[tool(rename = "x")] y: i64) -> i64 {
    x + y
}

fn main() {}
