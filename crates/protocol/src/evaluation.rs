//! Messages about cells of an evaluation that a worker plays without the page. (The page calls models itself, and
//! plays their environments through [`crate::environments`].)
//!
//! Replies to [`Request::Play`]: batches of [`Event::Played`], and [`Event::NotStarted`] for cells that were not started
//! in time.
//!
//! An environment may need a page or a model meanwhile: [`Event::Question`] asks for it, and the page sends
//! [`Request::Answer`].

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use volary_agent::evaluation::{Actor, CellResult, Job};
use volary_core::json::Text;
use volary_episode::Recipe;

use crate::coded;
use crate::envelope::{self, Channel};
use crate::environments::{Question, QuestionId, ServerAccess, ServerEnvironment};

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Play these cells, concurrently while they wait.
    Play {
        /// The cells.
        #[serde(with = "jobs")]
        jobs: Vec<Job>,
        /// The servers that may be called for them. No others are.
        servers: Vec<ServerAccess>,
    },
    /// Answer a question of an environment.
    Answer {
        /// The id of the question.
        question: QuestionId,
        /// The answer, or why there is none, for the user.
        answer: Result<Text, Text>,
    },
    /// Start no more cells and close every environment. The replies end when that is done.
    Shutdown,
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Evaluation;
    type Event = Event;
}

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// An environment was started on a server.
    Started(ServerEnvironment),
    /// An environment was closed on its server.
    Stopped {
        /// The environment's id on its server.
        env_id: Text,
    },
    /// Cells were played. The texts to store are attached; the page only passes them on.
    Played {
        /// Their results.
        #[serde(with = "coded")]
        results: Vec<CellResult>,
    },
    /// An environment needs an answer before it can continue.
    Question {
        /// The id of the question.
        id: QuestionId,
        question: Question,
    },
    /// Cells that were not started in time.
    NotStarted { cells: Vec<usize> },
}

/// [`Job`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Job")]
struct JobFields {
    cell: usize,
    episode: Text,
    name: Text,
    #[serde(with = "coded")]
    recipe: Recipe,
    #[serde(with = "coded")]
    actor: Actor,
    policy_seed: u64,
    max_steps: usize,
    evaluation: Text,
    run: Text,
    attempts: u32,
}

mod jobs {
    use super::*;

    #[derive(Serialize)]
    struct Borrowed<'a>(#[serde(with = "JobFields")] &'a Job);

    #[derive(Deserialize)]
    struct Owned(#[serde(with = "JobFields")] Job);

    pub(super) fn serialize<S: Serializer>(jobs: &[Job], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(jobs.iter().map(Borrowed))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Job>, D::Error> {
        let jobs = Vec::<Owned>::deserialize(deserializer)?;
        Ok(jobs.into_iter().map(|Owned(job)| job).collect())
    }
}
