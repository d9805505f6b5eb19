//! The schemas of tools equal what aviary makes of the same Python functions: data/schemas.json,
//! recorded by tests/interop/record_schemas.py.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(non_snake_case, reason = "as in the recorded functions")]
#![allow(dead_code, reason = "cases are there for their schema")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use volary_core::Tool;
use volary_core::json::{Json, Object, Text};
use volary_core::tool::Parameter;
use volary_macros::tool;

mod types;

use types::{
    Amount, AnyNumber, Color, Empty, Level, LevelValue, Meters, Mixed, MixedValue, Mode, Only,
    OnlyText, Pet, Place, Point, Tree, True,
};

struct State;

/// Do nothing.
#[tool]
fn nothing(_state: &mut State, _tool_call_id: &str) {}

/// Take plain values.
#[tool(allow_missing_descriptions)]
fn plain(_integer: i64, small: i32, number: f64, _text: &str, _flag: bool, _none: ()) {
    let _ = (small, number);
}

/// Take a number that has no sign.
#[tool(allow_missing_descriptions)]
fn counted(_count: u32) {}

/// Take anything.
#[tool(allow_missing_descriptions)]
fn anything(
    _value: &Json,
    _values: Vec<Json>,
    _members: Object,
    _others: Vec<Json>,
    more: BTreeMap<String, Json>,
) {
    drop(more);
}

/// Take what need not be given.
#[tool(allow_missing_descriptions)]
#[expect(clippy::too_many_arguments)]
fn defaults(
    #[tool(default = 5)] _integer: i64,
    #[tool(default = 1.5)] _number: f64,
    #[tool(default = "a b")] _text: String,
    #[tool(default = true)] _flag: bool,
    #[tool(default)] _none: Option<i64>,
    #[tool(default = Some(3))] _some: Option<i64>,
    #[tool(default = vec!["a".into()])] _words: Vec<Text>,
    #[tool(default = BTreeMap::from([("a".into(), 1)]))] _members: BTreeMap<String, i64>,
    #[tool(default = (1, "a".into()))] _pair: (i64, String),
    #[tool(default)] _value: Json,
) {
}

/// Take values in values.
#[tool(allow_missing_descriptions)]
fn nested(
    _lists: Vec<Vec<i64>>,
    _maps: BTreeMap<String, BTreeMap<String, f64>>,
    _options: Vec<Option<i64>>,
    _optional: Option<Vec<i64>>,
    _members: BTreeSet<String>,
    _pair: (i64, String),
    _triple: (i64, (bool, ()), Vec<String>),
) {
}

/// Take values of named types.
///
/// # Arguments
///
/// - `color`: The color.
/// - `point`: The place.
#[tool(allow_missing_descriptions)]
#[expect(clippy::too_many_arguments)]
fn named(
    _color: Color,
    _level: Level,
    _mixed: Mixed,
    _only: Only,
    _point: Point,
    _tree: Tree,
    _empty: Empty,
    _meters: Meters,
) {
}

/// Take named types within others.
#[tool(allow_missing_descriptions)]
#[expect(clippy::too_many_arguments)]
fn named_in_others(
    _color: Option<Color>,
    _points: Vec<Point>,
    _colors: BTreeMap<String, Color>,
    _pair: (Color, Point),
    #[tool(default = Color::DarkGreen)] _default: Color,
    #[tool(default)] _other: Option<Color>,
    #[tool(default = Level::High)] _level: Level,
    #[tool(default = point())] _point: Point,
    #[tool(default = tree(1, vec![tree(2, vec![])]))] _tree: Tree,
) {
}

fn point() -> Point {
    Point {
        x: 1,
        y: 2,
        label: None,
        color: Color::Red,
        record_id: 0.5,
    }
}

fn tree(value: i64, children: Vec<Tree>) -> Tree {
    Tree { value, children }
}

/// Take one of some.
#[tool(allow_missing_descriptions)]
fn literals(
    _mode: Mode,
    _one: OnlyText,
    _level: LevelValue,
    _mixed: MixedValue,
    _flag: True,
    _optional: Option<Mode>,
    #[tool(default = Mode::Careful)] _default: Mode,
) {
}

/// Take values of several types.
#[tool(allow_missing_descriptions)]
fn unions(
    _amount: Amount,
    _point: Place,
    _optional: Option<Amount>,
    _several: Vec<Amount>,
    #[tool(default = Amount::Text("many".into()))] _default: Amount,
) {
}

/// Take values told apart by a field.
#[tool(allow_missing_descriptions)]
fn told_apart(_pet: Pet, _pets: Vec<Pet>, _optional: Option<Pet>) {}

