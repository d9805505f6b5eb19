//! Matches responses to calls within one step.

use volary_core::AnyMessage;
use volary_core::message::ToolRequestMessage;

/// For each observation of a step, the index of the call that it answers, if any.
///
/// Matching is by id. If calls share an id, the first response answers the first of them, and so on; surplus
/// responses answer the last one.
pub fn answered_calls(action: &AnyMessage, observations: &[AnyMessage]) -> Vec<Option<usize>> {
    let AnyMessage::Request(request) = action else {
        return vec![None; observations.len()];
    };
    let mut answered = vec![false; request.tool_calls.len()];
    observations
        .iter()
        .map(|observation| {
            let AnyMessage::Response(response) = observation else {
                return None;
            };
            let call = answered_call(request, &response.tool_call_id, &answered)?;
            if let Some(answered) = answered.get_mut(call) {
                *answered = true;
            }
            Some(call)
        })
        .collect()
}

fn answered_call(request: &ToolRequestMessage, id: &str, answered: &[bool]) -> Option<usize> {
    let mut last = None;
    for (place, call) in request.tool_calls.iter().enumerate() {
        if *call.id == *id {
            last = Some(place);
            if !answered.get(place).copied().unwrap_or_default() {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Body, Message, ToolResponseMessage};
    use volary_core::tool::{ToolCall, ToolCallFunction};

    use super::*;

    fn action(ids: &[&str]) -> AnyMessage {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            function: ToolCallFunction {
                name: "look".into(),
                arguments: Default::default(),
            },
        };
        AnyMessage::Request(ToolRequestMessage {
            body: Body::default(),
            tool_calls: ids.iter().map(call).collect(),
        })
    }

    fn response(id: &str) -> AnyMessage {
        AnyMessage::Response(ToolResponseMessage {
            body: Body::text("seen"),
            name: "look".into(),
            tool_call_id: id.into(),
        })
    }

    #[test]
    fn ids_tie_responses_to_calls() {
        let observations = [
            response("b"),
            response("a"),
            Message::user("hm").into(),
            response("z"),
        ];
        assert_eq!(
            answered_calls(&action(&["a", "b"]), &observations),
            [Some(1), Some(0), None, None]
        );
    }

    #[test]
    fn equal_ids_are_answered_in_order() {
        let observations = [response("a"), response("a"), response("a")];
        assert_eq!(
            answered_calls(&action(&["a", "a"]), &observations),
            [Some(0), Some(1), Some(1)]
        );
    }

    #[test]
    fn a_plain_action_has_no_calls() {
        let action = Message::user("hello").into();
        assert_eq!(answered_calls(&action, &[response("a")]), [None]);
    }
}
