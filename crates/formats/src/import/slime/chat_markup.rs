//! Splits a text at the marks of a chat template, such as ChatML's `<|im_start|>role` and `<|im_end|>`.
//!
//! A multi-turn response contains the environment's messages between the turns. The first part has no mark: it
//! continues the assistant's header at the end of the prompt. A text is of one template, that of its first mark.

use memchr::memchr2_iter;
use volary_analysis::chat_templates::{
    BEGINNINGS, DEEPSEEK_BEGINNING, Header, TEMPLATES, Template,
};
use volary_core::json::Text;
use volary_core::{Message, Role};

use crate::import::chat;

const RESULT_OPEN: &str = "<tool_response>";
const RESULT_CLOSE: &str = "</tool_response>";

/// The bytes that openers begin with.
const FIRST: [u8; 2] = *b"<]";

/// The templates by whose marks texts are divided.
fn templates() -> impl Iterator<Item = &'static Template> {
    TEMPLATES.iter().filter(|template| template.divides_texts)
}

/// A mark in a text that begins a message.
#[derive(Clone, Copy)]
struct Opener {
    offset: usize,
    /// In bytes.
    length: usize,
    role: Role,
    template: &'static Template,
}

impl Opener {
    /// The one at an offset of a text.
    fn at(text: &str, offset: usize) -> Option<Opener> {
        let rest = text.get(offset..)?;
        templates().find_map(|template| {
            let marks = rest.strip_prefix(template.lead)?;
            let mut openers = template.openers.iter();
            let (mark, role) = openers.find(|(mark, _)| marks.starts_with(mark))?;
            // A model, or somebody who asks about marks, may write one without a header.
            split_header(template.header, marks.get(mark.len()..)?)?;
            Some(Opener {
                offset,
                length: template.lead.len() + mark.len(),
                role: *role,
                template,
            })
        })
    }

    /// All of them in a text, whose template is that of the first one.
    fn all(text: &str) -> Vec<Opener> {
        let offsets = memchr2_iter(FIRST[0], FIRST[1], text.as_bytes());
        let mut openers: Vec<Opener> = Vec::new();
        for opener in offsets.filter_map(|offset| Opener::at(text, offset)) {
            if openers
                .first()
                .is_none_or(|first| std::ptr::eq(first.template, opener.template))
            {
                openers.push(opener);
            }
        }
        openers
    }

    /// The role and the content of the message that it begins. `part` is the text up to the next one.
    fn message<'a>(&self, part: &'a str) -> (Role, &'a str) {
        let part = part.get(self.length..).unwrap_or(part);
        let (name, content) = split_header(self.template.header, part).unwrap_or((part, ""));
        (role_in(name).unwrap_or(self.role), content)
    }
}

/// The name in the header of a message, and its content. `text` follows the opener; `None` if that is no header.
fn split_header(header: Header, text: &str) -> Option<(&str, &str)> {
    /// The longest header, in bytes. Long texts of marks without one are read in linear time.
    const LONGEST: usize = 64;
    let head = text.get(..text.floor_char_boundary(LONGEST))?;
    let ended_by = |end: &str| {
        let at = head.find(end)?;
        Some((head.get(..at)?, text.get(at + end.len()..)?))
    };
    let in_line = |end: &str| ended_by(end).filter(|(name, _)| !name.contains('\n'));
    match header {
        // Line breaks belong to the header, too.
        Header::Opener | Header::BeforeMark => Some(("", text.trim_start_matches('\n'))),
        Header::UpTo(end) => {
            in_line(end).map(|(name, content)| (name, content.trim_start_matches('\n')))
        }
        Header::Line { or_up_to } => {
            // The text may end with a header.
            let whole = (head.len() == text.len()).then_some((head, ""));
            let ended = or_up_to.and_then(in_line).or_else(|| ended_by("\n"));
            ended.or(whole).filter(|(name, _)| role_in(name).is_some())
        }
    }
}

/// The role that a header names, which may name the speaker as well: `system name=ann`.
fn role_in(name: &str) -> Option<Role> {
    let mut parts = name.split_whitespace();
    let role = parts.next()?;
    let role = chat::role_of(role).or(match role {
        "observation" | "environment" => Some(Role::User),
        _ => None,
    })?;
    parts.all(|part| part.contains('=')).then_some(role)
}

/// Whether a text starts with the markup of a message, apart from what begins a prompt or ends the message before it.
pub(super) fn is_marked(text: &str) -> bool {
    let ends = templates().flat_map(|template| template.ends);
    let before: Vec<&str> = BEGINNINGS.iter().chain(ends).copied().collect();
    let mut rest = text.trim_start();
    while let Some(after) = before.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = after.trim_start();
    }
    let is_deepseek = text.trim_start().starts_with(DEEPSEEK_BEGINNING);
    Opener::at(rest, 0).is_some() || is_deepseek && !Opener::all(rest).is_empty()
}

