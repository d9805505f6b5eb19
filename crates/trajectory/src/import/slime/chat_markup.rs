//! Splits a text at the marks of a chat template, such as ChatML's `<|im_start|>role` and `<|im_end|>`.
//!
//! A multi-turn response contains the environment's messages between the turns. The first part has no mark: it
//! continues the assistant's header at the end of the prompt. A text is of one template, that of its first mark. The marks are
//! those of `token_record::sections`, except for Harmony, whose messages have several parts, and Mistral, whose marks are plain
//! text.

use memchr::memchr2_iter;
use volary_core::json::Text;
use volary_core::{Message, Role};

use crate::import::chat;

const RESULT_OPEN: &str = "<tool_response>";
const RESULT_CLOSE: &str = "</tool_response>";

/// The marks of a chat template.
struct Template {
    /// What begins a message, and its role if the header names none.
    openers: &'static [(&'static str, Role)],
    /// What ends the header, which names the role. Empty if the opener is the whole header.
    header_end: &'static str,
    /// What ends a message.
    ends: &'static [&'static str],
}

const TEMPLATES: [Template; 11] = [
    // ChatML.
    Template {
        openers: &[("<|im_start|>", Role::User)],
        header_end: "\n",
        ends: &["<|im_end|>"],
    },
    // Llama 3.
    Template {
        openers: &[("<|start_header_id|>", Role::User)],
        header_end: "<|end_header_id|>",
        ends: &["<|eot_id|>", "<|eom_id|>"],
    },
    // Llama 4.
    Template {
        openers: &[("<|header_start|>", Role::User)],
        header_end: "<|header_end|>",
        ends: &["<|eot|>", "<|eom|>"],
    },
    // Gemma.
    Template {
        openers: &[("<start_of_turn>", Role::User)],
        header_end: "\n",
        ends: &["<end_of_turn>"],
    },
    Template {
        openers: &[("<|turn>", Role::User)],
        header_end: "\n",
        ends: &["<turn|>"],
    },
    // Granite.
    Template {
        openers: &[("<|start_of_role|>", Role::User)],
        header_end: "<|end_of_role|>",
        ends: &["<|end_of_text|>"],
    },
    // MiniMax.
    Template {
        openers: &[("]~b]", Role::User)],
        header_end: "\n",
        ends: &["[e~["],
    },
    // Kimi.
    Template {
        openers: &[
            ("<|im_user|>", Role::User),
            ("<|im_assistant|>", Role::Assistant),
            ("<|im_system|>", Role::System),
        ],
        header_end: "<|im_middle|>",
        ends: &["<|im_end|>"],
    },
    // GLM, Phi and others.
    Template {
        openers: &[
            ("<|user|>", Role::User),
            ("<|assistant|>", Role::Assistant),
            ("<|system|>", Role::System),
            ("<|observation|>", Role::Tool),
            ("<|tool|>", Role::Tool),
        ],
        header_end: "",
        ends: &["<|end|>", "<|endoftext|>"],
    },
    // DeepSeek.
    Template {
        openers: &[
            ("<｜User｜>", Role::User),
            ("<｜Assistant｜>", Role::Assistant),
        ],
        header_end: "",
        ends: &["<｜end▁of▁sentence｜>"],
    },
    // Command R.
    Template {
        openers: &[
            ("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", Role::User),
            ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", Role::Assistant),
            ("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", Role::System),
        ],
        header_end: "",
        ends: &["<|END_OF_TURN_TOKEN|>"],
    },
];

/// What ends the header in Phi-4's variant of ChatML.
const PHI_HEADER_END: &str = "<|im_sep|>";

/// What begins DeepSeek's prompts. Its message of the system has no mark.
const DEEPSEEK_BEGINNING: &str = "<｜begin▁of▁sentence｜>";

/// What may precede the first message of a prompt.
const BEGINNINGS: [&str; 8] = [
    "<|begin_of_text|>",
    "<｜begin▁of▁sentence｜>",
    "<|startoftext|>",
    "<BOS_TOKEN>",
    "<bos>",
    "<s>",
    "[gMASK]",
    "<sop>",
];

