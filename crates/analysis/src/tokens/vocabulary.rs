//! What the checks of tokens need of a tokenizer. The page implements it for the file that the user opened.

use volary_core::TokenId;

/// The texts of tokens.
pub trait Vocabulary {
    /// The bytes of tokens, which may begin or end within a character; `None` if the vocabulary lacks one of them.
    fn bytes(&self, ids: &[TokenId]) -> Option<Vec<u8>>;

    /// The ids of a text; `None` if it cannot be encoded.
    fn encode(&self, text: &str) -> Option<Vec<TokenId>>;
}

/// One token for each byte, and the marks of ChatML above them.
#[cfg(test)]
pub(super) struct ByteVocabulary;

#[cfg(test)]
impl ByteVocabulary {
    const MARKS: [&'static str; 3] = ["<|im_start|>", "<|im_end|>", "ab"];

    pub(super) fn ids(text: &str) -> Vec<TokenId> {
        let mut ids = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let mark = Self::MARKS.iter().zip(256..);
            let mark = mark.into_iter().find(|(mark, _)| rest.starts_with(**mark));
            let (id, length) = match mark {
                Some((mark, id)) => (id, mark.len()),
                None => (TokenId::from(rest.as_bytes()[0]), 1),
            };
            ids.push(id);
            rest = &rest[length..];
        }
        ids
    }
}

#[cfg(test)]
impl Vocabulary for ByteVocabulary {
    fn bytes(&self, ids: &[TokenId]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for id in ids {
            match u8::try_from(*id) {
                Ok(byte) => bytes.push(byte),
                Err(_) => bytes.extend(Self::MARKS.get(*id as usize - 256)?.bytes()),
            }
        }
        Some(bytes)
    }

    fn encode(&self, text: &str) -> Option<Vec<TokenId>> {
        Some(Self::ids(text))
    }
}
