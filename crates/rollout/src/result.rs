//! The recording of a rollout, and how it ended.

use std::collections::BTreeMap;

use volary_core::{Json, Object, Text, TokenStream, json};
use volary_tokens::{ChatMessage, ChatRole, TokenId, TokenStrip};

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The environment ended the episode.
    Completed,
    /// The episode reached its limit of turns.
    Truncated,
    /// The server aborted, a completion could not be parsed, or the environment failed. slime's run continues.
    Aborted,
    /// A failure that stops slime's run: a server that can't be reached, a template that rewrites history.
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
    /// The server aborted the request.
    #[error("The server aborted the generation: {0}")]
    ServerAbort(Text),
    /// A turn reached its token limit, with a setting that ends the episode then.
    #[error("The turn was cut because it reached the maximum number of tokens.")]
    Cut,
    /// The tool parser failed on the completion.
    #[error("The completion can't be parsed: {0}")]
    Parser(Text),
    /// The environment failed in a step.
    #[error("The environment failed: {0}")]
    Environment(Text),
    /// The environment could not be reset.
    #[error("The environment could not be reset: {0}")]
    Reset(Text),
    /// The request to the model failed.
    #[error("The model could not be asked: {0}")]
    Transport(Text),
    /// The model's answer is malformed.
    #[error("The model's answer can't be used: {0}")]
    Reply(Text),
    /// The messages cannot be rendered, or a turn does not extend the previous text.
    #[error("{0}")]
    Template(Text),
    /// The text cannot be tokenized.
    #[error("{0}")]
    Tokenizer(Text),
    /// The limit of turns is zero.
    #[error("At least one turn must be permitted.")]
    NoTurns,
    /// The user cancelled it.
    #[error("It was stopped.")]
    Cancelled,
}

impl StopReason {
    /// The corresponding status.
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

/// The recording of a rollout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InteractionResult {
    /// The first prompt, as it was sent.
    pub prompt: String,
    /// Its tokens.
    pub prompt_ids: Vec<TokenId>,
    /// The latest reward of the environment.
    pub reward: f64,
    /// The messages: system, user, and then those with tokens.
    pub messages: Vec<ChatMessage>,
    /// The tokens of each message after the first two. They may be missing for a turn that failed half-way.
    pub strips: Vec<TokenStrip>,
    /// The environment's information about the task.
    pub info: Object,
    /// Why it ended; `None` while it runs.
    pub stop_reason: Option<StopReason>,
    /// The turns that were cut at their token limit, counted from 0.
    pub cut_turns: Vec<usize>,
    /// Whether tokens were reconstructed from text instead of recorded from the model.
    pub is_reconstructed: bool,
    /// The version of the weights of each turn, if the server reports it.
    pub weight_versions: Vec<Text>,
}

impl InteractionResult {
    /// How it ended; an unfinished episode counts as aborted.
    pub fn status(&self) -> Status {
        self.stop_reason
            .as_ref()
            .map_or(Status::Aborted, StopReason::status)
    }

    /// The assistant's texts, joined without a separator.
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

    /// All tokens, and the loss mask of those after the prompt.
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
    pub fn streams(&self) -> BTreeMap<Text, TokenStream> {
        self.response_strip().streams().clone()
    }
}
