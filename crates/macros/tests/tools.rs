//! Tools made by `#[tool]`, called through `exec_tool_calls`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::RefCell;

use volary_core::clock::Standstill;
use volary_core::exec::{ExecOptions, exec_tool_calls};
use volary_core::json::{Json, Object, Text};
use volary_core::message::{Message, ToolRequestMessage};
use volary_core::tool::{
    BoundTool, IntoToolResult, ToolCall, ToolCallFunction, ToolError, ToolSet, ToolValue,
};
use volary_core::virtual_clock::VirtualClock;
use volary_core::{Clock, object};
use volary_macros::{ToolParameter, ToolRecord, tool};

/// What the tools here work on.
#[derive(Default)]
struct Sum {
    value: i64,
}

/// Add to the sum.
///
/// # Arguments
///
/// - `by`: How much to add.
#[tool]
fn add(#[tool(default = 1)] by: i64, state: &mut Sum) -> i64 {
    state.value += by;
    state.value
}

/// Look at the sum.
#[tool]
fn look(state: &Sum, tool_call_id: &str) -> String {
    format!("{tool_call_id}: {}", state.value)
}

/// Add to the sum, later.
#[tool(allow_missing_descriptions, concurrency_safe = false)]
async fn add_later(
    by: i64,
    seconds: f64,
    state: &RefCell<Sum>,
    clock: &dyn Clock,
) -> Result<(), ToolError> {
    if by == 0 {
        return Err(ToolError::value("nothing to add"));
    }
    clock
        .sleep(std::time::Duration::from_secs_f64(seconds))
        .await;
    state.borrow_mut().value += by;
    Ok(())
}

/// Join two texts.
#[tool(allow_missing_descriptions)]
fn join(first: &str, _second: &str, #[tool(default = "-")] delimiter: &str) -> String {
    format!("{first}{delimiter}{_second}")
}

/// Give what came.
#[tool(allow_missing_descriptions, name = "give")]
fn give_anything(#[tool(schema = String)] value: &Json) -> Json {
    value.clone()
}

/// Say something.
#[tool]
fn say(tool_call_id: Text) -> Message {
    Message::user(format!("called as {tool_call_id}"))
}

/// A place.
#[derive(Clone, Copy, ToolParameter, ToolRecord)]
struct Point {
    x: i64,
    #[tool(default = 2)]
    y: i64,
}

/// Move a point.
#[tool(allow_missing_descriptions)]
fn shift(point: Point, by: Option<i64>, #[tool(hidden, default = 10)] scale: i64) -> Point {
    Point {
        x: point.x + scale * by.unwrap_or(1),
        ..point
    }
}

fn tools() -> ToolSet<Sum> {
    ToolSet::new([
        add::tool(),
        look::tool(),
        add_later::tool(),
        join::tool(),
        give_anything::tool(),
        say::tool(),
        shift::tool(),
    ])
}

fn call(name: &str, arguments: Object) -> Result<(String, i64), String> {
    let request = ToolRequestMessage {
        tool_calls: vec![ToolCall {
            id: "id1".into(),
            function: ToolCallFunction {
                name: name.into(),
                arguments,
            },
        }],
        ..ToolRequestMessage::default()
    };
    let state = RefCell::new(Sum::default());
    let clock = VirtualClock::new();
    let tools = tools();
    let options = ExecOptions::default();
    let outcome = clock
        .run(exec_tool_calls(&tools, &state, &request, &options, &clock))
        .unwrap();
    let mut responses = outcome.map_err(|error| error.to_string())?;
    let content = responses.remove(0).body.content.unwrap();
    Ok((content.to_string(), state.into_inner().value))
}

fn failure(name: &str, arguments: Object) -> String {
    call(name, arguments).unwrap_err()
}

