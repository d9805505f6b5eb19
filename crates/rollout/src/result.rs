//! What a rollout recorded, and how it ended.

use std::collections::BTreeMap;

use volary_core::{Json, Object, Text, json};
use volary_tokens::{ChatMessage, ChatRole, TokenId, TokenStrip};

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The environment says that it is over.
    Completed,
    /// It took as many turns as it may.
    Truncated,
    /// The server gave up, a completion could not be parsed, or the environment failed. slime goes on from these.
    Aborted,
    /// Something failed that stops slime's run: a server that can't be reached, a template that rewrites history.
    Failed,
}

impl Status {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Status::Completed => "completed",
            Status::Truncated => "truncated",
            Status::Aborted => "aborted",
            Status::Failed => "failed",
        }
    }
}

/// Why an episode ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopReason {
    /// The environment is done.
    #[error("The environment is done.")]
    Done,
    /// The limit of turns was reached.
    #[error("The limit of turns was reached: {0}.")]
    MaxSteps(usize),
    /// The server gave the request up.
    #[error("The server aborted the generation: {0}")]
    ServerAbort(Text),
    /// A turn reached its most tokens, where that ends the episode.
    #[error("The turn was cut because it reached the maximum number of tokens.")]
    Cut,
    /// Tool calls in the completion make the parse fail.
    #[error("The completion can't be parsed: {0}")]
    Parser(Text),
    /// The environment failed in a step.
    #[error("The environment failed: {0}")]
    Environment(Text),
    /// The environment could not be reset.
    #[error("The environment could not be reset: {0}")]
    Reset(Text),
    /// The model could not be asked.
    #[error("The model could not be asked: {0}")]
    Transport(Text),
    /// The model's answer can't be used.
    #[error("The model's answer can't be used: {0}")]
    Reply(Text),
    /// The messages can't be rendered, or not so that a turn adds to what was before.
    #[error("{0}")]
    Template(Text),
    /// The text can't be tokenized.
    #[error("{0}")]
    Tokenizer(Text),
    /// No turn is permitted.
    #[error("At least one turn must be permitted.")]
    NoTurns,
    /// The user stopped it.
    #[error("It was stopped.")]
    Cancelled,
}

impl StopReason {
    /// The status that goes with it.
    pub fn status(&self) -> Status {
        match self {
            StopReason::Done => Status::Completed,
            StopReason::MaxSteps(_) | StopReason::Cut => Status::Truncated,
            StopReason::ServerAbort(_)
            | StopReason::Parser(_)
            | StopReason::Environment(_)
            | StopReason::Cancelled => Status::Aborted,
            StopReason::Reset(_)
            | StopReason::Transport(_)
            | StopReason::Reply(_)
            | StopReason::Template(_)
            | StopReason::Tokenizer(_)
            | StopReason::NoTurns => Status::Failed,
        }
    }
}

/// What a rollout recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InteractionResult {
    /// The first prompt, as it was sent.
    pub prompt: String,
    /// Its tokens.
    pub prompt_ids: Vec<TokenId>,
    /// The reward that the environment gave last.
    pub reward: f64,
    /// The messages: system, user, and then those with tokens.
    pub messages: Vec<ChatMessage>,
    /// The tokens of each message after the first two. Of a turn that failed half-way they may be missing.
    pub strips: Vec<TokenStrip>,
    /// What the environment said about the task.
    pub info: Object,
    /// Why it ended; `None` while it goes on.
    pub stop_reason: Option<StopReason>,
    /// The turns that were cut because they reached their most tokens, counted from 0.
    pub cut_turns: Vec<usize>,
    /// Whether tokens were made from text afterwards, instead of being those that the model saw.
    pub is_reconstructed: bool,
    /// The version of the weights of each turn, where the server says it.
    pub weight_versions: Vec<Text>,
}

impl InteractionResult {
    /// How it ended; an episode that goes on counts as aborted.
    pub fn status(&self) -> Status {
        self.stop_reason
            .as_ref()
            .map_or(Status::Aborted, StopReason::status)
    }

    /// What the assistant said, without anything between.
    pub fn response(&self) -> String {
        let said = self.messages.iter();
        said.filter(|message| message.role == ChatRole::Assistant)
            .map(|message| &*message.content)
            .collect()
    }

    /// The tokens after the prompt, with mask and streams.
    pub fn response_strip(&self) -> TokenStrip {
        let mut whole = TokenStrip::default();
        self.strips.iter().for_each(|strip| whole.extend(strip));
        whole
    }

    /// All tokens, and for each one after the prompt whether it is trained.
    pub fn tokens_and_mask(&self) -> (Vec<TokenId>, Vec<bool>) {
        let response = self.response_strip();
        let mut tokens = self.prompt_ids.clone();
        tokens.extend_from_slice(response.ids());
        (tokens, response.mask().to_vec())
    }

    /// The record with the keys of slime's `InteractionResult`.
    pub fn to_json(&self) -> Json {
        let (tokens, mask) = self.tokens_and_mask();
        let length = i64::try_from(mask.len()).unwrap_or(i64::MAX);
        json!({
            "prompt": (self.prompt.clone()),
            "status": (self.status().name()),
            "reward": (self.reward),
            "messages": (self.messages_json()),
            "info": (self.info.clone()),
            "response": (self.response()),
            "response_length": length,
            "loss_mask": (mask.into_iter().map(i64::from).collect::<Vec<_>>()),
            "tokens": tokens
        })
    }

    /// The messages on the wire.
    pub fn messages_json(&self) -> Vec<Json> {
        self.messages.iter().map(ChatMessage::to_json).collect()
    }

    /// Streams of numbers over the tokens after the prompt.
    pub fn streams(&self) -> BTreeMap<Text, Vec<Option<f64>>> {
        self.response_strip().streams().clone()
    }
}
