//! Prompts, replies and tokens of rollouts: rendering and tokenizing takes a template engine and a tokenizer, which a
//! worker has.
//!
//! The tokenizer's file is attached to every request that names one; the worker reads it when it has another. Each
//! request has one reply.

use serde::{Deserialize, Serialize};
use volary_core::json::{Object, Text};

use crate::coded;
use crate::envelope::{self, Channel};

/// How a rollout is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The name of a built-in chat template, or a Jinja text.
    pub template: Text,
    /// How tokens and loss mask are found.
    pub mask: Text,
    /// What identifies the tokenizer's file; `None` for the toy tokenizer.
    pub tokenizer: Option<Text>,
    /// Whether prompts are sent as tokens.
    pub send_tokens: bool,
    /// The temperature, unless it is the usual one.
    pub temperature: Option<f64>,
    /// The most tokens of a turn, unless they are the usual number.
    pub max_tokens: Option<u32>,
}

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// How the rollout is done.
    pub setup: Setup,
    /// The episode so far, as `volary_agent::model::sglang::conversation` has it; for [`Task::Render`], `messages` and
    /// `tools`.
    #[serde(with = "coded")]
    pub conversation: Object,
    /// What to do with it.
    pub task: Task,
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Rollout;
    type Event = Event;
}

/// What to do with a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
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
        /// Whether no turn follows.
        is_over: bool,
    },
}

/// What the worker replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The body of a request.
    Body {
        /// The body.
        #[serde(with = "coded")]
        body: Object,
    },
    /// What a reply says.
    Said {
        /// The text around the call, or of a turn without one.
        text: Text,
        /// The call.
        call: Option<Call>,
    },
    /// What was recorded, as members of an episode's raw record.
    Recorded {
        /// The members.
        #[serde(with = "coded")]
        members: Object,
    },
    /// The rollout can't go on.
    Failed {
        /// Why, for people.
        reason: Text,
    },
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The tool.
    pub name: Text,
    /// The arguments as JSON.
    pub arguments: Text,
}
