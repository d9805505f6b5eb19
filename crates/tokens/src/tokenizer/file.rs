//! Tokenizers from files, through kitoken.
//!
//! kitoken panics on some files: if a regular expression of the file takes too many steps, for example. Natively that is
//! an error ([`broken`]); WebAssembly cannot unwind, so a page has to isolate the calls.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kitoken::convert::convert_tokenizers;
use kitoken::{DecodeError, Definition, Kitoken, Model};

use super::tiktoken::{self, TiktokenFamily};
use super::{TokenId, Tokenizer, TokenizerError};

/// The maximum run of white space in characters. The regular expressions that split texts store each
/// character of such a run, and fail at a million.
const LONGEST_SPACE: usize = 500_000;
/// The longest token, in bytes. Those of known models have a few hundred: runs of spaces or dashes.
const LONGEST_TOKEN: usize = 4096;
/// The longest token of a unigram model, in bytes. Encoding tries every length at every character; known models have at
/// most 64.
const LONGEST_UNIGRAM: usize = 256;
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
        let read = catch_unwind(|| Self::read_any(data));
        read.unwrap_or_else(|_| Err(unreadable("its parts contradict each other")))
    }

    fn read_any(data: &[u8]) -> Result<Self, TokenizerError> {
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
        let most = match definition.model {
            Model::Unigram { .. } => LONGEST_UNIGRAM,
            _ => LONGEST_TOKEN,
        };
        let lengths = definition.model.vocab().iter();
        let longest = lengths.map(|token| token.bytes.len()).max();
        if let Some(longest) = longest.filter(|longest| *longest > most) {
            return Err(unreadable(format!(
                "it has a token of {longest} bytes, and at most {most} are supported"
            )));
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
        let encoded = catch_unwind(AssertUnwindSafe(|| self.tokenizer.encode(text, true)));
        encoded
            .map_err(|_| broken())?
            .map_err(|error| TokenizerError::Encode(error.to_string()))
    }

    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError> {
        let decoded = catch_unwind(AssertUnwindSafe(|| self.tokenizer.decode(ids, true)));
        decoded.map_err(|_| broken())?.map_err(|error| match error {
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

/// The error of a text on which the tokenizer panics.
pub fn broken() -> TokenizerError {
    let reason = "the rules of the tokenizer's file take too many steps, or contradict its tokens";
    TokenizerError::Encode(reason.to_owned())
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
