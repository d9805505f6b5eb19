//! When the answer of a task may be shown to its player. Pure.
//!
//! Invariant: a player who may still act, or take the last step back, does not see it without asking for it.

use std::sync::Arc;

use volary_core::{AnyMessage, ToolCall};
use volary_episode::{Ending, Episode};

/// The tools that hand in an answer begin with this.
const SUBMITS: &str = "submit";

/// Whether the answer may be shown: one was submitted, and the player may not take it back.
pub fn may_show_answer(episode: &Episode, may_undo: bool) -> bool {
    !may_undo && has_submitted(episode)
}

/// Whether the environment ended the episode before an answer was submitted, for a mistake that can be taken back.
pub fn has_failed(episode: &Arc<Episode>) -> bool {
    episode.ending == Ending::Done && !episode.steps.is_empty() && !has_submitted(episode)
}

/// Whether the last action submitted an answer and ended the episode. Where no tool submits one, the end counts.
pub fn has_submitted(episode: &Episode) -> bool {
    if !episode.is_over() {
        return false;
    }
    let mut tools = episode.tools.iter();
    if !tools.any(|tool| tool.info.name.starts_with(SUBMITS)) {
        return true;
    }
    let submits = |call: &ToolCall| call.function.name.starts_with(SUBMITS);
    let last = episode.steps.last().map(|step| &step.action);
    matches!(last, Some(AnyMessage::Request(request)) if request.tool_calls.iter().any(submits))
}

#[cfg(test)]
mod tests {
    use volary_core::Tool;
    use volary_core::json;
    use volary_core::message::ToolRequestMessage;
    use volary_core::tool::ToolCallFunction;
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    /// An episode whose steps call these tools.
    fn episode(tools: &[&str], steps: &[&[&str]], ending: Ending) -> Episode {
        let tool = |name: &&str| {
            let function = json!({"name": (*name), "description": "", "parameters": {"type": "object", "properties": {}, "required": []}});
            Tool::read(&json!({"type": "function", "function": function})).expect("a tool")
        };
        let step = |names: &&[&str]| {
            let calls = names.iter().map(|name| ToolCall {
                function: ToolCallFunction {
                    name: (*name).into(),
                    ..ToolCallFunction::default()
                },
                ..ToolCall::default()
            });
            let action = ToolRequestMessage {
                tool_calls: calls.collect(),
                ..ToolRequestMessage::default()
            };
            let outcome = Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: ending == Ending::Done,
                truncated: false,
            };
            StepRecord::new(action.into(), outcome)
        };
        Episode {
            tools: tools.iter().map(tool).collect(),
            steps: steps.iter().map(step).collect(),
            ending: ending.clone(),
            ..Episode::default()
        }
    }

    #[test]
    fn the_answer_is_shown_once_one_was_submitted_for_good() {
        let tools = ["calculator", "submit_answer"];
        let submitted = episode(&tools, &[&["calculator"], &["submit_answer"]], Ending::Done);
        assert!(may_show_answer(&submitted, false));
        assert!(!may_show_answer(&submitted, true), "it may be taken back");
        let both = episode(&tools, &[&["calculator", "submit_answer"]], Ending::Done);
        assert!(has_submitted(&both));
    }

    #[test]
    fn a_failure_that_ends_the_episode_is_no_answer() {
        let tools = ["calculator", "submit_answer"];
        for steps in [&[&["calculator"] as &[&str]] as &[&[&str]], &[&[]], &[]] {
            let failed = episode(&tools, steps, Ending::Done);
            assert!(!may_show_answer(&failed, false), "{steps:?}");
            assert_eq!(has_failed(&Arc::new(failed)), !steps.is_empty());
        }
        let open = episode(&tools, &[&["submit_answer"]], Ending::Open);
        assert!(!has_submitted(&open));
    }

    #[test]
    fn without_a_tool_that_submits_the_end_counts() {
        let done = episode(&["move"], &[&["move"]], Ending::Done);
        assert!(may_show_answer(&done, false));
        assert!(!may_show_answer(&done, true));
    }
}