/// A mark in a text that begins a message.
#[derive(Clone, Copy)]
struct Opener {
    place: usize,
    mark: &'static str,
    role: Role,
    template: &'static Template,
}

impl Opener {
    /// The one at a place of a text.
    fn at(text: &str, place: usize) -> Option<Opener> {
        let rest = text.get(place..)?;
        TEMPLATES.iter().find_map(|template| {
            let mut openers = template.openers.iter();
            let (mark, role) = openers.find(|(mark, _)| rest.starts_with(mark))?;
            // A model, or somebody who asks about marks, may write one without a header.
            template.header(rest.get(mark.len()..)?)?;
            Some(Opener {
                place,
                mark,
                role: *role,
                template,
            })
        })
    }

    /// All of them in a text, whose template is that of the first one.
    fn all(text: &str) -> Vec<Opener> {
        let places = memchr2_iter(b'<', b']', text.as_bytes());
        let mut openers: Vec<Opener> = Vec::new();
        for opener in places.filter_map(|place| Opener::at(text, place)) {
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
        let part = part.strip_prefix(self.mark).unwrap_or(part);
        let (name, content) = self.template.header(part).unwrap_or((part, ""));
        (role_in(name).unwrap_or(self.role), content)
    }
}

impl Template {
    /// The name in the header of a message, and its content. `text` follows the mark that begins the message; `None` if that
    /// is no header.
    fn header<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        /// The longest header, in bytes. Long texts of marks without one are read in linear time.
        const LONGEST: usize = 64;
        if self.header_end.is_empty() {
            return Some(("", text.trim_start_matches('\n')));
        }
        let head = text.get(..text.floor_char_boundary(LONGEST))?;
        let ended_by = |end: &str| {
            let at = head.find(end)?;
            Some((head.get(..at)?, text.get(at + end.len()..)?))
        };
        if self.header_end != "\n" {
            let (name, content) = ended_by(self.header_end)?;
            // Line breaks belong to the header, too.
            return (!name.contains('\n')).then(|| (name, content.trim_start_matches('\n')));
        }
        let line = ended_by("\n");
        let of_phi = ended_by(PHI_HEADER_END).filter(|(name, _)| !name.contains('\n'));
        // The text may end with a header.
        let (name, content) = of_phi.or(line).unwrap_or((head, ""));
        let is_whole = head.len() == text.len() || line.is_some() || of_phi.is_some();
        role_in(name).filter(|_| is_whole).map(|_| (name, content))
    }
}

/// The role that a header names, which may name the speaker as well: `system name=ann`.
fn role_in(name: &str) -> Option<Role> {
    let mut words = name.split_whitespace();
    let role = words.next()?;
    let role = chat::role_of(role).or(match role {
        "observation" | "environment" => Some(Role::User),
        _ => None,
    })?;
    words.all(|word| word.contains('=')).then_some(role)
}

/// Whether a text starts with the markup of a message, apart from what begins a prompt or ends the message before it.
pub(super) fn is_marked(text: &str) -> bool {
    let ends = TEMPLATES.iter().flat_map(|template| template.ends);
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
    let mut ends = TEMPLATES
        .iter()
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
    let end = |number: usize| openers.get(number).map_or(response.len(), |it| it.place);
    let part =
        |from: usize, to: usize| without_end(response.get(from..to).unwrap_or_default(), template);
    let mut messages = vec![message(Role::Assistant, part(0, end(0)))];
    for (number, opener) in openers.iter().enumerate() {
        let (role, content) = opener.message(part(opener.place, end(number + 1)));
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
        ] {
            assert!(is_marked(text), "{text}");
            let found = split(text).split_off(1);
            let expected = expected.map(|(role, text)| (role, text.to_owned()));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(split("4<|eot_id|>"), [(Role::Assistant, "4".to_owned())]);
        let result = "<|start_header_id|>ipython<|end_header_id|>\n\n7<|eot_id|>";
        assert_eq!(split(result)[1], (Role::Tool, "7".to_owned()));
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
