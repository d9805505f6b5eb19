//! Messages about environments that the page plays action by action. A worker holds any number of them.
//!
//! Replies to [`Request::Open`]: [`Event::Started`] if the environment is on a server, then the episode in chunks, or
//! [`Event::Refused`] or [`Event::Lost`]. To [`Request::Step`]: one chunk of one step, or an error event. An
//! environment stays open until it is closed or lost; [`Event::Stopped`] then follows if it was on a server.
//!
//! An environment may need a page, a model or a person meanwhile: [`Event::Question`] asks for it, and the page sends
//! [`Request::Answer`]. The answers belong to the episode: [`Event::Recorded`].

use std::fmt;

use serde::{Deserialize, Serialize};
use volary_core::AnyMessage;
use volary_core::json::{Object, Text};
use volary_episode::Recipe;

use crate::coded;
use crate::envelope::{self, Channel};
use crate::episode::EpisodeChunk;

/// Identifies an environment. The page chooses ids and does not reuse them.
pub type EnvironmentId = u32;

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Open an environment, reset it, and take the actions in order.
    Open {
        /// The id of the new environment.
        environment: EnvironmentId,
        /// The recipe of the environment.
        #[serde(with = "coded")]
        recipe: Recipe,
        /// The actions to replay.
        #[serde(with = "coded")]
        actions: Vec<AnyMessage>,
        /// The servers that may be called for it. No others are.
        servers: Vec<ServerAccess>,
    },
    /// Take an action.
    Step {
        environment: EnvironmentId,
        #[serde(with = "coded")]
        action: AnyMessage,
    },
    /// Close an environment.
    Close {
        /// The environment to close.
        environment: EnvironmentId,
    },
    /// Close every environment except one.
    CloseOthers {
        /// The environment to keep.
        environment: EnvironmentId,
    },
    /// Answer a question of an environment.
    Answer {
        /// The id of the question.
        question: QuestionId,
        /// The answer, or why there is none, for the user.
        answer: Result<Text, Text>,
    },
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Environments;
    type Event = Event;
}

/// Identifies a question. A worker does not reuse ids.
pub type QuestionId = u32;

/// A question of an environment to the world outside the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// The body of a page.
    Page {
        /// Its address.
        url: Text,
    },
    /// The completion of a conversation by a model.
    Model {
        /// The role of the model, such as `customer` or `judge`.
        purpose: Text,
        /// The conversation.
        messages: Vec<ChatLine>,
    },
    /// The answer of a person.
    Person {
        /// The text that the person reads.
        shown: Text,
    },
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatLine {
    /// The role: `system`, `user` or `assistant`.
    pub role: Text,
    pub content: Text,
}

/// The data that a worker needs to call a task dataset server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAccess {
    /// The server's address.
    pub url: Text,
    /// The key, if the server requires one.
    pub key: Option<Text>,
    /// Whether it sends frames; `None` if unknown.
    pub frames: Option<bool>,
}

impl fmt::Debug for ServerAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not derived, so that the key appears in no log.
        formatter
            .debug_struct("ServerAccess")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// An environment was started on a server. Sent before the reset, so that the page can close it without the
    /// worker.
    Started(ServerEnvironment),
    /// An environment was closed on its server.
    Stopped {
        /// The environment's id on its server.
        env_id: Text,
    },
    /// A part of the episode.
    Episode(EpisodeChunk),
    /// The request failed without any effect.
    Refused {
        /// What failed and why, for the user.
        reason: Text,
        /// The invalid key of the configuration, if there is one.
        key: Option<Text>,
        /// Whether other environments can't be played on the server either.
        is_server_lost: bool,
    },
    /// The environment was lost; it is unknown whether it took the action.
    Lost {
        /// What failed and why, for the user.
        reason: Text,
        /// Whether other environments can't be played on the server either.
        is_server_lost: bool,
    },
    /// The worker has no such environment. The request had no effect.
    Gone,
    /// The environment needs an answer before it can continue.
    Question {
        /// The id of the question.
        id: QuestionId,
        question: Question,
    },
    /// The answers that the environment received so far, as members of its configuration: with them, the recipe
    /// replays without questions.
    Recorded {
        #[serde(with = "coded")]
        members: Object,
    },
}

/// An environment on a task dataset server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEnvironment {
    /// The server's address.
    pub url: Text,
    /// The environment's id there.
    pub env_id: Text,
}
