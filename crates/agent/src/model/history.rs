//! Normalizes messages to turns that every provider accepts.
//!
//! Invariants of the turns: every call is answered exactly once, directly after the message that made it, in the order
//! of the calls; no other turn is an answer. Ids are unique within the history, and names are valid for every provider.
//! No turn is empty, and the last turn is the user's, or consists of calls with their answers.
//!
//! Anything else that episodes contain (answers without a call, unanswered calls, shared ids, calls without a name,
//! empty texts) is repaired here, so that no provider rejects a history that aviary made.

mod echo;

use std::collections::HashSet;

use volary_core::json::{Json, Object, Text};
use volary_core::tool::call::INVALID;
use volary_core::{AnyMessage, Role, ToolRequestMessage, ToolResponseMessage};

pub use echo::{ECHO_KEY, Echo, echo_of, is_unedited};

/// A piece of content of a user, environment or tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentPart {
    Text(String),
    /// An image: its `data:` or web URL.
    Image(String),
}

/// A call in the history.
#[derive(Clone, Debug, PartialEq)]
pub struct PastCall {
    /// Its id, unique in the history.
    pub id: String,
    /// The tool.
    pub name: Text,
    pub arguments: Object,
    pub answer: Vec<ContentPart>,
}

/// One turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Instructions.
    System(String),
    /// Any message to the model that does not answer a call; no part is an empty text.
    User(Vec<ContentPart>),
    /// Text and calls of the model, with the answers to its calls.
    Assistant {
        /// The text; may be empty.
        text: String,
        /// The calls, each with its answer.
        calls: Vec<PastCall>,
        /// Parts that the provider requires back, with the provider's name.
        echo: Option<Echo>,
    },
}

/// Replaces a missing answer.
pub const NO_ANSWER: &str = "This call was not answered.";

/// The opening of a conversation without text: every provider requires some.
const BEGIN: &str = "Please begin.";
/// Appended after text of the model or instructions if nothing else follows.
const GO_ON: &str = "Please go on.";
/// The maximum length of a tool name.
const NAME_LENGTH: usize = 64;

/// The messages as turns. `make_id` returns the id under which the n-th call is sent, given its current id (for
/// providers that require a format); duplicate ids are replaced before that.
pub fn turns(messages: &[AnyMessage], make_id: impl Fn(usize, &str) -> String) -> Vec<Turn> {
    let mut history = History {
        turns: Vec::new(),
        original_ids: Vec::new(),
        used: HashSet::new(),
        made: 0,
    };
    for message in messages {
        match message {
            AnyMessage::Request(request) => history.request(request, &make_id),
            AnyMessage::Response(response) => history.response(response),
            AnyMessage::Plain(message) => match message.role {
                Role::System => history.system(text_of(message_parts(&message.body))),
                Role::Assistant => {
                    history.original_ids.clear();
                    history.assistant(text_of(message_parts(&message.body)), Vec::new(), None);
                }
                Role::User | Role::Tool | Role::Function => {
                    history.user(message_parts(&message.body))
                }
            },
        }
    }
    history.finish()
}

struct History {
    turns: Vec<Turn>,
    /// The ids of the last assistant turn's calls in the messages, to which answers refer.
    original_ids: Vec<Text>,
    used: HashSet<String>,
    made: usize,
}

impl History {
    fn request(&mut self, request: &ToolRequestMessage, make_id: &impl Fn(usize, &str) -> String) {
        self.original_ids = request
            .tool_calls
            .iter()
            .map(|call| call.id.clone())
            .collect();
        let mut calls = Vec::with_capacity(request.tool_calls.len());
        for call in &request.tool_calls {
            let mut id = make_id(self.made, &call.id);
            self.made += 1;
            while id.is_empty() || !self.used.insert(id.clone()) {
                id = make_id(self.made, &format!("{}-{}", call.id, self.made));
                self.made += 1;
            }
            calls.push(PastCall {
                id,
                name: well_named(&call.function.name),
                arguments: call.function.arguments.clone(),
                answer: Vec::new(),
            });
        }
        let text = text_of(message_parts(&request.body));
        self.assistant(text, calls, echo_of(request));
    }

