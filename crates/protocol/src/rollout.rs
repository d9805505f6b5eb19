//! Messages about rollouts: prompts, replies and tokens. Rendering and tokenizing need a template engine and a
//! tokenizer, which a worker has.
//!
//! The tokenizer's file is attached to every request that names one; the worker reads it if it holds another one. Each
//! request has one reply.

use serde::{Deserialize, Serialize};
use volary_core::json::{Object, Text};

use crate::coded;
use crate::envelope::{self, Channel};

/// What a rollout needs before its first turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RolloutSetup {
    /// The name of a built-in chat template, or Jinja source.
    pub template: Text,
    /// The name of the mode that determines tokens and loss mask.
    pub mask: Text,
    /// Identifies the tokenizer's file; `None` for the toy tokenizer.
    pub tokenizer: Option<Text>,
    /// Whether prompts are sent as tokens.
    pub send_tokens: bool,
    /// The temperature; `None` for the default.
    pub temperature: Option<f64>,
    /// The maximum number of tokens of a turn; `None` for the default.
    pub max_tokens: Option<u32>,
}

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The setup of the rollout.
    pub setup: RolloutSetup,
    /// The episode so far, in the form of `volary_agent::model::sglang::conversation`; for [`RolloutTask::Render`],
    /// `messages` and `tools`.
    #[serde(with = "coded")]
    pub conversation: Object,
    pub task: RolloutTask,
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Rollout;
    type Event = Event;
}

/// A task on a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RolloutTask {
    /// Make the body of a request whose messages belong to no episode.
    Render,
    /// Make the body of the request for the next turn.
    Next,
    /// Find the action in a reply.
    Read {
        /// The body of the reply.
        #[serde(with = "coded")]
        reply: Object,
    },
    /// Record the tokens of all turns.
    Record {
        /// Whether this was the last turn.
        is_over: bool,
    },
}

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The body of a request.
    Body {
        #[serde(with = "coded")]
        body: Object,
    },
    /// The content of a reply.
    Said {
        /// The text around the call, or of a turn without a call.
        text: Text,
        call: Option<RolloutCall>,
    },
    /// The recorded tokens, as members of an episode's raw record.
    Recorded {
        #[serde(with = "coded")]
        members: Object,
    },
    /// The rollout cannot continue.
    Failed {
        /// The reason, for the user.
        reason: Text,
    },
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutCall {
    /// The name of the tool.
    pub name: Text,
    /// The arguments as JSON.
    pub arguments: Text,
}
