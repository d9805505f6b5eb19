//! What tools may look like, under the strictest lints that users may have.
#![deny(warnings, missing_docs, unused, clippy::all)]
#![forbid(unsafe_code)]

use std::cell::RefCell;

use volary_core::tool::{BoundTool, ToolError, ToolSet};
use volary_core::{Clock, Json, Text};
use volary_macros::{ToolParameter, ToolRecord, tool};

/// The state.
#[derive(Default)]
pub struct State {
    /// A number.
    pub number: i64,
}

/// How to go.
#[derive(Clone, Debug, PartialEq, ToolParameter)]
#[tool(rename_all = "snake_case")]
pub enum Mode {
    /// Quickly.
    Fast,
    /// Slowly.
    VerySlow,
}

/// What came of it.
#[derive(ToolRecord)]
#[tool(rename_all = "camelCase")]
pub struct Outcome {
    step_count: i64,
    note: Option<String>,
    inner: Vec<Inner>,
}

#[derive(ToolRecord)]
struct Inner {
    r#type: Text,
}

/** A block comment
 *  describes as well.
 *
 * # Arguments
 *
 * - `mode`: How to go.
 */
#[tool]
pub fn go(mode: Mode, state: &mut State) -> Result<Outcome, ToolError> {
    if mode == Mode::VerySlow {
        return Err(ToolError::value("too slow"));
    }
    state.number += 1;
    Ok(Outcome {
        step_count: state.number,
        note: None,
        inner: vec![Inner {
            r#type: "x".into(),
        }],
    })
}

/// Wait for nothing.
///
/// ```
/// # Not a heading
/// ```
#[tool(name = "wait-for", concurrency_safe = false)]
pub(crate) async fn wait(
    state: &RefCell<State>,
    clock: &dyn Clock,
    tool_call_id: String,
) -> Option<Json> {
    let _ = clock;
    state.borrow_mut().number += 1;
    Some(tool_call_id.into())
}

macro_rules! getter {
    ($name:ident, $state:ty, $text:ty) => {
        /// Look at the number.
        #[tool(allow_missing_descriptions)]
        fn $name(unit: $text, state: $state) -> String {
            format!("{}{unit}", state.number)
        }
    };
}

getter!(look, &State, &str);

fn main() {
    /// A tool within a function.
    #[tool(allow_missing_descriptions)]
    fn local(r#type: &str, #[tool(default = 5)] _count: u32) -> usize_as_json::Length {
        usize_as_json::Length(r#type.len())
    }

    let tools: [BoundTool<State>; 4] =
        [go::tool(), wait::tool(), local::tool(), look::tool()];
    let tools = ToolSet::new(tools);
    let names: Vec<&str> = tools.names().map(|name| &**name).collect();
    assert_eq!(names, ["go", "wait-for", "local", "look"]);
    let definition = go::definition();
    assert_eq!(
        &*definition.info.description,
        "A block comment\n describes as well."
    );
    let described = wait::definition();
    assert!(described.info.description.ends_with("```\n# Not a heading\n```"));
    let parameters = local::definition().info.parameters.clone();
    let parameters = parameters.map(|parameters| parameters.properties);
    let keys: Option<Vec<String>> =
        parameters.map(|known| known.keys().map(ToString::to_string).collect());
    assert_eq!(keys, Some(vec!["type".to_owned(), "count".to_owned()]));
}

/// A type of results of one's own.
mod usize_as_json {
    use volary_core::tool::{IntoToolResult, ToolResult, ToolValue};

    pub struct Length(pub usize);

    impl IntoToolResult for Length {
        fn into_tool_result(self) -> ToolResult {
            Ok(ToolValue::Text(self.0.to_string().into()))
        }
    }
}
