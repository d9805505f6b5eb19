//! Tokenizers from files, through kitoken.

use std::collections::HashSet;

use kitoken::convert::convert_tokenizers;
use kitoken::{DecodeError, Definition, Kitoken};

use super::tiktoken::{self, TiktokenFamily};
use super::{TokenId, Tokenizer, TokenizerError};

/// The maximum run of white space in characters. The regular expressions that split texts store each
/// character of such a run, and fail at a million.
const LONGEST_SPACE: usize = 500_000;
const PACKED: &[u8] = b"kitoken";

/// The format of a tokenizer file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerFormat {
    /// `tokenizer.json` of Hugging Face.
    TokenizerJson,
    /// Lines with a token in base64 and its rank.
    Tiktoken,
    /// The output of [`FileTokenizer::to_packed`].
    Packed,
}

impl TokenizerFormat {
    /// Detects the format by the first bytes.
    pub fn detect(data: &[u8]) -> Option<Self> {
        let first = data.iter().find(|byte| !byte.is_ascii_whitespace())?;
        if data.starts_with(PACKED) {
            Some(TokenizerFormat::Packed)
        } else if *first == b'{' {
            Some(TokenizerFormat::TokenizerJson)
        } else {
            tiktoken::has_form(data).then_some(TokenizerFormat::Tiktoken)
        }
    }
}

/// A tokenizer from a file.
pub struct FileTokenizer {
    tokenizer: Kitoken,
    specials: HashSet<TokenId>,
}

impl FileTokenizer {
    /// Reads a file of any supported format. The family of a tiktoken file is derived from its number of ranks.
    pub fn read(data: &[u8]) -> Result<Self, TokenizerError> {
        match TokenizerFormat::detect(data) {
            Some(TokenizerFormat::TokenizerJson) => {
                Self::from_definition(convert_tokenizers(data).map_err(unreadable)?)
            }
            Some(TokenizerFormat::Packed) => {
                Self::from_definition(Definition::from_slice(data).map_err(unreadable)?)
            }
            Some(TokenizerFormat::Tiktoken) => Self::from_tiktoken(data, None),
            None => Err(unreadable("it is neither JSON nor a list of ranks")),
        }
    }

    /// Reads a tiktoken file. The family defines the special tokens and how texts are split, which the file does not.
    pub fn from_tiktoken(
        data: &[u8],
        family: Option<TiktokenFamily>,
    ) -> Result<Self, TokenizerError> {
        Self::from_definition(tiktoken::definition(data, family)?)
    }

    fn from_definition(definition: Definition) -> Result<Self, TokenizerError> {
        if definition.model.vocab().is_empty() {
            return Err(unreadable("it has no tokens"));
        }
        let specials = definition.specials.iter().map(|special| special.id);
        Ok(FileTokenizer {
            specials: specials.collect(),
            tokenizer: Kitoken::from_definition(definition).map_err(unreadable)?,
        })
    }

    /// Serializes the tokenizer in a form that loads many times faster than its file.
    pub fn to_packed(&self) -> Vec<u8> {
        self.tokenizer.to_vec()
    }
}

impl Tokenizer for FileTokenizer {
    fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError> {
        if longest_space(text) > LONGEST_SPACE {
            let reason = format!("more than {LONGEST_SPACE} white space characters in a row");
            return Err(TokenizerError::Encode(reason));
        }
        self.tokenizer
            .encode(text, true)
            .map_err(|error| TokenizerError::Encode(error.to_string()))
    }

    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError> {
        self.tokenizer
            .decode(ids, true)
            .map_err(|error| match error {
                DecodeError::InvalidToken(id) => TokenizerError::NoToken(id),
                other => TokenizerError::Encode(other.to_string()),
            })
    }

    fn is_special(&self, id: TokenId) -> bool {
        self.specials.contains(&id)
    }
}

impl std::fmt::Debug for FileTokenizer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("FileTokenizer")
    }
}

pub(super) fn unreadable(reason: impl ToString) -> TokenizerError {
    TokenizerError::Unreadable(reason.to_string())
}

fn longest_space(text: &str) -> usize {
    if text.len() <= LONGEST_SPACE {
        return 0;
    }
    text.split(|character: char| !character.is_whitespace())
        .map(str::len)
        .max()
        .unwrap_or_default()
}
