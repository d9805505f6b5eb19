//! The turns of a chat as the marks of its template show them: header, body, and the end of the turn.
//!
//! The marks are whole tokens, so a text that only quotes them has none. Unknown templates have no sections.

use std::collections::HashMap;
use std::ops::Range;

use volary_core::{Role, TokenId};

use super::vocabulary::Vocabulary;
use crate::chat_templates::{Header, TEMPLATES};

/// A turn in the tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Whether the model speaks.
    pub is_assistant: bool,
    /// The mark and the role. Empty if the model wrote them itself.
    pub header: Range<usize>,
    /// What is said.
    pub body: Range<usize>,
    /// The end-of-turn token.
    pub end: Option<usize>,
    /// The tokens between the end of the turn and the next header, such as a line break.
    pub after: Range<usize>,
}

/// The meaning of a token in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Begins a message, with its role if the header names none.
    Open(Role, Header),
    End,
    /// Another mark, without a meaning here.
    Other,
}

fn mark(text: &[u8]) -> Option<Mark> {
    let text = std::str::from_utf8(text).ok()?;
    let known = TEMPLATES.iter().find_map(|template| {
        let opener = template.openers.iter().find(|(mark, _)| *mark == text);
        let open = opener.map(|(_, role)| Mark::Open(*role, template.header));
        open.or_else(|| template.ends.contains(&text).then_some(Mark::End))
    });
    let is_other = || text.starts_with("<|") && text.ends_with("|>");
    known.or_else(|| is_other().then_some(Mark::Other))
}

/// Whether a role is the model's.
fn is_assistant(role: &str) -> bool {
    let role = role.trim_start();
    let end = role.find(|letter: char| !letter.is_ascii_alphanumeric());
    let role = role.get(..end.unwrap_or(role.len())).unwrap_or_default();
    ["assistant", "model", "ai"].contains(&role)
}

/// The marks of tokens, each id looked up once.
struct Marks<'a> {
    vocabulary: &'a dyn Vocabulary,
    known: HashMap<TokenId, Option<Mark>>,
}

