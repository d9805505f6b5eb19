//! What the page does for the machine of Ask.

use std::sync::Arc;

use volary_agent::model::ModelRequest;
use volary_ask::RenderOptions;
use volary_ask::cache::AnswerRecord;
use volary_ask::run::RequestId;
use volary_core::json::Text;
use volary_protocol::asking::{AskTerms, SaidReply};

use super::AskScope;
use super::asked::AskedQuestion;
use super::findings::AskFindings;
use super::history::{GivenAnswers, PersonLabels};

/// What the page does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Render and measure trajectories, then report [`Measured`](super::Event::Measured).
    Measure {
        ids: Vec<Text>,
        terms: Box<AskTerms>,
    },
    /// Render a trajectory, then report [`Rendered`](super::Event::Rendered).
    Render {
        row: usize,
        id: Text,
        options: RenderOptions,
    },
    /// Send a request over a connection, then report [`Replied`](super::Event::Replied).
    Send {
        id: RequestId,
        /// The id of the connection.
        connection: Text,
        request: Box<ModelRequest>,
    },
    /// Check a reply, then report [`Checked`](super::Event::Checked).
    Check {
        request: RequestId,
        reply: Box<SaidReply>,
    },
    /// Abort these requests. Later reports about them are ignored.
    Abort(Vec<RequestId>),
    /// Report [`Tick`](super::Event::Tick) at this time, in seconds.
    WakeAt(f64),
    StoreQuestion(Box<AskedQuestion>),
    StoreAnswer {
        /// The id of the question.
        id: Text,
        record: Arc<AnswerRecord>,
    },
    /// Store the answers of a file, with their questions.
    StoreGiven(Box<GivenAnswers>),
    StoreLabels {
        /// The id of the labels.
        labels: Text,
        all: PersonLabels,
    },
    StoreFindings {
        /// The id of the question.
        id: Text,
        findings: Box<AskFindings>,
    },
    /// Delete a question with its answers and findings.
    Forget {
        /// The id of the question.
        id: Text,
        /// The id of labels that no other question has.
        labels: Option<Text>,
    },
    /// Show the answers to a question, or the trajectories of it to label.
    Show {
        id: Text,
        scope: AskScope,
    },
    /// Something that is displayed changed.
    Changed,
}
