//! Compares the recorded tokens with a rendering and tokenization of the whole history.

use volary_tokens::{Conversation, TokenId, Tokenizer, tool_instruction};

use crate::result::{InteractionResult, StopReason};
use crate::rollout::RolloutSettings;

/// The first difference between the recorded tokens and the whole history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The index of the first token that differs.
    pub index: usize,
    /// The recorded token; `None` past the end.
    pub recorded: Option<TokenId>,
    /// The token of the rendered history; `None` past the end.
    pub rendered: Option<TokenId>,
}

/// The first difference between recorded tokens and those of the whole history; `None` if there is none.
pub fn drift(
    result: &InteractionResult,
    settings: &RolloutSettings,
    tokenizer: &dyn Tokenizer,
) -> Result<Option<Drift>, StopReason> {
    let mut conversation = Conversation::new(settings.template.clone());
    for message in &result.messages {
        conversation.push(message.clone());
    }
    let text = conversation
        .render(&settings.tools, false)
        .map_err(|error| StopReason::Template(error.to_string().into()))?;
    let text = tool_instruction::replace(&text, &settings.tool_instruction);
    let rendered = tokenizer
        .encode(&text)
        .map_err(|error| StopReason::Tokenizer(error.to_string().into()))?;
    let (recorded, _) = result.tokens_and_mask();
    let longest = recorded.len().max(rendered.len());
    let index = (0..longest).find(|index| recorded.get(*index) != rendered.get(*index));
    Ok(index.map(|index| Drift {
        index,
        recorded: recorded.get(index).copied(),
        rendered: rendered.get(index).copied(),
    }))
}
