//! Echoes: the parts of an answer that its provider requires back, such as signed thinking or encrypted reasoning.

use serde::{Deserialize, Serialize};
use volary_core::ToolRequestMessage;
use volary_core::json::{Json, Object, Text, from_json, read};

use super::PastCall;
use crate::model::parameter_fallback::ParameterFallback;
use crate::model::{Answer, ModelRequest};

/// Parts that a provider requires back, stored in a message's info under [`ECHO_KEY`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// The provider that sent them.
    pub provider: Text,
    /// The model that sent them: others cannot read them.
    pub model: Text,
    /// The parts, in a format of the provider's codec.
    pub parts: Vec<Json>,
}

/// The key of the echo in the info of a request message.
pub const ECHO_KEY: &str = "echo";

impl Echo {
    /// The parts, if they are from this provider and model, and the request sends echoes.
    pub fn parts_for(&self, provider: &str, request: &ModelRequest) -> Option<&[Json]> {
        let wanted = *self.provider == *provider
            && self.model == request.model
            && !request.fallbacks.has(ParameterFallback::NoEcho);
        wanted.then_some(self.parts.as_slice())
    }
}

/// Whether a turn still matches the answer: false if the action was edited since.
pub fn is_unedited(answer: &Answer, text: &str, calls: &[PastCall]) -> bool {
    answer.text.as_deref().unwrap_or("") == text
        && answer.calls.len() == calls.len()
        && answer.calls.iter().zip(calls).all(|(given, past)| {
            let arguments = match given.arguments.as_str() {
                "" => Some(Json::Object(Object::new())),
                text => read(text).ok(),
            };
            *given.name == *past.name
                && arguments.as_ref().and_then(Json::as_object) == Some(&past.arguments)
        })
}

/// The echo of an action.
pub fn echo_of(request: &ToolRequestMessage) -> Option<Echo> {
    let echo = request.body.info.as_ref()?.get(ECHO_KEY)?;
    from_json(echo).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_noticed() {
        let call = PastCall {
            id: "a".into(),
            name: "f".into(),
            arguments: volary_core::object!({"x": 1, "y": "é"}),
            answer: Vec::new(),
        };
        let mut answer = Answer {
            text: Some("t".into()),
            calls: vec![crate::model::RawCall {
                id: "b".into(),
                name: "f".into(),
                arguments: r#"{"y":"é","x": 1}"#.into(),
            }],
            ..Answer::default()
        };
        assert!(is_unedited(&answer, "t", std::slice::from_ref(&call)));
        assert!(!is_unedited(&answer, "", std::slice::from_ref(&call)));
        answer.calls[0].arguments = r#"{"x":2}"#.into();
        assert!(!is_unedited(&answer, "t", &[call]));
    }
}
