//! Assembles an answer from a stream.

use super::{Answer, Delta, RawCall, Usage};

/// Collects the pieces of an answer, and emits each as a delta.
///
/// Calls are identified by a key of the provider (an index or an id): pieces of several
/// calls may alternate.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub answer: Answer,
    keys: Vec<String>,
}

impl Draft {
    pub fn text(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.answer.text.get_or_insert_default().push_str(text);
            deltas.push(Delta::Text(text.to_owned()));
        }
    }

    pub fn thinking(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.answer.thinking.get_or_insert_default().push_str(text);
            deltas.push(Delta::Thinking(text.to_owned()));
        }
    }

    pub fn refusal(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.answer.refusal.get_or_insert_default().push_str(text);
            deltas.push(Delta::Text(text.to_owned()));
        }
    }

    /// The index of the call with this key; a new call if there is none yet.
    pub fn call(&mut self, key: &str) -> usize {
        match self.keys.iter().position(|known| known == key) {
            Some(index) => index,
            None => {
                self.keys.push(key.to_owned());
                self.answer.calls.push(RawCall::default());
                self.keys.len() - 1
            }
        }
    }

    /// The index of the last call whose key satisfies a condition.
    pub fn last_call(&self, is_wanted: impl Fn(&str) -> bool) -> Option<usize> {
        self.keys.iter().rposition(|key| is_wanted(key))
    }

    /// Sets a call's id and name. Values that are already set stay, so repeated pieces are harmless.
    pub fn name_call(&mut self, index: usize, id: &str, name: &str, deltas: &mut Vec<Delta>) {
        let Some(call) = self.answer.calls.get_mut(index) else {
            return;
        };
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        if call.name.is_empty() && !name.is_empty() {
            call.name.push_str(name);
            deltas.push(Delta::CallStarted {
                call: index,
                name: name.to_owned(),
            });
        }
    }

    pub fn arguments(&mut self, index: usize, text: &str, deltas: &mut Vec<Delta>) {
        if let Some(call) = self.answer.calls.get_mut(index)
            && !text.is_empty()
        {
            call.arguments.push_str(text);
            deltas.push(Delta::Arguments {
                call: index,
                text: text.to_owned(),
            });
        }
    }

    /// Replaces a call's arguments by the complete ones.
    pub fn whole_arguments(&mut self, index: usize, text: &str, deltas: &mut Vec<Delta>) {
        let Some(call) = self.answer.calls.get_mut(index) else {
            return;
        };
        if let Some(missing) = text.strip_prefix(call.arguments.as_str()) {
            let missing = missing.to_owned();
            self.arguments(index, &missing, deltas);
        } else {
            call.arguments = text.to_owned();
        }
    }

    /// Emits the parts of the complete answer's text and thinking that were not emitted before.
    pub fn rest_of(&mut self, whole: &Answer, deltas: &mut Vec<Delta>) {
        let missing = |known: &Option<String>, whole: &Option<String>| {
            let known = known.as_deref().unwrap_or("");
            let missing = whole.as_deref()?.strip_prefix(known)?;
            Some(missing.to_owned())
        };
        if let Some(thinking) = missing(&self.answer.thinking, &whole.thinking) {
            self.thinking(&thinking, deltas);
        }
        if let Some(text) = missing(&self.answer.text, &whole.text) {
            self.text(&text, deltas);
        }
    }

    pub fn usage(&mut self, usage: Usage, deltas: &mut Vec<Delta>) {
        self.answer.usage = Some(usage);
        deltas.push(Delta::Usage(usage));
    }
}
