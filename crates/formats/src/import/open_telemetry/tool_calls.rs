//! Matches tool runs to calls. Many tool spans lack the id of the call, or the call has none: then the first unmatched
//! call of this tool with the same arguments is used.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::call_id;

use super::facts;
use super::kinds::{Kind, kind};
use super::spans::Span;
use crate::import::transcript::Transcript;

/// The maximum number of calls of a tool, and of arguments of each, that are compared with each of its spans; further
/// ones are assumed to match.
const LOOKED_AT: usize = 64;

/// The calls that models requested.
#[derive(Default)]
pub(super) struct RequestedCalls {
    /// The ids that tool runs name.
    named: HashSet<Text>,
    /// The index of the step of each call.
    steps: HashMap<Text, usize>,
    /// The calls without a span that names them, by tool, in order.
    open: HashMap<Text, VecDeque<(Text, Object)>>,
    /// The number of steps whose calls are known.
    seen: usize,
}

impl RequestedCalls {
    /// No calls yet; `spans` are all of the conversation.
    pub fn new(spans: &[Rc<Span>]) -> RequestedCalls {
        let tools = spans.iter().filter(|span| kind(span) == Kind::Tool);
        RequestedCalls {
            named: tools.map(|span| facts::tool_call(span)).collect(),
            ..RequestedCalls::default()
        }
    }

    /// Adds the calls of the steps since the last update.
    pub fn update(&mut self, transcript: &Transcript) {
        for (step, call) in transcript.requests_from(self.seen) {
            // A run of a tool that no model requested is a step as well, whose id is known already.
            if self.steps.contains_key(&call.id) {
                continue;
            }
            self.steps.insert(call.id.clone(), step);
            if !self.named.contains(&call.id) {
                let function = &call.function;
                let entry = self.open.entry(function.name.clone()).or_default();
                entry.push_back((call.id.clone(), function.arguments.clone()));
            }
        }
        self.seen = transcript.len();
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
        if let Some(step) = self.steps.get(&id) {
            return (id, Some(*step));
        }
        let found = self.open.get_mut(name).and_then(|open| {
            let mut indices = 0..open.len().min(LOOKED_AT);
            let index = indices.find(|index| fits(&open[*index].1, arguments))?;
            open.remove(index)
        });
        match found {
            // The model's call has no id, or one of another recorder.
            Some((id, _)) => {
                let step = self.steps.get(&id).copied();
                (id, step)
            }
            None if !id.is_empty() => {
                self.steps.insert(id.clone(), next);
                (id, None)
            }
            // Without a separate id, its result would be assigned to an earlier call of this tool.
            None => {
                let id = call_id(next, 0);
                self.steps.insert(id.clone(), next);
                (id, None)
            }
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
