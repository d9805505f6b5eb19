//! Mode `token_in`: the tokens that the model sampled, and observations rendered apart from the history.
//!
//! Nothing is tokenized twice, so the tokens of an episode are exactly those that the model saw and wrote.

use volary_core::Json;

use super::{Delta, DeltaError};
use crate::conversation::{ChatMessage, ChatRole};
use crate::template::{ChatTemplate, RenderInput};
use crate::tokenizer::{TokenId, Tokenizer, TokenizerError};
use volary_core::TokenStrip;

/// Stands for what the assistant said, so that the text after it can be found.
const SENTINEL: &str = "volary-sentinel-5c1f";

/// What an observation adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The episode goes on: the header of the next turn follows.
    Continues,
    /// It is the last message.
    Closes,
}

/// How tokens of turns and observations are put together.
#[derive(Clone, Copy, Debug)]
pub struct TokenIn<'a> {
    /// The template.
    pub template: &'a ChatTemplate,
    /// The text of the token that ends a turn.
    pub end: &'a str,
}

impl TokenIn<'_> {
    /// The tokens of a sampled turn. If the token that ends a turn is missing, as after a cut, it is added untrained.
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

    /// The text that an observation adds after a turn: all that follows the end of the turn.
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
        // The first occurrence: the observation may hold anything, the two messages before hold no sentinel.
        let (_, after) = text.split_once(SENTINEL).ok_or(DeltaError::NoSentinel)?;
        let (_, added) = after.split_once(self.end).ok_or(DeltaError::NoSentinel)?;
        Ok(Delta {
            text: added.to_owned(),
            header: 0,
            is_trained: false,
        })
    }
}
