//! Types of parameters, as the recorded functions have them.

use volary_macros::ToolParameter;

/// What it looks like.
#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(rename_all = "snake_case")]
pub(crate) enum Color {
    Red,
    DarkGreen,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) enum Level {
    #[tool(value = 1)]
    Low,
    #[tool(value = 10)]
    High,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) enum Mixed {
    #[tool(value = 1)]
    Number,
    #[tool(rename = "text")]
    Text,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) enum Only {
    One,
}

/// A place on the map.
///
/// North is up.
#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) struct Point {
    /// How far east.
    pub(crate) x: i64,
    /// How far north,
    /// from the river.
    #[tool(default = 2)]
    pub(crate) y: i64,
    #[tool(default)]
    pub(crate) label: Option<String>,
    #[tool(default = Color::Red)]
    pub(crate) color: Color,
    #[tool(rename = "recordId")]
    pub(crate) record_id: f64,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) struct Tree {
    pub(crate) value: i64,
    #[tool(default)]
    pub(crate) children: Vec<Tree>,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) struct Empty {}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(tag = "kind")]
pub(crate) enum Pet {
    /// Goes its own way.
    #[tool(rename = "cat")]
    Cat {
        #[tool(default = 9)]
        lives: i64,
    },
    #[tool(rename = "dog")]
    Dog {
        /// What it hears on.
        name: String,
        owner: Option<Point>,
    },
    #[tool(rename = "gold_fish")]
    Fish,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
pub(crate) struct Meters(pub(crate) f64);

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(inline, rename_all = "lowercase")]
pub(crate) enum Mode {
    Fast,
    Careful,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(inline)]
pub(crate) enum OnlyText {
    #[tool(rename = "only")]
    Only,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(inline)]
pub(crate) enum LevelValue {
    #[tool(value = 1)]
    Low,
    #[tool(value = 2)]
    High,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(inline)]
pub(crate) enum MixedValue {
    #[tool(value = 1)]
    One,
    #[tool(rename = "many")]
    Many,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(inline)]
pub(crate) enum True {
    #[tool(value = true)]
    True,
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(untagged)]
pub(crate) enum Amount {
    Number(i64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(untagged)]
pub(crate) enum Place {
    Point(Point),
    Text(String),
}

#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(untagged)]
pub(crate) enum AnyNumber {
    Float(f64),
    Integer(i64),
}