/// Take names of all kinds.
#[tool(allow_missing_descriptions)]
fn names(_max_new_tokens: i64, Already_Title: i64, x2y: i64, n_2nd: i64, ALL: i64) {
    let _ = (Already_Title, x2y, n_2nd, ALL);
}

/// Measure a distance.
///
/// In a straight line, over
/// hill and dale:
///
///   - fast
///   - exact
///
/// # Arguments
///
/// - `start`: Where it begins,
///   which may be anywhere:
///     even here.
/// - `end` (int): Where it ends.
/// - `unit`: What counts as one: "m" or "ft".
#[tool]
fn described(_start: &str, _end: i64, #[tool(default = "m")] _unit: &str) {}

/// Measure a distance.
///
/// # Arguments
///
/// - `start`: Where it begins.
/// - `end` (int): Where it ends.
#[tool(types_in_descriptions)]
fn typed_descriptions(_start: &str, _end: i64) {}

/// Print a story.
///
/// To whoever listens.
///
/// # Hidden
///
/// People read on here.
#[tool(allow_missing_descriptions)]
fn secretive(_story: &str) {}

fn tools() -> Vec<Arc<Tool>> {
    vec![
        nothing::definition(),
        plain::definition(),
        counted::definition(),
        anything::definition(),
        defaults::definition(),
        nested::definition(),
        named::definition(),
        named_in_others::definition(),
        literals::definition(),
        unions::definition(),
        told_apart::definition(),
        names::definition(),
        described::definition(),
        typed_descriptions::definition(),
        secretive::definition(),
    ]
}

#[test]
fn schemas_equal_those_of_aviary() {
    let recorded = Json::parse(include_str!("../data/schemas.json")).unwrap();
    let recorded = recorded.as_object().unwrap();
    let tools = tools();
    let names: BTreeSet<&str> = tools.iter().map(|tool| &*tool.info.name).collect();
    let recorded_names: BTreeSet<&str> = recorded.keys().map(|name| &**name).collect();
    assert_eq!(names, recorded_names);
    for tool in &tools {
        let ours = Json::from(tool.info.dump(false));
        let theirs = recorded.get(&tool.info.name).unwrap();
        assert!(
            ours == *theirs,
            "ours: {}\ntheirs: {}",
            ours.to_compact_text(),
            theirs.to_compact_text()
        );
    }
}

fn reads_back<T: Parameter + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(T::read(&value.dump()).as_ref(), Ok(value));
}

fn problem<T: Parameter>(value: &str) -> String {
    match T::read(&Json::parse(value).unwrap()) {
        Ok(_) => "none".to_owned(),
        Err(error) => format!("x{} {}", error.path, error.problem),
    }
}

#[test]
fn values_read_back() {
    reads_back(&point());
    reads_back(&tree(1, vec![tree(2, vec![])]));
    for pet in [
        Pet::Cat { lives: 7 },
        Pet::Fish,
        Pet::Dog {
            name: "Rex".into(),
            owner: Some(point()),
        },
    ] {
        reads_back(&pet);
    }
    reads_back(&[Color::Red, Color::DarkGreen].to_vec());
    reads_back(&vec![Mixed::Number, Mixed::Text]);
    reads_back(&vec![Amount::Number(1), Amount::Text("1".into())]);
    reads_back(&vec![AnyNumber::Integer(1), AnyNumber::Float(1.0)]);
    reads_back(&Meters(2.5));
}

#[test]
fn what_does_not_fit_is_said_with_its_place() {
    assert_eq!(
        problem::<Color>("\"blue\""),
        "x must be one of \"red\", \"dark_green\", not \"blue\""
    );
    assert_eq!(
        problem::<Vec<Point>>(r#"[{"x": 1, "recordId": 1}, {"x": "one"}]"#),
        "x[1].x must be an integer, not \"one\""
    );
    assert_eq!(
        problem::<Point>(r#"{"x": 1}"#),
        "x lacks the field 'recordId'"
    );
    assert_eq!(
        problem::<Pet>(r#"{"kind": "cow"}"#),
        "x.kind must be one of \"cat\", \"dog\", \"gold_fish\", not \"cow\""
    );
    assert_eq!(problem::<Pet>("{}"), "x lacks the field 'kind'");
    assert_eq!(
        problem::<Amount>("[1]"),
        "x must be an integer, not [1]; or must be a string, not [1]"
    );
    assert_eq!(problem::<Meters>("true"), "x must be a number, not true");
}
