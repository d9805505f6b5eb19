//! The order of responses: that of the calls, with calls of the same id grouped.

use std::collections::HashMap;

use crate::json::Text;
use crate::message::ToolResponseMessage;

/// Up to this many responses, comparing each pair is faster than hashing.
const FEW: usize = 16;

/// Sorts responses (given in call order) by the first position of their id; within an id, calls of unknown
/// tools, which have no info, precede the others.
pub(super) fn by_first_index(responses: &mut [ToolResponseMessage]) {
    if !any_shared(responses) {
        return;
    }
    let mut first: HashMap<Text, usize> = HashMap::new();
    for (index, response) in responses.iter().enumerate() {
        first.entry(response.tool_call_id.clone()).or_insert(index);
    }
    responses.sort_by_cached_key(|response| {
        let index = first.get(&response.tool_call_id).copied();
        (index, response.body.info.is_some())
    });
}

fn any_shared(responses: &[ToolResponseMessage]) -> bool {
    if responses.len() <= FEW {
        return responses.iter().enumerate().any(|(index, response)| {
            responses[..index]
                .iter()
                .any(|earlier| earlier.tool_call_id == response.tool_call_id)
        });
    }
    let mut seen = std::collections::HashSet::with_capacity(responses.len());
    !responses
        .iter()
        .all(|response| seen.insert(&response.tool_call_id))
}