    fn assistant(&mut self, text: String, calls: Vec<PastCall>, echo: Option<Echo>) {
        if !text.trim().is_empty() || !calls.is_empty() {
            self.turns.push(Turn::Assistant { text, calls, echo });
        }
    }

    fn system(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.turns.push(Turn::System(text));
        }
    }

    fn response(&mut self, response: &ToolResponseMessage) {
        let parts = message_parts(&response.body);
        let last = self.turns.iter_mut().rev();
        let mut last = last.filter(|turn| matches!(turn, Turn::Assistant { .. }));
        // The first unanswered call of that id: ids may be shared.
        if let Some(Turn::Assistant { calls, .. }) = last.next()
            && let Some((call, _)) = calls
                .iter_mut()
                .zip(&self.original_ids)
                .find(|(call, id)| call.answer.is_empty() && **id == response.tool_call_id)
        {
            call.answer = if parts.is_empty() {
                vec![ContentPart::Text(String::new())]
            } else {
                parts
            };
            return;
        }
        self.user(parts);
    }

    fn user(&mut self, mut parts: Vec<ContentPart>) {
        parts.retain(|part| !matches!(part, ContentPart::Text(text) if text.trim().is_empty()));
        if parts.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(Turn::User(known)) => known.extend(parts),
            _ => self.turns.push(Turn::User(parts)),
        }
    }

    fn finish(mut self) -> Vec<Turn> {
        for turn in &mut self.turns {
            if let Turn::Assistant { calls, .. } = turn {
                for call in calls.iter_mut().filter(|call| call.answer.is_empty()) {
                    call.answer = vec![ContentPart::Text(NO_ANSWER.into())];
                }
            }
        }
        let begun = self
            .turns
            .iter()
            .any(|turn| !matches!(turn, Turn::System(_)));
        let awaits_model = match self.turns.last() {
            Some(Turn::User(_)) => true,
            Some(Turn::Assistant { calls, .. }) => !calls.is_empty(),
            Some(Turn::System(_)) | None => false,
        };
        if !awaits_model {
            let text = if begun { GO_ON } else { BEGIN };
            self.user(vec![ContentPart::Text(text.into())]);
        }
        self.turns
    }
}

/// A name of letters, digits, `_` and `-`, which every provider accepts: models call tools that
/// don't exist, and the history must record that.
fn well_named(name: &Text) -> Text {
    let fits = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if name.is_empty() {
        INVALID.into()
    } else if name.len() <= NAME_LENGTH && name.chars().all(fits) {
        name.clone()
    } else {
        let mended = name
            .chars()
            .map(|character| if fits(character) { character } else { '_' });
        mended.take(NAME_LENGTH).collect::<String>().into()
    }
}

/// The content as parts: the blocks of multimodal content, else its text; none if there is none.
/// The text of a message. Images are left out.
pub fn text_of_message(message: &AnyMessage) -> String {
    text_of(message_parts(message.body()))
}

fn message_parts(body: &volary_core::message::Body) -> Vec<ContentPart> {
    match (body.blocks(), &body.content) {
        (Some(blocks), _) => blocks.iter().filter_map(part).collect(),
        (None, Some(text)) => vec![ContentPart::Text(text.to_string())],
        (None, None) => Vec::new(),
    }
}

fn part(block: &Json) -> Option<ContentPart> {
    if let Some(text) = block.get("text").and_then(Json::as_text) {
        return Some(ContentPart::Text(text.to_string()));
    }
    let image = block.get("image_url")?;
    let url = image.as_text().or_else(|| image.get("url")?.as_text())?;
    Some(ContentPart::Image(url.to_string()))
}

/// The texts of parts, one per line; images are omitted, since they are not allowed where this is used.
pub fn text_of(parts: impl IntoIterator<Item = ContentPart>) -> String {
    let texts: Vec<String> = parts
        .into_iter()
        .filter_map(|part| match part {
            ContentPart::Text(text) => Some(text),
            ContentPart::Image(_) => None,
        })
        .collect();
    texts.join("\n")
}

/// The media type and base64 data of an image; `None` if its address is not a `data:` URL.
pub fn image_data(url: &str) -> Option<(&str, &str)> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((kind.strip_suffix(";base64")?, data))
}

