//! What happens to the machine of Ask.

use std::sync::Arc;

use volary_agent::model::ModelError;
use volary_agent::model::limits::Budget;
use volary_ask::Rendered;
use volary_ask::cache::AnswerRecord;
use volary_ask::run::{CheckedReply, ModelReply, RequestId};
use volary_core::json::Text;
use volary_protocol::asking::MeasuredTexts;

use super::asked::{AskSetup, ModelFacts};
use super::findings::AskFindings;
use super::history::AskHistory;

/// A trajectory of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskRow {
    /// The id of the episode.
    pub id: Text,
    pub name: Text,
}

/// Which trajectories of a question are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskScope {
    All,
    /// Those that a person labels first.
    Calibration,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// What earlier visits stored was read.
    Read(Box<AskHistory>),
    /// A file has answers, which the page stores or not.
    Given {
        records: Vec<AnswerRecord>,
        is_kept: bool,
    },
    /// The user wants to know what a question will cost.
    Plan {
        setup: Box<AskSetup>,
        facts: ModelFacts,
        rows: Vec<AskRow>,
    },
    /// The progress of the plan, for the user.
    Measuring(Text),
    /// The texts of the plan were measured, or could not be.
    Measured(Result<MeasuredTexts, Text>),
    /// The question or the trajectories changed, so the plan is void.
    DropPlan,
    /// Store the planned question under a name and ask it.
    Ask {
        name: Text,
        /// The question whose labels it keeps.
        former: Option<Text>,
    },
    /// Store the planned question, of which a person labels some trajectories first.
    Calibrate {
        name: Text,
        former: Option<Text>,
        /// The ids of these trajectories.
        rows: Vec<Text>,
    },
    /// Label some trajectories of a stored question.
    SetCalibration {
        id: Text,
        rows: Vec<Text>,
    },
    /// Ask a stored question, or go on.
    Resume {
        id: Text,
        facts: ModelFacts,
        scope: AskScope,
        /// The names of the trajectories, as far as the table has them.
        names: Vec<AskRow>,
    },
    Pause,
    Stop,
    SetBudget {
        id: Text,
        budget: Budget,
    },
    /// A trajectory was rendered.
    Rendered {
        row: usize,
        rendered: Result<Arc<Rendered>, Text>,
    },
    Replied {
        request: RequestId,
        reply: Result<ModelReply, ModelError>,
    },
    Checked {
        request: RequestId,
        checked: Result<CheckedReply, Text>,
    },
    /// The time of [`WakeAt`](super::Effect::WakeAt) has come.
    Tick,
    /// A person labels a trajectory, or takes the label away.
    Label {
        id: Text,
        episode: Text,
        label: Option<Text>,
    },
    /// A model wrote findings.
    Found {
        id: Text,
        findings: AskFindings,
    },
    /// Delete a question with its answers.
    Forget(Text),
}
