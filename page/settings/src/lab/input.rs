//! The user's input, as typed and parsed.

use std::rc::Rc;

use volary_core::{Json, Text, json};
use volary_tokens::{Builtin, ChatTemplate};

/// The maximum size of template, messages and tools together, in bytes: the work blocks the page.
pub(super) const LARGEST_INPUT: usize = 200_000;
/// The maximum number of messages. A template that is not built in renders the whole history for each message.
const MOST_MESSAGES: usize = 120;

/// The input as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    /// The built-in template; `None` selects `source`.
    pub template: Option<Builtin>,
    /// The user's own template.
    pub source: String,
    /// The messages as JSON.
    pub messages: String,
    /// The tools as JSON; blank for none.
    pub tools: String,
    /// Whether the rendered text ends with the header of the next turn.
    pub add_generation_prompt: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldErrors {
    /// The error of the template.
    pub template: Option<String>,
    /// The error of the messages.
    pub messages: Option<String>,
    /// The error of the tools.
    pub tools: Option<String>,
    /// An error of the whole input.
    pub whole: Option<String>,
}

/// A parsed input.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The compiled template.
    pub template: Rc<ChatTemplate>,
    /// The messages, at least one.
    pub messages: Vec<Json>,
    pub tools: Vec<Json>,
    /// Whether the rendered text ends with the header of the next turn.
    pub add_generation_prompt: bool,
}

impl Input {
    /// The text of the chosen template.
    pub(super) fn template_source(&self) -> &str {
        match self.template {
            Some(builtin) => builtin.source(),
            None => &self.source,
        }
    }

    /// Parses all fields.
    pub(super) fn read(&self) -> Result<Case, FieldErrors> {
        let size = self.template_source().len() + self.messages.len() + self.tools.len();
        if size > LARGEST_INPUT {
            return Err(FieldErrors {
                whole: Some(format!(
                    "Template, messages and tools have {size} bytes together. The lab works on up to {LARGEST_INPUT}."
                )),
                ..FieldErrors::default()
            });
        }
        let template = ChatTemplate::new(self.template_source()).map_err(|error| error.to_string());
        let messages = read_messages(&self.messages);
        let tools = read_tools(&self.tools);
        match (template, messages, tools) {
            (Ok(template), Ok(messages), Ok(tools)) => Ok(Case {
                template: Rc::new(template),
                messages,
                tools,
                add_generation_prompt: self.add_generation_prompt,
            }),
            (template, messages, tools) => Err(FieldErrors {
                template: template.err(),
                messages: messages.err(),
                tools: tools.err(),
                whole: None,
            }),
        }
    }
}

impl Case {
    pub(super) fn tool_names(&self) -> Vec<Text> {
        let name = |tool: &Json| {
            let function = tool.get("function").unwrap_or(tool);
            function.get("name")?.as_text().cloned()
        };
        self.tools.iter().filter_map(name).collect()
    }
}

/// The role of a message; empty if it has none.
pub(super) fn role(message: &Json) -> &str {
    let role = message.get("role").and_then(Json::as_text);
    role.map_or("", |role| role)
}

fn read_messages(text: &str) -> Result<Vec<Json>, String> {
    let list = read_list(text, "messages")?;
    if list.is_empty() {
        return Err("There must be at least one message.".to_owned());
    }
    if list.len() > MOST_MESSAGES {
        return Err(format!(
            "There are {} messages. The lab works on up to {MOST_MESSAGES}.",
            list.len()
        ));
    }
    for (place, message) in list.iter().enumerate() {
        if role(message).is_empty() {
            return Err(format!(
                "Message {} must be an object with a role.",
                place + 1
            ));
        }
    }
    Ok(list)
}

fn read_tools(text: &str) -> Result<Vec<Json>, String> {
    let list = if text.trim().is_empty() {
        Vec::new()
    } else {
        read_list(text, "tools")?
    };
    for (place, tool) in list.iter().enumerate() {
        if tool.as_object().is_none() {
            return Err(format!("Tool {} must be an object.", place + 1));
        }
    }
    Ok(list)
}

fn read_list(text: &str, what: &str) -> Result<Vec<Json>, String> {
    let value = json::read(text).map_err(|error| format!("This is not valid JSON: {error}"))?;
    match value {
        Json::List(list) => Ok(list),
        _ => Err(format!("The {what} must be a list: [ … ].")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::examples::EXAMPLES;

    fn broken(change: impl FnOnce(&mut Input)) -> FieldErrors {
        let mut input = EXAMPLES[0].input();
        change(&mut input);
        input.read().unwrap_err()
    }

    #[test]
    fn each_error_is_at_its_field() {
        let errors = broken(|input| {
            input.template = None;
            input.source = "{{ messages }}\n{% for %}".to_owned();
            input.messages = "[{\"role\": \"user\"".to_owned();
            input.tools = "{}".to_owned();
        });
        assert!(errors.template.is_some_and(|text| text.contains("line 2")));
        assert!(
            errors
                .messages
                .is_some_and(|text| text.contains("not valid JSON"))
        );
        assert!(errors.tools.is_some_and(|text| text.contains("a list")));
        let errors = broken(|input| input.messages = "[]".to_owned());
        assert!(
            errors
                .messages
                .is_some_and(|text| text.contains("at least one"))
        );
        let errors = broken(|input| input.messages = "[{\"role\": \"user\"}, 3]".to_owned());
        assert!(
            errors
                .messages
                .is_some_and(|text| text.contains("Message 2"))
        );
    }

    #[test]
    fn large_inputs_are_refused_with_the_limit() {
        let errors = broken(|input| input.tools = " ".repeat(LARGEST_INPUT));
        assert!(errors.whole.is_some_and(|text| text.contains("200000")));
    }
}
