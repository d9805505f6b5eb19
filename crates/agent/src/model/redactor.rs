//! Redacts the key in streamed deltas, however a server splits it. Pure.

use std::collections::BTreeMap;

use super::{ApiKey, Delta};

/// Redacts the key in deltas as they arrive. A text that may be a prefix of the key is held back until more of it
/// arrives.
pub struct DeltaRedactor<'a> {
    key: &'a ApiKey,
    /// The text held back, per text of the answer.
    held: BTreeMap<Stream, String>,
}

/// The streamed texts of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stream {
    Text,
    Thinking,
    /// The arguments of a call, by its index.
    Arguments(usize),
}

impl Stream {
    fn delta(self, text: String) -> Delta {
        match self {
            Stream::Text => Delta::Text(text),
            Stream::Thinking => Delta::Thinking(text),
            Stream::Arguments(call) => Delta::Arguments { call, text },
        }
    }
}

impl<'a> DeltaRedactor<'a> {
    /// A redactor for one answer.
    pub fn new(key: &'a ApiKey) -> Self {
        DeltaRedactor {
            key,
            held: BTreeMap::new(),
        }
    }

    /// Redacts the deltas and holds back possible prefixes of the key.
    pub fn redact(&mut self, deltas: &mut Vec<Delta>) {
        for delta in std::mem::take(deltas) {
            let (stream, text) = match delta {
                Delta::Text(text) => (Stream::Text, text),
                Delta::Thinking(text) => (Stream::Thinking, text),
                Delta::Arguments { call, text } => (Stream::Arguments(call), text),
                Delta::CallStarted { call, name } => {
                    let name = self.key.redact(&name);
                    deltas.push(Delta::CallStarted { call, name });
                    continue;
                }
                Delta::Usage(usage) => {
                    deltas.push(Delta::Usage(usage));
                    continue;
                }
            };
            let mut known = self.held.remove(&stream).unwrap_or_default();
            known.push_str(&text);
            // Complete keys first: the end of one may be a prefix of another.
            let mut known = self.key.redact_whole(&known);
            let held = known.split_off(known.len() - self.key.begun_at_the_end(&known));
            if !held.is_empty() {
                self.held.insert(stream, held);
            }
            if !known.is_empty() {
                deltas.push(stream.delta(known));
            }
        }
    }

    /// Ends the answer, also an incomplete one, and emits the text held back.
    pub fn finish(&mut self, deltas: &mut Vec<Delta>) {
        for (stream, held) in std::mem::take(&mut self.held) {
            deltas.push(stream.delta(self.key.redact(&held)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(deltas: &[Delta]) -> String {
        let text = |delta: &Delta| match delta {
            Delta::Text(text) => text.clone(),
            _ => String::new(),
        };
        deltas.iter().map(text).collect()
    }

    #[test]
    fn nothing_is_held_back_longer_than_needed() {
        let key = ApiKey::new("sk-secret-0123456789");
        let mut redactor = DeltaRedactor::new(&key);
        let mut said = Vec::new();
        for (piece, expected) in [("It is s", "It is "), ("k-", ""), ("x", "sk-x"), ("s", "")] {
            let mut deltas = vec![Delta::Text(piece.to_owned())];
            redactor.redact(&mut deltas);
            assert_eq!(joined(&deltas), expected, "{piece}");
            said.append(&mut deltas);
        }
        redactor.finish(&mut said);
        assert_eq!(joined(&said), "It is sk-xs");
    }

    #[test]
    fn a_key_whose_end_is_its_beginning_is_found() {
        let key = ApiKey::new("abcabc");
        for pieces in [vec!["abcabc"], vec!["ab", "cabc"], vec!["abcab", "c."]] {
            let mut redactor = DeltaRedactor::new(&key);
            let mut said: Vec<Delta> = Vec::new();
            for piece in pieces {
                let mut deltas = vec![Delta::Text(piece.to_owned())];
                redactor.redact(&mut deltas);
                said.append(&mut deltas);
            }
            redactor.finish(&mut said);
            assert!(!joined(&said).contains("abcabc"), "{said:?}");
        }
    }

    proptest! {
        #[test]
        fn no_split_of_a_text_lets_the_key_through(
            key in r#"[a-b"/\\é]{6,9}"#,
            before in r#"[a-b"/\\é]{0,20}"#,
            after in "[a-c ]{0,20}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let key = ApiKey::new(&key);
            let text = format!("{before}{}{after}", key.expose());
            let mut offsets: Vec<usize> = cuts
                .iter()
                .map(|cut| text.floor_char_boundary(cut.index(text.len() + 1)))
                .collect();
            offsets.extend([0, text.len()]);
            offsets.sort_unstable();
            let mut redactor = DeltaRedactor::new(&key);
            let mut said = Vec::new();
            for pair in offsets.windows(2) {
                let mut deltas = vec![Delta::Text(text[pair[0]..pair[1]].to_owned())];
                redactor.redact(&mut deltas);
                said.append(&mut deltas);
            }
            redactor.finish(&mut said);
            prop_assert!(!joined(&said).contains(key.expose()), "{:?}", said);
        }
    }
}
