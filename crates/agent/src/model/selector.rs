//! Aviary's `ToolSelector` and its ledger, split into two halves around a request that the caller sends.
//!
//! [`ToolSelector::request`] returns the request, [`ToolSelector::read`] converts the completion to an action. Both use
//! the format of OpenAI's completions, as aviary does; [`Answer::to_completion`](super::Answer::to_completion) converts
//! an [`Answer`](super::Answer) of any provider to it.

use volary_core::json::{Json, Object, Text};
use volary_core::message::dump::DumpOptions;
use volary_core::message::error::{MalformedMessageError, MessageError};
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, Tool, ToolRequestMessage, json, object};

use super::ToolChoice;

/// Selects tools with a model.
#[derive(Clone, Debug)]
pub struct ToolSelector {
    model: Text,
    ledger: Option<Vec<AnyMessage>>,
    own_completion: bool,
}

/// A request to send.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectorRequest {
    pub model: Text,
    /// All messages to send, including those of the ledger if there is one.
    pub messages: Vec<AnyMessage>,
    /// The tool definitions.
    pub tools: Vec<Tool>,
    /// The tool choice; `None` leaves it to the provider.
    pub tool_choice: Option<ToolChoice>,
}

impl ToolSelector {
    /// A selector for a model. With `accum_messages` it keeps a ledger of all messages.
    /// `own_completion` means that completions come from a function of the caller (aviary then accepts
    /// `stop` as a finish reason when one tool was chosen).
    pub fn new(model: impl Into<Text>, accum_messages: bool, own_completion: bool) -> Self {
        ToolSelector {
            model: model.into(),
            ledger: accum_messages.then(Vec::new),
            own_completion,
        }
    }

    /// The model's name.
    pub fn model(&self) -> &Text {
        &self.model
    }

    /// The messages of the ledger; `None` without a ledger.
    pub fn ledger(&self) -> Option<&[AnyMessage]> {
        self.ledger.as_deref()
    }

    /// The request to send. The messages are added to the ledger at once, and stay there if the request fails.
    pub fn request(
        &mut self,
        messages: &[AnyMessage],
        tools: &[Tool],
        tool_choice: Option<ToolChoice>,
    ) -> SelectorRequest {
        let messages = match &mut self.ledger {
            Some(ledger) => {
                ledger.extend_from_slice(messages);
                ledger.clone()
            }
            None => messages.to_vec(),
        };
        SelectorRequest {
            model: self.model.clone(),
            messages,
            tools: tools.to_vec(),
            tool_choice,
        }
    }

    /// Converts a completion to an action, and appends it to the ledger. The action's info has `usage`
    /// (prompt and completion tokens) and `model`. An action without calls is accepted.
    pub fn read(
        &mut self,
        completion: &Json,
        tool_choice: Option<&ToolChoice>,
    ) -> Result<ToolRequestMessage, MalformedMessageError> {
        self.read_with(completion, tool_choice, Object::new())
    }

    /// Like [`ToolSelector::read`], with additional members in the action's info.
    pub fn read_with(
        &mut self,
        completion: &Json,
        tool_choice: Option<&ToolChoice>,
        more_info: Object,
    ) -> Result<ToolRequestMessage, MalformedMessageError> {
        let choices = completion
            .get("choices")
            .and_then(Json::as_list)
            .unwrap_or(&[]);
        let [choice] = choices else {
            return Err(malformed(format!(
                "Expected one choice in model response, got {} choices, full response was {}.",
                choices.len(),
                completion.to_python_text()
            )));
        };
        let reason = choice.get("finish_reason").unwrap_or(&Json::Null);
        let stop_is_fine = match tool_choice {
            Some(ToolChoice::Required) => true,
            Some(ToolChoice::Tool(_)) => self.own_completion,
            Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Word(_)) | None => false,
        };
        let expected = if stop_is_fine {
            "{'tool_calls', 'stop'}"
        } else {
            "{'tool_calls'}"
        };
        let is_expected = match reason.as_text().map(|word| &**word) {
            Some("tool_calls") => true,
            Some("stop") => stop_is_fine,
            _ => false,
        };
        if !is_expected {
            return Err(malformed(format!(
                "Expected a finish reason in {expected} in model response, got finish reason {}, \
                 full response was {}.",
                reason.to_repr(),
                completion.to_python_text()
            )));
        }
        let selection = self.selection(choice, completion.get("usage"), more_info);
        let selection = selection.map_err(|error| {
            malformed(format!(
                "Failed to convert model response's message into a tool request message: {error} \
                 Full response was {}.",
                completion.to_python_text()
            ))
        })?;
        if let Some(ledger) = &mut self.ledger {
            ledger.push(selection.clone().into());
        }
        Ok(selection)
    }

    fn selection(
        &self,
        choice: &Json,
        usage: Option<&Json>,
        more_info: Object,
    ) -> Result<ToolRequestMessage, MessageError> {
        let message = choice.get("message").cloned().unwrap_or_default();
        let mut selection = ToolRequestMessage::read(&message)?;
        let tokens = |key: &str| {
            usage
                .and_then(|usage| usage.get(key))
                .cloned()
                .unwrap_or(Json::from(0))
        };
        let mut info = object!({
            "usage": [(tokens("prompt_tokens")), (tokens("completion_tokens"))],
            "model": (self.model.clone()),
        });
        for (key, value) in more_info {
            info.insert(key, value);
        }
        selection.body.info = Some(info);
        Ok(selection)
    }
}

impl SelectorRequest {
    /// The request in the format of a completion function. Fails if a flagged content is not JSON.
    pub fn to_json(&self) -> Result<Object, MessageError> {
        let options = DumpOptions {
            exclude_none: true,
            ..DumpOptions::default()
        };
        let messages: Result<Vec<Json>, MessageError> = self
            .messages
            .iter()
            .map(|message| message.dump(&options).map(Json::Object))
            .collect();
        let tools = self
            .tools
            .iter()
            .map(|tool| tool.dump(ToolDumpOptions::WIRE));
        let mut request = object!({
            "model": (self.model.clone()),
            "messages": (Json::List(messages?)),
            "tools": (Json::List(tools.map(Json::Object).collect())),
        });
        if let Some(choice) = &self.tool_choice {
            let choice = match choice {
                ToolChoice::Required => "required".into(),
                ToolChoice::Auto => "auto".into(),
                ToolChoice::None => "none".into(),
                ToolChoice::Tool(name) => {
                    json!({"type": "function", "function": {"name": (name.clone())}})
                }
                ToolChoice::Word(word) => word.clone().into(),
            };
            request.insert("tool_choice", choice);
        }
        Ok(request)
    }
}

fn malformed(message: String) -> MalformedMessageError {
    MalformedMessageError {
        message: message.into(),
    }
}