#[test]
fn calls() {
    let done = |content: &str, value| Ok((content.to_owned(), value));
    assert_eq!(call("add", object!({"by": 5})), done("5", 5));
    assert_eq!(call("add", object!({})), done("1", 1));
    assert_eq!(call("look", object!({})), done("id1: 0", 0));
    let later = object!({"by": 3, "seconds": 1});
    assert_eq!(call("add_later", later), done("null", 3));
    let texts = object!({"first": "a", "second": "b"});
    assert_eq!(call("join", texts), done("a-b", 0));
    assert_eq!(call("give", object!({"value": [1, 2]})), done("[1, 2]", 0));
    assert_eq!(call("say", object!({})), done("called as id1", 0));
    let shifted = done("{\"x\":11,\"y\":2}", 0);
    assert_eq!(
        call("shift", object!({"point": {"x": 1}, "by": null})),
        shifted
    );
}

#[test]
fn wrong_arguments_fail_as_the_call_itself() {
    assert_eq!(
        failure("join", object!({})),
        "join() missing 2 required positional arguments: 'first' and 'second'"
    );
    assert_eq!(
        failure("join", object!({"first": "a", "third": "b"})),
        "join() got an unexpected keyword argument 'third'"
    );
    assert_eq!(
        failure("add", object!({"state": 1})),
        "add() got multiple values for keyword argument 'state'"
    );
    assert_eq!(
        failure("join", object!({"state": 1, "first": "a", "second": "b"})),
        "join() got an unexpected keyword argument 'state'"
    );
    assert_eq!(
        failure("add", object!({"by": "x"})),
        "add() argument 'by' must be an integer, not \"x\""
    );
    assert_eq!(
        failure("shift", object!({"point": {"x": 1, "y": null}, "by": null})),
        "shift() argument 'point.y' must be an integer, not null"
    );
    assert_eq!(
        failure("shift", object!({"point": {}, "by": "x", "scale": 1})),
        "shift() got an unexpected keyword argument 'scale'"
    );
    assert_eq!(
        failure("add_later", object!({"by": 0, "seconds": 0.5})),
        "nothing to add"
    );
}

#[test]
fn the_injected_id_wins() {
    let said = call("say", object!({"tool_call_id": "forged"}));
    assert_eq!(said, Ok(("called as id1".to_owned(), 0)));
}

#[test]
fn the_function_stays_callable_and_the_definition_is_shared() {
    let mut sum = Sum::default();
    assert_eq!(add(4, &mut sum), 4);
    assert!(std::sync::Arc::ptr_eq(
        &add::tool().tool,
        &add::definition()
    ));
    let free: BoundTool<()> = join::tool();
    assert!(free.tool.concurrency_safe);
    assert!(!add_later::definition().concurrency_safe);
    assert_eq!(Standstill.now(), 0.0);
    assert_eq!(
        ToolValue::Json(Json::Null)
            .into_body()
            .unwrap()
            .content
            .as_deref(),
        Some("null")
    );
}

/// What came of a search.
#[derive(ToolRecord)]
#[tool(rename_all = "camelCase")]
struct Found {
    record_id: i64,
    label: Option<String>,
    score: f64,
    best: Option<Hit>,
    others: Vec<Hit>,
    kind: Kind,
}

#[derive(ToolRecord)]
struct Hit {
    #[tool(rename = "class")]
    kind: Kind,
    note: Option<String>,
}

#[derive(ToolRecord)]
#[tool(rename_all = "kebab-case")]
enum Kind {
    WholePage,
    Line,
}

#[test]
fn records_are_compact_and_without_null_fields_at_any_depth() {
    let found = Found {
        record_id: 7,
        label: None,
        score: 1e16,
        best: Some(Hit {
            kind: Kind::Line,
            note: None,
        }),
        others: vec![Hit {
            kind: Kind::WholePage,
            note: Some("é".into()),
        }],
        kind: Kind::Line,
    };
    let body = found.into_tool_result().unwrap().into_body().unwrap();
    assert_eq!(
        body.content.as_deref(),
        Some(
            "{\"recordId\":7,\"score\":1e+16,\"best\":{\"class\":\"line\"},\
             \"others\":[{\"class\":\"whole-page\",\"note\":\"é\"}],\"kind\":\"line\"}"
        )
    );
    assert!(body.content_is_json_str);
    let text = Kind::WholePage.into_tool_result();
    assert_eq!(text, Ok(ToolValue::Text("whole-page".into())));
}
