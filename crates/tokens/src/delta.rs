//! The text that a message adds to an episode's tokens, and its loss mask.
//!
//! A [`Delta`] is text with annotations, so that it can be displayed without a tokenizer; [`Delta::tokenize`] converts
//! it to tokens and mask.

mod fixed;
mod seed;
mod token_in;

use crate::conversation::Change;
use crate::template::TemplateError;
use crate::tokenizer::{Tokenizer, TokenizerError};
use volary_core::TokenStrip;

pub use token_in::{Observation, TokenIn};

/// The method that determines tokens and mask of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskMode {
    /// The first version of slime's agent: the header of an assistant's message is lost from the second turn on,
    /// and nothing is checked.
    Seed,
    /// slime's agent since August 2026: with that header, and an error if a template rewrites history.
    Fixed,
    /// The sampled tokens themselves, and observations rendered separately from the history.
    TokenIn,
}

impl MaskMode {
    /// All modes.
    pub const ALL: [MaskMode; 3] = [MaskMode::Seed, MaskMode::Fixed, MaskMode::TokenIn];

    /// The name in links and files.
    pub fn name(self) -> &'static str {
        match self {
            MaskMode::Seed => "seed",
            MaskMode::Fixed => "fixed",
            MaskMode::TokenIn => "token_in",
        }
    }

    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        MaskMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The text that a message adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    pub text: String,
    /// The length in bytes of the header at the beginning, which is not trained.
    pub header: usize,
    /// Whether the text after the header is trained.
    pub is_trained: bool,
}

/// Why a message has no delta.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeltaError {
    /// The messages cannot be rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The text of the earlier messages is not a prefix of the new text.
    #[error("The chat template rewrote history: {0}")]
    Rewrote(&'static str),
    /// A user's message, rendered alone, is not a suffix of the text.
    #[error(
        "The chat template rewrote history, and the user's message alone is not the end of the text"
    )]
    NoSuffix,
    /// There are no messages.
    #[error("There are no messages, so the last one adds nothing")]
    NoMessages,
    /// The rendered observation does not contain what precedes it.
    #[error("The chat template drops the assistant's message before an observation")]
    NoSentinel,
}

impl Delta {
    /// The delta of the last message in one of the two modes that compare renderings. `with_header` includes the header
    /// of an assistant's message in mode `fixed`; `alone` renders the last message alone.
    pub fn of_change(
        mode: RenderedMode,
        change: &Change,
        with_header: bool,
        alone: impl FnOnce() -> Option<Result<String, TemplateError>>,
    ) -> Result<Self, DeltaError> {
        match mode {
            RenderedMode::Seed => Ok(seed::delta(change)),
            RenderedMode::Fixed => fixed::delta(change, with_header, alone),
        }
    }

    /// The tokens with their loss mask. The text is tokenized as a whole; the number of untrained header tokens is that
    /// of the header tokenized alone.
    pub fn tokenize(&self, tokenizer: &dyn Tokenizer) -> Result<TokenStrip, TokenizerError> {
        let ids = tokenizer.encode(&self.text)?;
        if !self.is_trained {
            return Ok(TokenStrip::uniform(ids, false));
        }
        let header = match self.text.get(..self.header) {
            None | Some("") => 0,
            Some(header) => tokenizer.encode(header)?.len().min(ids.len()),
        };
        Ok(TokenStrip::with_header(ids, header))
    }
}

/// The modes that compare renderings of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderedMode {
    /// [`MaskMode::Seed`].
    Seed,
    /// [`MaskMode::Fixed`].
    Fixed,
}
