//! Which call a tool was run for. Many spans of tools do not name it: then it is the first call of this tool that has
//! the same arguments, and that no other span is for.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use volary_core::json::{Json, Object, Text};

use super::facts;
use super::spans::Span;
use crate::episode::call_id;
use crate::import::transcript::Transcript;

/// How many calls of a tool, and how many arguments of each, are compared with each of its spans; the rest is
/// assumed to match.
const LOOKED_AT: usize = 64;

/// The calls that models asked for.
pub(super) struct RequestedCalls {
    /// All of them, with the places of their steps.
    steps: HashMap<Text, usize>,
    /// Those that no span names, by tool, in order.
    open: HashMap<Text, VecDeque<(Text, Object)>>,
}

impl RequestedCalls {
    pub fn new(transcript: &Transcript, tools: &[Span]) -> RequestedCalls {
        let named: HashSet<Text> = tools.iter().map(facts::tool_call).collect();
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

    /// The id of the call that a tool was run for, and its step if it is known; else the call is that of the step at
    /// `next`.
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
            // Without its own id, its result would be assigned to an earlier call of this tool.
            None => (call_id(next, 0), None),
        }
    }
}

/// Whether a tool may have been given these arguments for this call: it may have been given more besides.
fn fits(asked: &Object, given: &Json) -> bool {
    match given {
        Json::Object(given) => asked
            .iter()
            .take(LOOKED_AT)
            .all(|(key, value)| given.get(key) == Some(value)),
        // Written in another way.
        _ => true,
    }
}
