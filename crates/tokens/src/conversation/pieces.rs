//! The text of a built-in template, message by message.
//!
//! Invariant: joined, the pieces equal the template's rendering of the messages without tools
//! (`tests/incremental.rs` checks it against the template itself). A piece depends on its message, on whether its
//! neighbours are tool results, on whether it is the last, and with hybrid thinking on whether the newest question
//! of the user comes after it. So a new message changes pieces near the end only; with hybrid thinking, a question
//! changes the turns since the previous question.

use volary_core::Text;

use super::{ChatMessage, ChatRole};
use crate::template::Builtin;

const SYSTEM_OF_QWEN_25: &str = "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n";
const PROMPT: &str = "<|im_start|>assistant\n";

/// The pieces of a conversation's text.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    family: Builtin,
    pieces: Vec<Piece>,
    /// The index of the user's newest question. Tool results in a user's message do not count.
    question: Option<usize>,
}

#[derive(Clone, Debug)]
struct Piece {
    role: ChatRole,
    content: Text,
    written: String,
}

impl Pieces {
    pub(super) fn new(family: Builtin) -> Self {
        Pieces {
            family,
            pieces: Vec::new(),
            question: None,
        }
    }

    /// Adds a message. Returns the text before and after it, starting at the first changed piece.
    pub(super) fn push(&mut self, message: &ChatMessage) -> (String, String) {
        let index = self.pieces.len();
        let earlier = self.question;
        if message.role == ChatRole::User && !is_wrapped(&message.content) {
            self.question = Some(index);
        }
        self.pieces.push(Piece {
            role: message.role,
            content: message.content.clone(),
            written: String::new(),
        });
        let mut first = index.saturating_sub(1);
        if self.question != earlier {
            // Without an earlier question, no turn came after one.
            first = first.min(earlier.unwrap_or(first));
        }
        let mut before = String::new();
        let mut after = String::new();
        for changed in first..self.pieces.len() {
            let written = self.write(changed);
            let piece = &mut self.pieces[changed];
            before.push_str(&piece.written);
            after.push_str(&written);
            piece.written = written;
        }
        (before, after)
    }

    /// The text of the first message, with the head before it.
    pub(super) fn first(&self) -> &str {
        self.pieces.first().map_or("", |piece| &piece.written)
    }

    /// Appends the text of all messages but the first.
    pub(super) fn write_rest(&self, out: &mut String) {
        for piece in self.pieces.iter().skip(1) {
            out.push_str(&piece.written);
        }
    }

    /// The generation prompt.
    pub(super) fn prompt(&self) -> &'static str {
        PROMPT
    }

    fn write(&self, index: usize) -> String {
        let piece = &self.pieces[index];
        let mut out = String::new();
        if index == 0 && self.family == Builtin::Qwen25 && piece.role != ChatRole::System {
            out.push_str(SYSTEM_OF_QWEN_25);
        }
        match piece.role {
            ChatRole::System | ChatRole::User => block(&mut out, piece, &piece.content),
            ChatRole::Assistant => block(&mut out, piece, &self.assistant(index)),
            ChatRole::Tool => {
                let is_tool = |index: Option<usize>| {
                    index
                        .and_then(|index| self.pieces.get(index))
                        .is_some_and(|piece| piece.role == ChatRole::Tool)
                };
                if !is_tool(index.checked_sub(1)) {
                    out.push_str("<|im_start|>user");
                }
                out.push_str("\n<tool_response>\n");
                out.push_str(&piece.content);
                out.push_str("\n</tool_response>");
                if !is_tool(index.checked_add(1)) {
                    out.push_str("<|im_end|>\n");
                }
            }
        }
        out
    }

    /// The rendering of an assistant's message.
    fn assistant(&self, index: usize) -> String {
        let content = &*self.pieces[index].content;
        if self.family != Builtin::Qwen3 {
            return content.to_owned();
        }
        let (reasoning, said) = split_thinking(content);
        let is_after = self.question.is_some_and(|question| index > question);
        let is_last = index + 1 == self.pieces.len();
        if is_after && (is_last || !reasoning.is_empty()) {
            let reasoning = reasoning.trim_matches('\n');
            let said = said.trim_start_matches('\n');
            format!("<think>\n{reasoning}\n</think>\n\n{said}")
        } else {
            said.to_owned()
        }
    }
}

fn block(out: &mut String, piece: &Piece, content: &str) {
    out.push_str("<|im_start|>");
    out.push_str(piece.role.name());
    out.push('\n');
    out.push_str(content);
    out.push_str("<|im_end|>\n");
}

fn is_wrapped(content: &str) -> bool {
    content.starts_with("<tool_response>") && content.ends_with("</tool_response>")
}

/// The reasoning before the first end mark, and the text after the last one.
fn split_thinking(content: &str) -> (&str, &str) {
    const END: &str = "</think>";
    let (Some((thought, _)), Some((_, said))) = (content.split_once(END), content.rsplit_once(END))
    else {
        return ("", content);
    };
    let thought = thought.trim_end_matches('\n');
    let thought = thought
        .rsplit_once("<think>")
        .map_or(thought, |(_, thought)| thought);
    (
        thought.trim_start_matches('\n'),
        said.trim_start_matches('\n'),
    )
}
