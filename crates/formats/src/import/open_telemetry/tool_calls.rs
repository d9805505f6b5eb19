//! Matches tool runs to calls. Many tool spans lack the id of the call: then the first unmatched call of this tool with
//! the same arguments is used.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::call_id;

use super::facts;
use super::spans::Span;
use crate::import::transcript::Transcript;

/// The maximum number of calls of a tool, and of arguments of each, that are compared with each of its spans; further
/// ones are assumed to match.
const LOOKED_AT: usize = 64;

/// The calls that models requested.
pub(super) struct RequestedCalls {
    /// The index of the step of each call.
    steps: HashMap<Text, usize>,
    /// The calls without a span that names them, by tool, in order.
    open: HashMap<Text, VecDeque<(Text, Object)>>,
}

impl RequestedCalls {
    pub fn new(transcript: &Transcript, tools: &[Rc<Span>]) -> RequestedCalls {
        let named: HashSet<Text> = tools.iter().map(|span| facts::tool_call(span)).collect();
        let mut open: HashMap<Text, VecDeque<(Text, Object)>> = HashMap::new();
        let calls = transcript.requests().map(|(_, call)| call);
        for call in calls.filter(|call| !named.contains(&call.id)) {
            let function = &call.function;
            let entry = open.entry(function.name.clone()).or_default();
            entry.push_back((call.id.clone(), function.arguments.clone()));
        }
        let calls = transcript.requests();
        let steps = calls.map(|(place, call)| (call.id.clone(), place));
        RequestedCalls {
            steps: steps.collect(),
            open,
        }
    }

    /// The id of the call that a tool was run for, and its step if it is known; otherwise the call belongs to the step
    /// at `next`.
    pub fn call(
        &mut self,
        id: Text,
        name: &Text,
        arguments: &Json,
        next: usize,
    ) -> (Text, Option<usize>) {
        if !id.is_empty() {
            let step = match self.steps.entry(id.clone()) {
                Entry::Occupied(known) => Some(*known.get()),
                Entry::Vacant(new) => {
                    new.insert(next);
                    None
                }
            };
            return (id, step);
        }
        let found = self.open.get_mut(name).and_then(|open| {
            let mut places = 0..open.len().min(LOOKED_AT);
            let place = places.find(|place| fits(&open[*place].1, arguments))?;
            open.remove(place)
        });
        match found {
            Some((id, _)) => {
                let step = self.steps.get(&id).copied();
                (id, step)
            }
            // Without a separate id, its result would be assigned to an earlier call of this tool.
            None => (call_id(next, 0), None),
        }
    }
}

/// Whether a tool run may belong to a call with these arguments: the run may have additional ones.
fn fits(asked: &Object, given: &Json) -> bool {
    match given {
        Json::Object(given) => asked
            .iter()
            .take(LOOKED_AT)
            .all(|(key, value)| given.get(key) == Some(value)),
        // Formatted differently.
        _ => true,
    }
}