/// Splits a text that starts with markup into messages. What precedes the first mark is the system's.
pub(super) fn marked_messages(text: &str) -> Vec<Message> {
    let mut messages = messages(text);
    let before = messages.remove(0).body.content.unwrap_or_default();
    let mut before = before.trim();
    while let Some(after) = BEGINNINGS.iter().find_map(|mark| before.strip_prefix(mark)) {
        before = after.trim();
    }
    let is_of_system = text.trim_start().starts_with(DEEPSEEK_BEGINNING);
    if is_of_system && !before.is_empty() {
        messages.insert(0, message(Role::System, before));
    }
    messages
}

/// A part without the end of its message. `template` is that of the text, if it has marks.
fn without_end<'a>(part: &'a str, template: Option<&Template>) -> &'a str {
    let part = part.trim_end_matches('\n');
    let mut ends = templates()
        .filter(|known| template.is_none_or(|template| std::ptr::eq(*known, template)))
        .flat_map(|template| template.ends);
    ends.find_map(|end| part.strip_suffix(end)).unwrap_or(part)
}

/// Whether the last message of a text with markup has no end.
pub(super) fn is_open(text: &str) -> bool {
    let part = text.trim_end_matches('\n');
    without_end(part, None).len() == part.len()
}

/// Splits a response into messages. A response without markup is one message of the assistant.
///
/// Qwen's template writes results of tools as a user message with `<tool_response>` blocks; each block
/// becomes a message of role tool.
pub(super) fn messages(response: &str) -> Vec<Message> {
    let openers = Opener::all(response);
    let template = openers.first().map(|first| first.template);
    let end = |number: usize| openers.get(number).map_or(response.len(), |it| it.offset);
    let part =
        |from: usize, to: usize| without_end(response.get(from..to).unwrap_or_default(), template);
    let mut messages = vec![message(Role::Assistant, part(0, end(0)))];
    for (number, opener) in openers.iter().enumerate() {
        let (role, content) = opener.message(part(opener.offset, end(number + 1)));
        match role {
            Role::User => user(content, &mut messages),
            role => messages.push(message(role, content)),
        }
    }
    // The model generated nothing after an empty header at the end of a response.
    let is_blank = |message: &Message| {
        let content = message.body.content.as_deref();
        content.is_none_or(|content| content.trim().is_empty())
    };
    if messages.len() > 1 && messages.last().is_some_and(is_blank) {
        messages.pop();
    }
    messages
}

fn message(role: Role, content: &str) -> Message {
    Message::new(role, Text::from(content))
}

