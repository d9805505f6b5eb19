//! The environment `story`: a functional one, written like that of a user of the core.

use volary_core::environment::Setting;
use volary_core::functional::{FunctionalBuilder, FunctionalEnvironment, FunctionalState};
use volary_core::{EnvironmentError, Object, Text, ToolError, object};
use volary_macros::tool;

use super::input::told;

/// Multiply two numbers.
#[tool(allow_missing_descriptions)]
fn multiply(x: f64, y: f64) -> f64 {
    x * y
}

/// Print a story to the user and complete episode.
#[tool(allow_missing_descriptions)]
fn print_story(story: &str, state: &mut FunctionalState) -> Result<(), ToolError> {
    let extra = |key: &str| {
        let missing = || ToolError::new("KeyError", key);
        state.extras.get(key).cloned().ok_or_else(missing)
    };
    let stories = extra("stories")?.as_i64().unwrap_or_default() + 1;
    let topic = extra("topic")?;
    state.reward = story.chars().count() as f64 / 10.0;
    state.done = topic
        .as_text()
        .is_some_and(|topic| story.contains(&**topic));
    state.extras.insert("stories", stories);
    Ok(())
}

/// A story environment with a topic.
pub(super) fn make(
    configuration: Object,
    setting: &Setting,
) -> Result<FunctionalEnvironment, String> {
    FunctionalBuilder::start(start)
        .tool(multiply::tool())
        .and_then(|builder| builder.tool(print_story::tool()))
        .map(|builder| builder.make(configuration, setting))
        .map_err(told)
}

fn start(configuration: &Object) -> Result<(Text, Object), EnvironmentError> {
    let topic = configuration.get("topic").and_then(|topic| topic.as_text());
    let topic = topic.cloned().ok_or_else(|| EnvironmentError::Failed {
        message: "a story needs a topic".into(),
    })?;
    let observation = format!("Write a story about {topic}").into();
    Ok((observation, object!({"topic": topic, "stories": 0})))
}
