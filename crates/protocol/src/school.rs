//! Messages about the school: a worker trains a small policy, update by update, and answers questions about it.
//!
//! A worker holds one run. It keeps the weights after many updates, so that an earlier policy can be asked too.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;
use volary_school::inspect::ExamRecord;
use volary_school::record::SampleRecord;
use volary_school::{Difficulty, GroupRecord, Knobs, UpdateMetrics};

use crate::envelope::{self, Channel};

/// The bytes of [`volary_school::Run::checkpoint`].
pub type Checkpoint = serde_bytes::ByteBuf;

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Begins a run, which replaces the one before. Its reply is [`Event::Begun`].
    Begin {
        knobs: Knobs,
        /// Continues from these bytes, with the knobs given; `None` begins with the warm start.
        checkpoint: Option<Checkpoint>,
    },
    /// Makes updates until [`Request::Stop`], or this many. Its replies are [`Event::Updated`].
    Train { updates: Option<u32> },
    /// Ends [`Request::Train`] after the current update. It has no reply.
    Stop,
    /// Changes the knobs from the next update on. Its reply is [`Event::Tuned`].
    Tune { knobs: Knobs },
    /// Lets a policy act on a prompt. Its reply is [`Event::Answered`].
    Answer {
        /// The policy after this many updates, or the nearest kept one before it.
        update: u32,
        prompt: Text,
        /// 0 takes the most likely tokens.
        temperature: f32,
        seed: u64,
    },
    /// Tests a policy on new tasks. Its reply is [`Event::Examined`].
    Examine {
        /// As in [`Request::Answer`].
        update: u32,
        difficulty: Difficulty,
        tasks: u32,
    },
    /// Explains a group of the last batch: the first whose rewards differ, or else the first. Its reply is
    /// [`Event::Explained`].
    Explain,
    /// Stores this many groups of the last batch, and of each one that follows, as trajectories of Review; 0 ends it. Its
    /// reply is [`Event::Stored`], once for each batch.
    Store { groups: u32 },
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::School;
    type Event = Event;
}

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A run was begun.
    Begun {
        /// The number of updates that it has behind it.
        updates: u32,
        /// The number of parameters of the policy.
        parameters: u32,
        /// An example of a prompt.
        prompt: Text,
    },
    /// An update was made.
    Updated(Box<Updated>),
    /// The knobs were changed.
    Tuned,
    /// What a policy did with a prompt.
    Answered {
        /// The policy after this many updates answered.
        update: u32,
        sample: Box<SampleRecord>,
    },
    /// How a policy did in an exam.
    Examined {
        /// As in [`Event::Answered`].
        update: u32,
        exam: Box<ExamRecord>,
    },
    Explained(Box<GroupRecord>),
    /// This many trajectories were stored.
    Stored {
        episodes: u32,
    },
    /// Trajectories could not be stored, and no more are; training goes on.
    Unstored {
        reason: Text,
    },
    /// The request could not be carried out.
    Failed {
        /// Why, and what to do, for the user.
        reason: Text,
    },
}

/// An update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    pub metrics: UpdateMetrics,
    /// Some samples of the batch: whole groups.
    pub samples: Vec<SampleRecord>,
    /// From time to time, what [`Request::Begin`] continues from.
    pub checkpoint: Option<Checkpoint>,
}
