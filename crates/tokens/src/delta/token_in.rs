//! Mode `token_in`: the tokens that the model sampled, and observations rendered separately from the history.
//!
//! Nothing is tokenized twice, so the tokens of an episode are exactly those that the model received and sampled.

use volary_core::Json;

use super::{Delta, DeltaError};
use crate::conversation::{ChatMessage, ChatRole};
use crate::template::{ChatTemplate, RenderInput};
use crate::tokenizer::{TokenId, Tokenizer, TokenizerError};
use volary_core::TokenStrip;

/// A placeholder for the assistant's text, after which the observation begins.
const SENTINEL: &str = "volary-sentinel-5c1f";

/// The position of an observation in the episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The episode continues: the header of the next turn follows.
    Continues,
    /// It is the last message.
    Closes,
}

/// Assembles the tokens of turns and observations.
#[derive(Clone, Copy, Debug)]
pub struct TokenIn<'a> {
    pub template: &'a ChatTemplate,
    /// The text of the token that ends a turn.
    pub end: &'a str,
}

impl TokenIn<'_> {
    /// The tokens of a sampled turn. If the end-of-turn token is missing, as after a cut, it is appended untrained.
    pub fn turn(
        &self,
        tokenizer: &dyn Tokenizer,
        sampled: &[TokenId],
    ) -> Result<TokenStrip, TokenizerError> {
        let mut strip = TokenStrip::uniform(sampled.to_vec(), true);
        let end = tokenizer.encode(self.end)?;
        if !sampled.ends_with(&end) {
            strip.extend(&TokenStrip::uniform(end, false));
        }
        Ok(strip)
    }

    /// The text that an observation adds after a turn: everything after the end of the turn.
    pub fn observation(
        &self,
        message: &ChatMessage,
        observation: Observation,
    ) -> Result<Delta, DeltaError> {
        let messages: Vec<Json> = [
            ChatMessage::new(ChatRole::System, "s"),
            ChatMessage::new(ChatRole::User, "u"),
            ChatMessage::new(ChatRole::Assistant, SENTINEL),
            message.clone(),
        ]
        .iter()
        .map(ChatMessage::to_json)
        .collect();
        let text = self.template.render(&RenderInput {
            messages: &messages,
            add_generation_prompt: observation == Observation::Continues,
            ..RenderInput::default()
        })?;
        // The first occurrence: the observation may contain anything, the two messages before contain no sentinel.
        let (_, after) = text.split_once(SENTINEL).ok_or(DeltaError::NoSentinel)?;
        let (_, added) = after.split_once(self.end).ok_or(DeltaError::NoSentinel)?;
        Ok(Delta {
            text: added.to_owned(),
            header: 0,
            is_trained: false,
        })
    }
}
