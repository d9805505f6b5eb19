//! Text to token ids and back.
//!
//! - [`toy`]: bytes and two marks, when there is no tokenizer file.
//! - [`file`]: `tokenizer.json` and tiktoken files, with the ids that Hugging Face's tokenizers gives.

pub mod file;
mod tiktoken;
pub mod toy;

pub use file::{FileTokenizer, TokenizerFormat};
pub use tiktoken::TiktokenFamily;
pub use toy::ToyTokenizer;

pub use volary_core::TokenId;

/// Text to token ids and back. No token is added: neither a beginning nor an end.
pub trait Tokenizer {
    /// The ids of a text. Special tokens inside the text become their ids.
    fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError>;

    /// The bytes of tokens. A token may hold a part of a character.
    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError>;

    /// Whether a token is a special one, such as a turn's mark.
    fn is_special(&self, id: TokenId) -> bool;
}

/// Why a tokenizer can't be made, or can't do its work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The file is none of the formats that are read.
    #[error("This is no tokenizer that Volary reads: {0}")]
    Unreadable(String),
    /// The number of ranks of a tiktoken file belongs to no known family.
    #[error("A tiktoken file with {0} ranks belongs to no known family of models")]
    UnknownFamily(usize),
    /// A text that the tokenizer has no tokens for.
    #[error("The text can't be tokenized: {0}")]
    Encode(String),
    /// A token that the tokenizer does not have.
    #[error("The tokenizer has no token {0}")]
    NoToken(TokenId),
}
