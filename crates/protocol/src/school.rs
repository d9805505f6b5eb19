//! Messages about the school: a worker trains a small policy, update by update, and answers questions about it.
//!
//! A worker holds one run. It keeps the weights after many updates, so that an earlier policy can be asked too.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;
use volary_school::classwork::LeftOut;
use volary_school::inspect::ExamRecord;
use volary_school::record::SampleRecord;
use volary_school::{Difficulty, GroupRecord, Knobs, UpdateMetrics};

use crate::envelope::{self, Channel};

/// The bytes of [`volary_school::Run::checkpoint`].
pub type Checkpoint = serde_bytes::ByteBuf;

/// A warm start with 8 bits a weight, as [`volary_school::policy::file::write_8_bit`] writes it.
pub type WarmStartBytes = serde_bytes::ByteBuf;

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Begins a run, which replaces the one before. Its reply is [`Event::Started`].
    Begin {
        knobs: Knobs,
        /// Continues from these bytes, with the knobs given; `None` begins with the warm start.
        checkpoint: Option<Checkpoint>,
        /// The warm start of [`Event::Taught`]; `None` for the one that comes with the program.
        warm_start: Option<WarmStartBytes>,
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
    /// Draws the task with a number. Its reply is [`Event::Drawn`].
    Draw { number: u32 },
    /// Plays the turns of a person, from the first one. Its reply is [`Event::Played`].
    Play {
        prompt: Text,
        turns: Vec<Text>,
        /// The policy that answers the same task once the person's episode is over; as in [`Request::Answer`].
        update: u32,
    },
    /// Teaches the warm start by the work of a class, and tests it before and after. Its reply is [`Event::Taught`].
    Teach {
        files: Vec<ClassFile>,
        /// The pupil whose work is left out.
        without: Option<Text>,
    },
}

/// A file with a hand-in, or with episodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassFile {
    pub name: Text,
    pub text: Text,
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::School;
    type Event = Event;
}

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A run has started.
    Started {
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
    /// A task was drawn.
    Drawn {
        number: u32,
        prompt: Text,
    },
    /// What a person did so far.
    Played {
        person: Box<SampleRecord>,
        is_over: bool,
        /// Once it is over: the policy after this many updates, and what it did.
        policy: Option<(u32, Box<SampleRecord>)>,
    },
    /// A turn of a person is none; the episode is as it was before.
    Refused {
        reason: Text,
    },
    /// The class taught the warm start.
    Taught(Box<Taught>),
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

/// What a class did to the warm start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taught {
    /// The pupil whose work was left out.
    pub without: Option<Text>,
    /// The pupils with work that fits, and the number of their examples.
    pub pupils: Vec<(Text, u32)>,
    pub left_out: Vec<LeftOut>,
    /// The number of examples that taught.
    pub examples: u32,
    /// The number of tasks of the exams.
    pub tasks: u32,
    /// The share of them that the warm start of the program solved, and that the taught one solved.
    pub before: f64,
    pub success: f64,
    pub warm_start: WarmStartBytes,
}
