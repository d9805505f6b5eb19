//! The deltas of a response as they are passed on: without the key, and with the time of the first token. Pure.

use volary_agent::model::{ApiKey, Delta, DeltaRedactor};

/// The stream of deltas of one response.
pub(super) struct DeltaStream<'a> {
    redactor: DeltaRedactor<'a>,
    started: f64,
    /// The time to the first token, in seconds.
    first_token: Option<f64>,
}

impl<'a> DeltaStream<'a> {
    /// A stream of a request that was sent at `started`, in seconds.
    pub(super) fn new(key: &'a ApiKey, started: f64) -> Self {
        DeltaStream {
            redactor: DeltaRedactor::new(key),
            started,
            first_token: None,
        }
    }

    /// Takes the deltas that arrived, and returns those to pass on. The redactor may hold some back.
    pub(super) fn push(&mut self, deltas: &mut Vec<Delta>, now: f64) -> Vec<Delta> {
        if self.first_token.is_none() && deltas.iter().any(Delta::is_content) {
            self.first_token = Some(now - self.started);
        }
        self.redactor.redact(deltas);
        std::mem::take(deltas)
    }

    /// Takes the last deltas, and returns all that were held back.
    pub(super) fn finish(&mut self, deltas: &mut Vec<Delta>, now: f64) -> Vec<Delta> {
        let mut last = self.push(deltas, now);
        self.redactor.finish(&mut last);
        last
    }

    /// The time to the first token, in seconds; `None` if there was none.
    pub(super) fn first_token(&self) -> Option<f64> {
        self.first_token
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::model::Usage;

    use super::*;

    fn texts(deltas: &[Delta]) -> String {
        let texts = deltas.iter().filter_map(|delta| match delta {
            Delta::Text(text) => Some(text.to_string()),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn a_key_that_arrives_in_pieces_is_never_passed_on() {
        let key = ApiKey::new("sk-secret-0123456789");
        let mut stream = DeltaStream::new(&key, 0.0);
        let mut passed = String::new();
        for piece in ["Your key is sk-sec", "ret-0123", "456789, and", " that is"] {
            let mut deltas = vec![Delta::Text(piece.into())];
            passed += &texts(&stream.push(&mut deltas, 1.0));
            assert!(deltas.is_empty(), "they were taken");
            assert!(!passed.contains("sk-sec"), "{passed}");
        }
        passed += &texts(&stream.finish(&mut Vec::new(), 2.0));
        assert!(passed.starts_with("Your key is "), "{passed}");
        assert!(passed.ends_with(", and that is"), "{passed}");
        assert!(!passed.contains("0123"), "{passed}");
    }

    #[test]
    fn nothing_that_looks_like_the_start_of_a_key_is_lost() {
        let key = ApiKey::new("sk-secret-0123456789");
        let mut stream = DeltaStream::new(&key, 0.0);
        let mut deltas = vec![Delta::Text("a task: sk-sec".into())];
        let mut passed = texts(&stream.push(&mut deltas, 1.0));
        passed += &texts(&stream.finish(&mut deltas, 2.0));
        assert_eq!(passed, "a task: sk-sec");
    }

    #[test]
    fn the_first_token_is_the_first_content() {
        let key = ApiKey::default();
        let mut stream = DeltaStream::new(&key, 10.0);
        stream.push(&mut vec![Delta::Usage(Usage::default())], 11.0);
        assert_eq!(stream.first_token(), None);
        stream.push(&mut vec![Delta::Text("a".into())], 12.5);
        stream.push(&mut vec![Delta::Text("b".into())], 20.0);
        assert_eq!(stream.first_token(), Some(2.5));
    }
}
