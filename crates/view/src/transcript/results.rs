//! What belongs together in a step: calls and their results; and what is copied of a message.

use volary_core::AnyMessage;
use volary_episode::{Episode, native};

use super::{FAILURE_PLACE, failure_of, message, step_record};

/// The message of a step with the result of a call. `answered` has the call that each observation answers. A step that
/// fails has its failure in place of the results that are missing.
pub fn answer_of(call: usize, answered: &[Option<usize>], fails: bool) -> Option<usize> {
    let observation = answered.iter().position(|known| *known == Some(call));
    // Message 0 is the action itself.
    observation
        .map(|place| place + 1)
        .or(fails.then_some(FAILURE_PLACE))
}

/// The text of a place for the clipboard: the content of a message, an action with calls as JSON, or the failure.
pub fn copied_text(episode: &Episode, step: usize, place: usize) -> Option<String> {
    let Some(found) = message(episode, step, place) else {
        return Some(failure_of(step_record(episode, step)?)?.to_string());
    };
    match found {
        AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
            Some(native::message_to_json(found).to_python_text_indented(2))
        }
        found => found.body().content.as_ref().map(|text| text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json::Json;
    use volary_core::message::{Message, Role, ToolRequestMessage};
    use volary_core::{ToolCall, json};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    fn request() -> AnyMessage {
        let Json::Object(arguments) = json!({"at": "shed"}) else {
            panic!("an object");
        };
        AnyMessage::Request(ToolRequestMessage {
            body: Default::default(),
            tool_calls: vec![ToolCall::new("call_1", "look", arguments)],
        })
    }

    fn episode() -> Episode {
        let observed = |message: AnyMessage| Outcome::Observed {
            messages: vec![message],
            reward: 0.0,
            done: false,
            truncated: false,
        };
        Episode {
            start: vec![Message::user("Look.").into()],
            steps: vec![
                StepRecord::new(request(), observed(Message::user("two").into())),
                StepRecord::new(
                    Message::new(Role::Assistant, "Two.").into(),
                    Outcome::Failed {
                        message: "The environment is closed.".into(),
                    },
                ),
            ],
            ..Episode::default()
        }
    }

    #[test]
    fn a_result_is_found_by_the_call_that_it_answers() {
        // The second call was answered first.
        let answered = [Some(1), None, Some(0)];
        assert_eq!(answer_of(0, &answered, false), Some(3));
        assert_eq!(answer_of(1, &answered, false), Some(1));
        assert_eq!(answer_of(2, &answered, false), None);
    }

    #[test]
    fn the_failure_answers_the_calls_without_results() {
        assert_eq!(answer_of(0, &[Some(0)], true), Some(1));
        assert_eq!(answer_of(1, &[], true), Some(FAILURE_PLACE));
    }

    #[test]
    fn contents_are_copied_as_they_are() {
        let episode = episode();
        let copied = |step, place| copied_text(&episode, step, place);
        assert_eq!(copied(0, 0).as_deref(), Some("Look."));
        assert_eq!(copied(1, 1).as_deref(), Some("two"));
        assert_eq!(copied(2, 0).as_deref(), Some("Two."));
    }

    #[test]
    fn an_action_with_calls_is_copied_as_json() {
        let text = copied_text(&episode(), 1, 0).expect("it has calls");
        assert!(Json::parse(&text).is_ok(), "{text}");
        assert!(text.contains("\"look\"") && text.contains("shed"), "{text}");
        assert!(text.contains('\n'), "it is indented: {text}");
    }

    #[test]
    fn a_failure_is_copied_and_nothing_else_beyond_the_messages() {
        let episode = episode();
        let copied = |step, place| copied_text(&episode, step, place);
        assert_eq!(
            copied(2, FAILURE_PLACE).as_deref(),
            Some("The environment is closed.")
        );
        assert_eq!(copied(1, 7), None);
        assert_eq!(copied(9, 0), None);
    }
}
