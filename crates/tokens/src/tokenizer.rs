//! Text to token ids and back.
//!
//! - [`toy`]: bytes and two special tokens, without a tokenizer file.
//! - [`file`]: `tokenizer.json` and tiktoken files, with the same ids as Hugging Face's tokenizers.

pub mod file;
mod tiktoken;
pub mod toy;

pub use file::{FileTokenizer, TokenizerFormat};
pub use tiktoken::TiktokenFamily;
pub use toy::ToyTokenizer;

pub use volary_core::TokenId;

/// Converts text to token ids and back. No tokens are added at the beginning or end.
pub trait Tokenizer {
    /// The ids of a text. Special tokens inside the text become their ids.
    fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError>;

    /// The bytes of tokens. A token may contain a part of a character.
    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError>;

    /// Whether a token is special, such as the end of a turn.
    fn is_special(&self, id: TokenId) -> bool;
}

/// Why a tokenizer cannot be loaded, or cannot convert its input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The file has no supported format.
    #[error("Volary cannot read this tokenizer: {0}")]
    Unreadable(String),
    /// The number of ranks of a tiktoken file matches no known family.
    #[error("A tiktoken file with {0} ranks belongs to no known family of models")]
    UnknownFamily(usize),
    /// The text cannot be encoded.
    #[error("The text can't be tokenized: {0}")]
    Encode(String),
    /// The token does not exist.
    #[error("The tokenizer has no token {0}")]
    NoToken(TokenId),
}