#[cfg(test)]
mod tests {
    use volary_core::Message;
    use volary_core::json::read::read;

    use super::*;

    fn messages(text: &str) -> Vec<AnyMessage> {
        let Ok(Json::List(list)) = read(text) else {
            panic!("no list: {text}");
        };
        list.iter()
            .map(|value| AnyMessage::read(value).unwrap())
            .collect()
    }

    fn shown(messages: &[AnyMessage]) -> Vec<String> {
        turns(messages, |_, id| id.to_owned())
            .into_iter()
            .map(|turn| match turn {
                Turn::System(text) => format!("system {text}"),
                Turn::User(parts) => format!("user {}", text_of(parts)),
                Turn::Assistant { text, calls, .. } => {
                    let calls: Vec<String> = calls
                        .into_iter()
                        .map(|call| format!("{}={}", call.id, text_of(call.answer)))
                        .collect();
                    format!("assistant {text}[{}]", calls.join(" "))
                }
            })
            .collect()
    }

    #[test]
    fn answers_follow_their_calls_in_call_order() {
        let messages = messages(
            r#"[{"role":"system","content":"s"},{"role":"user","content":"u"},
                {"role":"assistant","tool_calls":[
                    {"id":"a","function":{"name":"f","arguments":{}}},
                    {"id":"b","function":{"name":"g","arguments":{}}}]},
                {"role":"tool","content":"2","name":"g","tool_call_id":"b"},
                {"role":"tool","content":"1","name":"f","tool_call_id":"a"}]"#,
        );
        assert_eq!(
            shown(&messages),
            ["system s", "user u", "assistant [a=1 b=2]"]
        );
    }

    #[test]
    fn stray_and_missing_answers_are_mended() {
        let messages = messages(
            r#"[{"role":"assistant","content":"hm","tool_calls":[]},
                {"role":"tool","content":"No tool calls","name":"","tool_call_id":""},
                {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]},
                {"role":"user","content":"go on"}]"#,
        );
        assert_eq!(
            shown(&messages),
            [
                "assistant hm[]",
                "user No tool calls",
                "assistant [a=This call was not answered.]",
                "user go on"
            ]
        );
    }

    #[test]
    fn empty_turns_are_left_out_and_no_history_is_without_words() {
        assert_eq!(shown(&[]), ["user Please begin."]);
        let only_system = messages(r#"[{"role":"system","content":"s"}]"#);
        assert_eq!(shown(&only_system), ["system s", "user Please begin."]);
        let empty = messages(
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":" "},
                {"role":"user","content":""},{"role":"user","content":"b"},
                {"role":"assistant","content":"c"}]"#,
        );
        assert_eq!(
            shown(&empty),
            ["user a\nb", "assistant c[]", "user Please go on."]
        );
    }

    #[test]
    fn names_become_such_as_every_provider_takes() {
        assert_eq!(&*well_named(&"".into()), "INVALID");
        assert_eq!(&*well_named(&"submit_answer".into()), "submit_answer");
        assert_eq!(&*well_named(&"füg hinzu".into()), "f_g_hinzu");
        assert_eq!(well_named(&"x".repeat(70).into()).len(), 64);
    }

    #[test]
    fn shared_ids_become_unique() {
        let messages = messages(
            r#"[{"role":"assistant","tool_calls":[
                    {"id":"a","function":{"name":"f","arguments":{}}},
                    {"id":"a","function":{"name":"g","arguments":{}}}]},
                {"role":"tool","content":"1","name":"f","tool_call_id":"a"},
                {"role":"tool","content":"2","name":"g","tool_call_id":"a"}]"#,
        );
        assert_eq!(shown(&messages), ["assistant [a=1 a-2=2]"]);
    }

    #[test]
    fn images_are_parts() {
        let message = Message::new(
            Role::User,
            r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]"#,
        );
        let mut message = message;
        message.body.content_is_json_str = true;
        let turns = turns(&[message.into()], |_, id| id.to_owned());
        let image = ContentPart::Image("data:image/png;base64,AAAA".into());
        assert_eq!(turns, [Turn::User(vec![image])]);
        assert_eq!(
            image_data("data:image/png;base64,AAAA"),
            Some(("image/png", "AAAA"))
        );
    }
}
