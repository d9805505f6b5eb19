//! The prompt and the response of a rollout, in formats whose writers put a text, messages or token ids under one name.

use volary_core::TokenId;
use volary_core::json::{Json, Object, Text};

use super::chat;
use super::reader::Sink;
use super::slime;
use super::token_lists::ids;
use super::transcript::Transcript;

/// A prompt or a response.
pub(super) enum Said {
    Text(Text),
    Messages(Vec<Json>),
    /// None if the list is empty.
    Ids(Vec<TokenId>),
}

impl Said {
    /// A list of texts is one text: newer tokenizers decode each id of a list by itself.
    pub fn of(value: Option<Json>) -> Said {
        let Some(Json::List(list)) = value else {
            let text = value.as_ref().and_then(Json::as_text).cloned();
            return Said::Text(text.unwrap_or_default());
        };
        let texts: Option<Vec<&str>> = list.iter().map(|text| Some(&**text.as_text()?)).collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            return Said::Text(texts.concat().into());
        }
        let has_messages = list.iter().any(|value| value.as_object().is_some());
        let list = Json::List(list);
        match (ids(&list), list) {
            (Some(ids), _) => Said::Ids(ids),
            (None, Json::List(messages)) if has_messages => Said::Messages(messages),
            // Numbers that are no ids, for example.
            (None, other) => Said::Text(other.to_python_text().into()),
        }
    }

    fn ids(&self) -> Option<&[TokenId]> {
        match self {
            Said::Ids(ids) => Some(ids),
            _ => None,
        }
    }

    /// Adds messages. Returns the name of the task in the last one of the user, or that of the tokens. Texts are divided by the
    /// format.
    pub fn push(self, transcript: &mut Transcript) -> Option<Text> {
        match self {
            Said::Text(_) => None,
            Said::Messages(messages) => {
                let mut all = Vec::new();
                for said in chat::read_all(messages) {
                    all.push(slime::plain(&said.message));
                    transcript.push(slime::with_calls(said));
                }
                slime::task_of(&all)
            }
            Said::Ids(ids) => slime::task_of_ids(&ids),
        }
    }
}

/// The ids of a rollout, if both have them, and the length of the response.
pub(super) fn ids_of_both(prompt: &Said, response: &Said) -> Option<(Vec<TokenId>, usize)> {
    let (prompt, response) = prompt.ids().zip(response.ids())?;
    Some(([prompt, response].concat(), response.len()))
}

/// Keeps the ids of one of the two, which are no record of tokens. `names` are those in the file and of what is kept.
pub(super) fn keep_ids(
    said: &Said,
    (name, kept): (&str, &'static str),
    rest: &mut Object,
    sink: &mut Sink<'_>,
) {
    let Some(ids) = said.ids().filter(|ids| !ids.is_empty()) else {
        return;
    };
    sink.kept(format!(
        "`{name}` of a sample has token ids, and the other part has none; they are kept as `{kept}`."
    ));
    let ids = ids.iter().map(|id| i64::from(*id).into()).collect();
    rest.insert(kept, Json::List(ids));
}
