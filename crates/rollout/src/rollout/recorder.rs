//! Records messages and tokens of an episode.

use std::rc::Rc;

use volary_core::{Json, Object, Text};
use volary_tokens::delta::{Observation, TokenIn};
use volary_tokens::{
    ChatMessage, ChatRole, ChatTemplate, Conversation, Delta, MaskMode, RenderedMode, TokenId,
    TokenStrip, Tokenizer, TokenizerError,
};

use super::{END_OF_TURN, merge};
use crate::export::LOG_PROBS;
use crate::result::{InteractionResult, StopReason};
use crate::sglang::GenerateReply;

/// Records an episode. Each message is recorded before its tokens are computed, so an error there preserves it.
pub(crate) struct Recorder {
    conversation: Conversation,
    mode: MaskMode,
    tokenizer: Rc<dyn Tokenizer>,
    result: InteractionResult,
}

impl Recorder {
    pub(crate) fn new(
        template: Rc<ChatTemplate>,
        mode: MaskMode,
        tokenizer: Rc<dyn Tokenizer>,
    ) -> Self {
        Recorder {
            conversation: Conversation::new(template),
            mode,
            tokenizer,
            result: InteractionResult::default(),
        }
    }

    pub(crate) fn result(&self) -> &InteractionResult {
        &self.result
    }

    pub(crate) fn into_result(self) -> InteractionResult {
        self.result
    }

    /// Records the messages before the first turn.
    pub(crate) fn begin(&mut self, system: Option<ChatMessage>, user: ChatMessage, info: Object) {
        for message in system.into_iter().chain([user]) {
            self.conversation.push(message.clone());
            self.result.messages.push(message);
        }
        self.result.info = info;
    }

    pub(crate) fn set_prompt(&mut self, prompt: String) -> Result<(), StopReason> {
        self.result.prompt_ids = self.encode(&prompt)?;
        self.result.prompt = prompt;
        Ok(())
    }

    pub(crate) fn mark_reconstructed(&mut self) {
        self.result.is_reconstructed = true;
    }

    pub(crate) fn note_cut(&mut self, turn: usize) {
        self.result.cut_turns.push(turn);
    }

    pub(crate) fn note_version(&mut self, version: Option<Text>) {
        self.result.weight_versions.extend(version);
    }

    pub(crate) fn note_outcome(&mut self, reward: f64, info: &Object) {
        self.result.reward = reward;
        merge(&mut self.result.info, info);
    }

    pub(crate) fn stop(&mut self, reason: StopReason) {
        self.result.stop_reason = Some(reason);
    }

    /// Renders all messages and the header of the next turn.
    pub(crate) fn render(&self, tools: &[Json]) -> Result<String, StopReason> {
        self.conversation
            .render(tools, true)
            .map_err(|error| StopReason::Template(error.to_string().into()))
    }

    pub(crate) fn encode(&self, text: &str) -> Result<Vec<TokenId>, StopReason> {
        self.tokenizer.encode(text).map_err(untokenizable)
    }

    /// Records a turn of the assistant.
    pub(crate) fn record_turn(
        &mut self,
        said: Text,
        reply: &GenerateReply,
    ) -> Result<(), StopReason> {
        let message = ChatMessage::new(ChatRole::Assistant, said);
        let mut strip = match self.mode {
            MaskMode::Seed => self.compare(message, RenderedMode::Seed)?,
            MaskMode::Fixed => self.compare(message, RenderedMode::Fixed)?,
            MaskMode::TokenIn => {
                self.conversation.push(message.clone());
                self.result.messages.push(message);
                let sampled = self.sampled(reply)?;
                self.token_in()
                    .turn(&*self.tokenizer, &sampled)
                    .map_err(untokenizable)?
            }
        };
        if let Some(stream) = log_probs(&strip, reply) {
            // The stream has the right length.
            let _ = strip.set_stream(LOG_PROBS, stream);
        }
        self.result.strips.push(strip);
        Ok(())
    }

