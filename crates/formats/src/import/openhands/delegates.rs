//! The steps of delegates: agents to which the agent hands a task. Their events lie between the action `delegate` and
//! its observation; delegates may delegate too.

use volary_core::json::{Json, Object, Text};

/// The maximum number of delegates.
const MOST: usize = 1000;

/// The delegates of a conversation.
#[derive(Default)]
pub(super) struct Delegates {
    /// The active ones, outermost first: their names, and their first steps, counted from 1.
    active: Vec<(Text, usize)>,
    /// Spans, as `volary_analysis::lanes::SPANS` describes them.
    spans: Vec<Json>,
}

impl Delegates {
    /// Whether the agent of the conversation is waiting for a delegate.
    pub fn is_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// Starts a delegate after `steps` steps.
    pub fn start(&mut self, name: Text, steps: usize) {
        if self.active.len() + self.spans.len() < MOST {
            self.active.push((name, steps + 1));
        }
    }

    /// Ends the innermost delegate after `steps` steps.
    pub fn end(&mut self, steps: usize) {
        let Some((name, from)) = self.active.pop() else {
            return;
        };
        if from <= steps {
            let mut span = Object::new();
            span.insert("name", name);
            span.insert("from", from as i64);
            span.insert("to", steps as i64);
            self.spans.push(span.into());
        }
    }

    /// The spans of all delegates of a conversation with `steps` steps.
    pub fn into_spans(mut self, steps: usize) -> Vec<Json> {
        while self.is_active() {
            self.end(steps);
        }
        self.spans
    }
}
