//! A tokenizer without a file: each byte is a token, and so are ChatML's two marks.

use super::{TokenId, Tokenizer, TokenizerError};

const MARKS: [(&str, TokenId); 2] = [("<|im_start|>", 256), ("<|im_end|>", 257)];

/// Bytes and ChatML's marks. It needs no file, and its results about masks hold for any tokenizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToyTokenizer;

impl Tokenizer for ToyTokenizer {
    fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError> {
        let mut ids = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("<|im_") {
            let (before, tail) = rest.split_at(at);
            ids.extend(before.bytes().map(TokenId::from));
            let mark = MARKS
                .iter()
                .find_map(|(mark, id)| Some((tail.strip_prefix(mark)?, *id)));
            rest = match mark {
                Some((after, id)) => {
                    ids.push(id);
                    after
                }
                None => {
                    ids.push(TokenId::from(b'<'));
                    &tail[1..]
                }
            };
        }
        ids.extend(rest.bytes().map(TokenId::from));
        Ok(ids)
    }

    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError> {
        let mut bytes = Vec::with_capacity(ids.len());
        for id in ids {
            match MARKS.iter().find(|(_, mark)| mark == id) {
                Some((mark, _)) => bytes.extend(mark.bytes()),
                None => bytes.push(u8::try_from(*id).map_err(|_| TokenizerError::NoToken(*id))?),
            }
        }
        Ok(bytes)
    }

    fn is_special(&self, id: TokenId) -> bool {
        MARKS.iter().any(|(_, mark)| *mark == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_single_tokens_and_broken_ones_are_bytes() {
        let text = "<|im_end|><|im_end|><|im_start|é<|im_";
        let ids = ToyTokenizer.encode(text).unwrap_or_default();
        assert_eq!(ids[..3], [257, 257, 60]);
        assert_eq!(ids.len(), 2 + "<|im_start|é<|im_".len());
        assert_eq!(ToyTokenizer.decode(&ids).as_deref(), Ok(text.as_bytes()));
        assert_eq!(
            ToyTokenizer.decode(&[258]),
            Err(TokenizerError::NoToken(258))
        );
    }
}