    /// Records a turn of which only the text is known.
    pub(crate) fn record_text(&mut self, said: Text) -> Result<(), StopReason> {
        let text = format!("{said}{END_OF_TURN}");
        let reply = GenerateReply {
            output_ids: match self.mode {
                MaskMode::TokenIn => Some(self.encode(&text)?),
                MaskMode::Seed | MaskMode::Fixed => None,
            },
            text: text.into(),
            finish_reason: crate::sglang::FinishReason::Stop,
            logprobs: None,
            weight_version: None,
        };
        self.record_turn(said, &reply)
    }

    pub(crate) fn record_observation(
        &mut self,
        message: ChatMessage,
        is_last: bool,
    ) -> Result<(), StopReason> {
        let strip = match self.mode {
            MaskMode::Seed => self.compare(message, RenderedMode::Seed)?,
            MaskMode::Fixed => self.compare(message, RenderedMode::Fixed)?,
            MaskMode::TokenIn => {
                self.conversation.push(message.clone());
                self.result.messages.push(message.clone());
                let observation = if is_last {
                    Observation::Closes
                } else {
                    Observation::Continues
                };
                let delta = self.token_in().observation(&message, observation);
                self.tokenize(&delta.map_err(|error| untemplated(&error))?)?
            }
        };
        self.result.strips.push(strip);
        Ok(())
    }

    /// The tokens that a message adds, by comparing renderings.
    fn compare(
        &mut self,
        message: ChatMessage,
        mode: RenderedMode,
    ) -> Result<TokenStrip, StopReason> {
        self.result.messages.push(message.clone());
        let with_header = self.result.strips.iter().any(|strip| !strip.is_empty());
        let delta = self
            .conversation
            .push_for_delta(message, mode, with_header)
            .map_err(|error| untemplated(&error))?;
        self.tokenize(&delta)
    }

    fn tokenize(&self, delta: &Delta) -> Result<TokenStrip, StopReason> {
        delta.tokenize(&*self.tokenizer).map_err(untokenizable)
    }

    fn token_in(&self) -> TokenIn<'_> {
        TokenIn {
            template: self.conversation.template(),
            end: END_OF_TURN,
        }
    }

    /// The sampled tokens; those of the text if the server returns none or the tokenizer differs from the model's.
    fn sampled(&self, reply: &GenerateReply) -> Result<Vec<TokenId>, StopReason> {
        match reply.sampled().filter(|_| !self.result.is_reconstructed) {
            None => self.encode(&reply.text),
            Some(sampled) => {
                self.check(reply)?;
                Ok(sampled)
            }
        }
    }

    /// Fails if the sampled tokens do not decode to the server's text: the server has another tokenizer.
    pub(crate) fn check(&self, reply: &GenerateReply) -> Result<(), StopReason> {
        let Some(sampled) = reply.sampled().filter(|_| !self.result.is_reconstructed) else {
            return Ok(());
        };
        let other = |why: String| {
            let reason = format!("{why}; the tokenizer is another model's");
            StopReason::Reply(reason.into())
        };
        let bytes = self.tokenizer.decode(&sampled);
        let bytes = bytes.map_err(|error| other(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes);
        // A server may omit the end mark from its text.
        let is_same = *text == *reply.text || text.strip_suffix(END_OF_TURN) == Some(&reply.text);
        if is_same {
            Ok(())
        } else {
            Err(other("its tokens do not decode to its text".to_owned()))
        }
    }
}

/// The log probabilities of a turn, if its trained tokens are exactly the sampled ones.
fn log_probs(strip: &TokenStrip, reply: &GenerateReply) -> Option<Vec<Option<f64>>> {
    let given = reply.logprobs.as_ref()?;
    let first = strip.mask().iter().position(|is_trained| *is_trained)?;
    let sampled = strip.ids().get(first..first.checked_add(given.len())?)?;
    if !sampled.iter().eq(given.iter().map(|(_, id)| id)) {
        return None;
    }
    let mut stream = vec![None; strip.len()];
    for (slot, (probability, _)) in stream.iter_mut().skip(first).zip(given) {
        *slot = *probability;
    }
    Some(stream)
}

fn untokenizable(error: TokenizerError) -> StopReason {
    StopReason::Tokenizer(error.to_string().into())
}

fn untemplated(error: &impl ToString) -> StopReason {
    StopReason::Template(error.to_string().into())
}