fn user(content: &str, messages: &mut Vec<Message>) {
    let mut rest = content;
    while let Some((before, after)) = rest.split_once(RESULT_OPEN) {
        let Some((result, after)) = after.split_once(RESULT_CLOSE) else {
            break;
        };
        if !before.trim().is_empty() {
            messages.push(message(Role::User, before.trim()));
        }
        messages.push(message(Role::Tool, result.trim_matches('\n')));
        rest = after;
    }
    if !rest.trim().is_empty() || content.trim().is_empty() {
        messages.push(message(Role::User, rest.trim()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(response: &str) -> Vec<(Role, String)> {
        let text = |message: Message| message.body.content.unwrap_or_default().to_string();
        let each = messages(response).into_iter();
        each.map(|message| (message.role, text(message))).collect()
    }

    #[test]
    fn a_response_without_marks_is_one_message() {
        assert_eq!(split("4<|im_end|>"), [(Role::Assistant, "4".to_owned())]);
        assert_eq!(split("4"), [(Role::Assistant, "4".to_owned())]);
        assert_eq!(split(""), [(Role::Assistant, String::new())]);
    }

    #[test]
    fn turns_and_results_are_separated() {
        let response = "<tool_call>\n{}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</tool_response>\n\
             <tool_response>\n2\n</tool_response><|im_end|>\n<|im_start|>assistant\nDone.<|im_end|>\n<|im_start|>user\n\
             Thanks<|im_end|>\n<|im_start|>assistant\n";
        let expected = [
            (Role::Assistant, "<tool_call>\n{}\n</tool_call>"),
            (Role::Tool, "1"),
            (Role::Tool, "2"),
            (Role::Assistant, "Done."),
            (Role::User, "Thanks"),
        ];
        let expected = expected.map(|(role, text)| (role, text.to_owned()));
        assert_eq!(split(response), expected);
    }

    #[test]
    fn the_marks_of_other_templates_are_known() {
        let expected = [
            (Role::User, "Hi"),
            (Role::Assistant, "Ho"),
            (Role::User, "So"),
        ];
        for text in [
            "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHo<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nSo<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
            "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHo<end_of_turn>\n<start_of_turn>user\nSo<end_of_turn>\n<start_of_turn>model\n",
            "<|im_user|>ann<|im_middle|>Hi<|im_end|><|im_assistant|>assistant<|im_middle|>Ho<|im_end|><|im_user|>user<|im_middle|>So<|im_end|>",
            "[gMASK]<sop><|user|>\nHi<|assistant|>\nHo<|user|>\nSo<|assistant|>",
            "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜>Ho<｜end▁of▁sentence｜><｜User｜>So<｜Assistant｜>",
            "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>Ho<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>So<|END_OF_TURN_TOKEN|>",
        ] {
            assert!(is_marked(text), "{text}");
            let found = split(text).split_off(1);
            let expected = expected.map(|(role, text)| (role, text.to_owned()));
            assert_eq!(found, expected, "{text}");
        }
        for text in ["4<|eot_id|>", "4<eos>"] {
            assert_eq!(split(text), [(Role::Assistant, "4".to_owned())]);
        }
        let result = "<|start_header_id|>ipython<|end_header_id|>\n\n7<|eot_id|>";
        assert_eq!(split(result)[1], (Role::Tool, "7".to_owned()));
    }

    #[test]
    fn every_opener_is_looked_for() {
        for template in templates() {
            for (mark, _) in template.openers {
                let header = match template.header {
                    Header::UpTo(end) => end,
                    _ => "user\n",
                };
                let text = format!("Hi{}{mark}{header}", template.lead);
                let offsets: Vec<usize> = Opener::all(&text).iter().map(|it| it.offset).collect();
                assert_eq!(offsets, [2], "{text}");
            }
        }
    }

    #[test]
    fn results_in_the_turn_of_a_model_are_not_its_words() {
        let text = "Let me look.<｜end▁of▁sentence｜><｜tool▁outputs▁begin｜>7<｜tool▁outputs▁end｜>It is 7.<｜end▁of▁sentence｜>";
        let expected = [
            (Role::Assistant, "Let me look."),
            (Role::Tool, "7"),
            (Role::Assistant, "It is 7."),
        ];
        let expected = expected.map(|(role, text)| (role, text.to_owned()));
        assert_eq!(split(text), expected);
    }

    #[test]
    fn harmony_and_mistral_are_text() {
        for text in [
            "<|start|>assistant<|channel|>final<|message|>Ho<|return|>",
            "[INST] Hi [/INST] Ho</s>",
        ] {
            assert!(!is_marked(text), "{text}");
            assert_eq!(split(text), [(Role::Assistant, text.to_owned())]);
        }
    }

    #[test]
    fn marks_of_another_template_are_text() {
        let text = "<|im_start|>user\nWhat is <|user|>?<|im_end|>\n";
        assert_eq!(
            split(text)[1..],
            [(Role::User, "What is <|user|>?".to_owned())]
        );
        assert!(!is_marked("What is <|im_start|>?"));
    }

    #[test]
    fn marks_without_a_header_are_text() {
        let garbage = "aa <|im_start|>bb\ncc <|im_start|> dd";
        assert_eq!(split(garbage), [(Role::Assistant, garbage.to_owned())]);
        let asked = "<|im_start|>user\nWhat is <|im_start|> for?\nSay it.<|im_end|>\n<|im_start|>assistant\n";
        let text = "What is <|im_start|> for?\nSay it.".to_owned();
        assert_eq!(split(asked)[1..], [(Role::User, text)]);
        let garbage = "a <|start_header_id|>b\nc";
        assert_eq!(split(garbage), [(Role::Assistant, garbage.to_owned())]);
    }

    #[test]
    fn headers_of_phi_4_end_with_a_mark() {
        let text = "<|im_start|>system<|im_sep|>One\nTwo<|im_end|><|im_start|>user<|im_sep|>Hi<|im_end|><|im_start|>assistant<|im_sep|>";
        assert!(is_marked(text));
        let expected = [(Role::System, "One\nTwo"), (Role::User, "Hi")];
        let expected = expected.map(|(role, text)| (role, text.to_owned()));
        assert_eq!(split(text)[1..], expected);
    }

    #[test]
    fn the_system_of_deepseek_has_no_mark() {
        let text = "<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hi<｜Assistant｜>";
        assert!(is_marked(text));
        let messages = marked_messages(text).into_iter();
        let messages = messages.map(|it| (it.role, it.body.content.unwrap_or_default()));
        let messages: Vec<(Role, Text)> = messages.collect();
        let expected = [(Role::System, "Be brief."), (Role::User, "Hi")];
        assert_eq!(messages, expected.map(|(role, text)| (role, text.into())));
        assert!(!is_marked("Be brief.<｜User｜>Hi"));
    }

    #[test]
    fn text_after_an_unclosed_result_stays() {
        let response = "a<|im_end|>\n<|im_start|>user\n<tool_response>\n1";
        let expected = [
            (Role::Assistant, "a".to_owned()),
            (Role::User, "<tool_response>\n1".to_owned()),
        ];
        assert_eq!(split(response), expected);
    }
}