impl Marks<'_> {
    fn of(&mut self, id: TokenId) -> Option<Mark> {
        let vocabulary = self.vocabulary;
        let read = || mark(&vocabulary.bytes(&[id])?);
        *self.known.entry(id).or_insert_with(read)
    }

    fn text(&self, ids: &[TokenId]) -> String {
        let bytes = self.vocabulary.bytes(ids).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The end of a header that starts at a token.
fn header_end(marks: &mut Marks<'_>, ids: &[TokenId], start: usize, header: Header) -> usize {
    /// The maximum length of a header, in tokens.
    const LONGEST: usize = 24;
    let last = ids.len().min(start + LONGEST);
    for token in start + 1..last {
        let id = [ids[token]];
        match header {
            Header::BeforeMark if marks.of(id[0]).is_some() => return token,
            Header::Line { or_up_to } => {
                let text = marks.text(&id);
                if text.contains('\n') || or_up_to == Some(&text) {
                    return token + 1;
                }
            }
            Header::UpTo(closing) if marks.text(&id) == closing => {
                let space = ids.get(token + 1).is_some_and(|next| {
                    let next = marks.text(&[*next]);
                    !next.is_empty() && next.trim().is_empty()
                });
                return token + 1 + usize::from(space);
            }
            _ => {}
        }
    }
    (start + 2).min(ids.len())
}

/// The sections of tokens in order; empty if there are no known marks.
pub fn sections(ids: &[TokenId], vocabulary: &dyn Vocabulary) -> Vec<Section> {
    let mut marks = Marks {
        vocabulary,
        known: HashMap::new(),
    };
    let mut sections: Vec<Section> = Vec::new();
    let mut token = 0;
    while token < ids.len() {
        let found = marks.of(ids[token]);
        let mut next = token + 1;
        match found {
            Some(Mark::Open(role, Header::Opener)) => {
                // Without an end-of-turn token, the model ends its turn with the next role.
                let ends = close(&mut sections, token, true);
                let header = if ends { token + 1 } else { token };
                let is_assistant = role == Role::Assistant;
                push(&mut sections, is_assistant, header..token + 1, token + 1);
            }
            Some(Mark::Open(role, kind)) => {
                let header = header_end(&mut marks, ids, token, kind);
                let named = marks.text(ids.get(token + 1..header).unwrap_or_default());
                let is_assistant = is_assistant(&named) || role == Role::Assistant;
                // A model that goes on after its own message writes the header itself.
                let goes_on = kind == Header::BeforeMark
                    && is_assistant
                    && sections
                        .last()
                        .is_some_and(|last| last.is_assistant && last.end == Some(token - 1));
                close(&mut sections, token, false);
                let start = if goes_on { token } else { header };
                push(&mut sections, is_assistant, token..start, start);
                next = header.max(next);
            }
            Some(Mark::End) => {
                if let Some(last) = sections.last_mut().filter(|last| last.end.is_none()) {
                    last.body.end = token;
                    last.end = Some(token);
                    last.after = token + 1..token + 1;
                }
            }
            Some(Mark::Other) | None => {}
        }
        token = next;
    }
    close(&mut sections, ids.len(), false);
    sections
}

/// Ends the last section at a token. Returns whether this token became its end-of-turn token.
fn close(sections: &mut [Section], token: usize, is_end: bool) -> bool {
    let Some(last) = sections.last_mut() else {
        return false;
    };
    if last.end.is_some() {
        last.after.end = token;
        return false;
    }
    last.body.end = token;
    last.after = token..token;
    let ends = is_end && last.is_assistant && !last.body.is_empty();
    if ends {
        last.end = Some(token);
        last.after = token + 1..token + 1;
    }
    ends
}

fn push(sections: &mut Vec<Section>, is_assistant: bool, header: Range<usize>, body: usize) {
    sections.push(Section {
        is_assistant,
        header,
        body: body..body,
        end: None,
        after: body..body,
    });
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::ByteVocabulary;
    use super::*;

    /// A vocabulary of words, in which a token is an index into this list.
    struct Words(Vec<&'static str>);

    impl Vocabulary for Words {
        fn bytes(&self, ids: &[TokenId]) -> Option<Vec<u8>> {
            let words = ids.iter().map(|id| self.0.get(*id as usize).copied());
            Some(words.collect::<Option<String>>()?.into_bytes())
        }

        fn encode(&self, _: &str) -> Option<Vec<TokenId>> {
            None
        }
    }

    fn of(words: &[&'static str]) -> Vec<Section> {
        let ids: Vec<TokenId> = (0..).take(words.len()).collect();
        sections(&ids, &Words(words.to_vec()))
    }

    #[test]
    fn chatml_has_headers_bodies_and_ends() {
        let ids = ByteVocabulary::ids(
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n",
        );
        let found = sections(&ids, &ByteVocabulary);
        let [user, assistant] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(!user.is_assistant && assistant.is_assistant);
        assert_eq!((user.header.clone(), user.body.clone()), (0..6, 6..8));
        assert_eq!((user.end, user.after.clone()), (Some(8), 9..10));
        assert_eq!(assistant.header, 10..21);
        assert_eq!(assistant.body, 21..23);
        assert_eq!((assistant.end, assistant.after.clone()), (Some(23), 24..25));
    }

    #[test]
    fn a_generation_prompt_at_the_end_has_no_body() {
        let ids = ByteVocabulary::ids("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
        let last = sections(&ids, &ByteVocabulary).pop().unwrap();
        assert!(last.is_assistant && last.body.is_empty() && last.end.is_none());
    }

    #[test]
    fn other_templates_are_known_too() {
        let llama = of(&[
            "<|begin_of_text|>",
            "<|start_header_id|>",
            "assistant",
            "<|end_header_id|>",
            "\n\n",
            "Ho",
            "<|eot_id|>",
        ]);
        assert_eq!(llama.len(), 1);
        assert_eq!(
            (llama[0].header.clone(), llama[0].body.clone()),
            (1..5, 5..6)
        );
        assert_eq!(llama[0].end, Some(6));
        let phi = of(&[
            "<|im_start|>",
            "assistant",
            "<|im_sep|>",
            "Ho\n",
            "<|im_end|>",
        ]);
        assert!(phi[0].is_assistant);
        assert_eq!((phi[0].header.clone(), phi[0].body.clone()), (0..3, 3..4));
        let kimi = of(&[
            "<|im_assistant|>",
            "assistant",
            "<|im_middle|>",
            "Ho",
            "<|im_end|>",
        ]);
        assert!(kimi[0].is_assistant);
        assert_eq!(kimi[0].body, 3..4);
        // The next role ends the turn, and the model writes it.
        let glm = of(&[
            "<|user|>",
            "Hi",
            "<|assistant|>",
            "Ho",
            "<|observation|>",
            "7",
        ]);
        assert_eq!(glm[1].end, Some(4));
        assert!(glm[2].header.is_empty() && !glm[2].is_assistant);
    }

    #[test]
    fn a_model_that_continues_writes_its_own_header() {
        let harmony = of(&[
            "<|start|>",
            "assistant",
            "<|channel|>",
            "analysis",
            "<|message|>",
            "Hm",
            "<|end|>",
            "<|start|>",
            "assistant",
            "<|channel|>",
            "final",
            "<|message|>",
            "Ho",
            "<|return|>",
        ]);
        assert_eq!(harmony.len(), 2);
        assert_eq!(harmony[0].header, 0..2);
        assert_eq!(harmony[0].end, Some(6));
        assert!(harmony[1].header.is_empty() && harmony[1].is_assistant);
        assert_eq!(harmony[1].end, Some(13));
    }

    #[test]
    fn without_marks_there_are_no_sections() {
        assert!(of(&["Hi", " you"]).is_empty());
        assert!(of(&[]).is_empty());
    }
}
