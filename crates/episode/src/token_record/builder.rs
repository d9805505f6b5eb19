//! Builds a token record from what a file contains: ids, a mask, and streams with the alignment of the format.

use volary_core::json::Text;
use volary_core::{TokenId, TokenStream, TokenStrip};

use super::alignment::Alignment;
use super::divide::divide;
use super::{StreamMisfit, TokenPart, TokenRecord, TokenRecordError};
use crate::episode::Episode;

/// The loss mask of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossMask {
    /// One flag for each token.
    Full(Vec<bool>),
    /// One flag for each token after the prompt.
    Response(Vec<bool>),
    /// All of this many tokens after the prompt are trained.
    Whole(usize),
    /// The file does not say which of this many tokens after the prompt are trained.
    Unknown(usize),
}

/// A token record under construction.
#[derive(Clone, Debug)]
pub struct TokenRecordBuilder {
    record: TokenRecord,
}

impl TokenRecordBuilder {
    /// Starts with ids and mask.
    ///
    /// # Errors
    ///
    /// If the mask is longer than the ids, or a full mask has another length.
    pub fn new(ids: Vec<TokenId>, mask: LossMask) -> Result<Self, TokenRecordError> {
        let is_mask_known = !matches!(mask, LossMask::Unknown(_));
        let tokens = ids.len();
        let prompt = |response: usize| {
            let too_short = TokenRecordError::TooShort { response, tokens };
            tokens.checked_sub(response).ok_or(too_short)
        };
        let (flags, prompt) = match mask {
            LossMask::Full(flags) if flags.len() != tokens => {
                let mask = flags.len();
                return Err(TokenRecordError::MaskLength { mask, tokens });
            }
            LossMask::Full(flags) => {
                let first = flags.iter().position(|is_trained| *is_trained);
                (flags, first.unwrap_or(tokens))
            }
            LossMask::Response(response) => {
                let prompt = prompt(response.len())?;
                let mut flags = vec![false; prompt];
                flags.extend(response);
                (flags, prompt)
            }
            LossMask::Whole(response) => {
                let prompt = prompt(response)?;
                ((0..tokens).map(|token| token >= prompt).collect(), prompt)
            }
            LossMask::Unknown(response) => (vec![false; tokens], prompt(response)?),
        };
        Ok(TokenRecordBuilder {
            record: TokenRecord {
                // Both have the same length.
                strip: TokenStrip::new(ids, flags).unwrap_or_default(),
                prompt,
                is_mask_known,
                ..TokenRecord::default()
            },
        })
    }

    /// The number of tokens after the prompt.
    pub fn response(&self) -> usize {
        self.record.strip.len() - self.record.prompt
    }

    /// Adds a stream; see [`TokenRecord::add_stream`].
    pub fn stream(&mut self, name: impl Into<Text>, values: &TokenStream, alignment: Alignment) {
        self.record.add_stream(name, values, alignment);
    }

    /// Notes a list with another number of values than expected. It is left out.
    pub fn misfit(&mut self, name: impl Into<Text>, values: usize, expected: usize) {
        self.record.misfits.push(StreamMisfit {
            name: name.into(),
            values,
            expected,
        });
    }

    /// Marks the tokens as computed from texts.
    pub fn set_reconstructed(&mut self, is_reconstructed: bool) {
        self.record.is_reconstructed = is_reconstructed;
    }

    /// Ends with the boundaries of messages that the mask of an episode implies.
    pub fn divided(mut self, episode: &Episode) -> TokenRecord {
        let strip = &self.record.strip;
        let (parts, is_divided) = divide(episode, strip.ids(), strip.mask(), self.record.prompt);
        (self.record.parts, self.record.is_divided) = (parts, is_divided);
        self.record
    }

    /// Ends with the boundaries that a file contains.
    pub fn with_parts(mut self, parts: Vec<TokenPart>) -> TokenRecord {
        (self.record.parts, self.record.is_divided) = (parts, true);
        self.record
    }
}
