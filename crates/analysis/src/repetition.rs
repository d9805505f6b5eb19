//! Counts repeated calls of an agent: the same tool with the same arguments as in an earlier call of the episode. A
//! large number indicates a loop.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use volary_core::json::Json;
use volary_core::{AnyMessage, ToolCall};
use volary_episode::episode::Episode;

/// The number of calls that repeat an earlier one.
pub fn repeated_calls(episode: &Episode) -> usize {
    let mut known = HashSet::new();
    let calls = episode.messages().flat_map(|message| match message {
        AnyMessage::Request(request) => request.tool_calls.as_slice(),
        _ => &[],
    });
    calls.filter(|call| !known.insert(digest(call))).count()
}

/// A digest in place of the call: arguments may contain whole files.
pub(crate) fn digest(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.function.name.hash(&mut hasher);
    for (name, value) in call.function.arguments.iter() {
        name.hash(&mut hasher);
        hash(value, &mut hasher);
    }
    hasher.finish()
}

fn hash(value: &Json, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Json::Null => {}
        Json::Bool(value) => value.hash(hasher),
        Json::Integer(_) => value.to_compact_text().hash(hasher),
        Json::Float(value) => value.to_bits().hash(hasher),
        Json::Text(text) => text.hash(hasher),
        Json::List(list) => {
            list.len().hash(hasher);
            list.iter().for_each(|value| hash(value, hasher));
        }
        Json::Object(object) => {
            object.len().hash(hasher);
            for (key, value) in object.iter() {
                key.hash(hasher);
                hash(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{ToolRequestMessage, object};
    use volary_episode::episode::{Outcome, StepRecord};

    use super::*;

    fn calls(arguments: &[(&str, i64)]) -> Episode {
        let step = |(name, at): &(&str, i64)| {
            let arguments = object!({"at": (*at), "path": ["a", null, 1.5, {"deep": true}]});
            let action = ToolRequestMessage {
                tool_calls: vec![ToolCall::new("c", *name, arguments)],
                ..ToolRequestMessage::default()
            };
            let message = "No answer.".into();
            StepRecord::new(AnyMessage::Request(action), Outcome::Failed { message })
        };
        Episode {
            steps: arguments.iter().map(step).collect(),
            ..Episode::default()
        }
    }

    #[test]
    fn equal_calls_after_the_first_are_repeated() {
        assert_eq!(repeated_calls(&Episode::default()), 0);
        assert_eq!(
            repeated_calls(&calls(&[("look", 1), ("look", 2), ("take", 1)])),
            0
        );
        let looped = calls(&[("look", 1), ("take", 1), ("look", 1), ("look", 1)]);
        assert_eq!(repeated_calls(&looped), 2);
    }
}
