//! The text that a message adds to an episode's tokens, and which of it is trained.
//!
//! A [`Delta`] is text with marks, so that it can be shown without a tokenizer; [`Delta::tokenize`] makes tokens and
//! mask of it.

mod fixed;
mod seed;
mod token_in;

use crate::conversation::Change;
use crate::template::TemplateError;
use crate::tokenizer::{Tokenizer, TokenizerError};
use volary_core::TokenStrip;

pub use token_in::{Observation, TokenIn};

/// How tokens and mask of a message are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskMode {
    /// As slime's agent does in its first version: the header of an assistant's message is lost from the second turn on,
    /// and nothing is checked.
    Seed,
    /// As slime's agent does since August 2026: with that header, and an error where a template rewrites history.
    Fixed,
    /// The sampled tokens themselves, and observations rendered apart from the history.
    TokenIn,
}

impl MaskMode {
    /// All of them.
    pub const ALL: [MaskMode; 3] = [MaskMode::Seed, MaskMode::Fixed, MaskMode::TokenIn];

    /// The name, in links and files.
    pub fn name(self) -> &'static str {
        match self {
            MaskMode::Seed => "seed",
            MaskMode::Fixed => "fixed",
            MaskMode::TokenIn => "token_in",
        }
    }

    /// The mode of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        MaskMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The text that a message adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The text.
    pub text: String,
    /// How many bytes at its beginning are a header, which is not trained.
    pub header: usize,
    /// Whether the text after the header is trained.
    pub is_trained: bool,
}

/// Why a message has no delta.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeltaError {
    /// The messages can't be rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The text of the messages before is not the beginning of the new text.
    #[error("The chat template rewrote history: {0}")]
    Rewrote(&'static str),
    /// A message of a user, rendered alone, is not the end of the text.
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
    /// The delta of the last message in one of the two modes that compare renderings. `with_header` asks `fixed` for
    /// the header of an assistant's message; `alone` renders the last message alone.
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

    /// The tokens, and which of them are trained. The text is tokenized as one piece; of a header, as many tokens are
    /// left out of training as it has alone.
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
