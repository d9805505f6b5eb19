//! Detects the kind of a file that the user provided: a template, a tokenizer, or messages.

use volary_core::{Json, json};
use volary_tokens::tokenizer::TokenizerFormat;

use super::link;
use volary_connections::tokenizer::{SharedTokenizer, read_bytes};

/// The contents of a file.
pub(super) enum LabFile {
    Template(String),
    Tokenizer(SharedTokenizer),
    /// Messages as JSON.
    Messages(String),
    /// Messages and tools as JSON, of the first episode in the file.
    Conversation {
        messages: String,
        /// The tools; blank for none.
        tools: String,
    },
}

impl LabFile {
    /// Reads a file. Anything that is neither JSON nor a list of ranks is a template.
    pub(super) fn read(bytes: Vec<u8>) -> Result<LabFile, String> {
        match TokenizerFormat::detect(&bytes) {
            Some(TokenizerFormat::TokenizerJson) => {
                if let Some(template) = configured(&bytes) {
                    return Ok(LabFile::Template(template));
                }
                if let Some(conversation) = conversation(&bytes) {
                    return Ok(conversation);
                }
                // A Jinja template may begin with a brace too.
                match std::str::from_utf8(&bytes) {
                    Ok(text) if is_jinja(text) => Ok(LabFile::Template(text.to_owned())),
                    _ => read_bytes(bytes).map(LabFile::Tokenizer),
                }
            }
            Some(_) => read_bytes(bytes).map(LabFile::Tokenizer),
            None => match String::from_utf8(bytes) {
                Ok(text) if text.trim_start().starts_with('[') => Ok(LabFile::Messages(text)),
                Ok(text) => Ok(LabFile::Template(text)),
                Err(_) => Err("It is not UTF-8 text.".to_owned()),
            },
        }
    }
}

/// The files that could not be used, of several that were provided at once.
#[derive(Debug, Default)]
pub(super) struct RefusedFiles {
    reasons: Vec<String>,
}

impl RefusedFiles {
    pub(super) fn add(&mut self, name: &str, reason: &str) {
        self.reasons.push(format!("{name} was not taken. {reason}"));
    }

    /// The error of all files; `None` if all were taken.
    pub(super) fn message(self) -> Option<String> {
        (!self.reasons.is_empty()).then(|| self.reasons.join(" "))
    }
}

fn is_jinja(text: &str) -> bool {
    let start = text.trim_start();
    ["{%", "{{", "{#"]
        .iter()
        .any(|mark| start.starts_with(mark))
}

/// Reads the messages of a file that has `messages` in its first line, or in its only object.
fn conversation(bytes: &[u8]) -> Option<LabFile> {
    let text = std::str::from_utf8(bytes).ok()?;
    let first = || text.lines().next().and_then(|line| json::read(line).ok());
    let has_messages = |value: &Json| {
        value
            .get("messages")
            .is_some_and(|list| list.as_list().is_some())
    };
    let value = first()
        .filter(has_messages)
        .or_else(|| json::read(text).ok().filter(has_messages))?;
    let (messages, tools) = link::fields(&value);
    Some(LabFile::Conversation { messages, tools })
}

/// Reads the template of a `tokenizer_config.json`.
fn configured(bytes: &[u8]) -> Option<String> {
    const LARGEST_CONFIG: usize = 1 << 20;
    let text = std::str::from_utf8(bytes).ok()?;
    if text.len() > LARGEST_CONFIG {
        return None;
    }
    let config = json::read(text).ok()?;
    let template = config.get("chat_template").and_then(Json::as_text)?;
    Some(template.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LabFile, String> {
        LabFile::read(text.as_bytes().to_vec())
    }

    #[test]
    fn files_are_recognised_by_content() {
        let jinja = "{% for m in messages %}{% endfor %}";
        assert!(matches!(read(jinja), Ok(LabFile::Template(text)) if text == jinja));
        assert!(matches!(read("Hello {{ x }}"), Ok(LabFile::Template(_))));
        let config = r#"{"chat_template": "{{ 1 }}"}"#;
        assert!(matches!(read(config), Ok(LabFile::Template(text)) if text == "{{ 1 }}"));
        assert!(matches!(
            read("[{\"role\": \"user\"}]"),
            Ok(LabFile::Messages(_))
        ));
        let lines = "{\"messages\": [{\"role\": \"user\"}], \"tools\": [1]}\n{\"messages\": []}\n";
        assert!(matches!(
            read(lines),
            Ok(LabFile::Conversation { messages, tools }) if messages.contains("user") && tools.contains('1')
        ));
        assert!(read("{\"a\": 1}").is_err());
        assert!(LabFile::read(vec![0xff, 0xfe]).is_err());
    }

    #[test]
    fn a_file_that_was_taken_does_not_hide_one_that_was_not() {
        assert_eq!(RefusedFiles::default().message(), None);
        let mut refused = RefusedFiles::default();
        for (name, bytes) in [
            ("a.bin", vec![0xff, 0xfe, 0x00]),
            ("b.jinja", b"{{ messages }}".to_vec()),
            ("c.bin", vec![0xff]),
        ] {
            if let Err(reason) = LabFile::read(bytes) {
                refused.add(name, &reason);
            }
        }
        let message =
            "a.bin was not taken. It is not UTF-8 text. c.bin was not taken. It is not UTF-8 text.";
        assert_eq!(refused.message().as_deref(), Some(message));
    }
}
