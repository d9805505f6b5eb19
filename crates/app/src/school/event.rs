//! The events and effects of the school.

use volary_core::Text;
use volary_protocol::school as protocol;
use volary_school::{Difficulty, Finding, Knobs, Preset};

use super::{SchoolFact, TrainingOrder};

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum SchoolEvent {
    /// The page was opened with these parameters in its address.
    Open(String),
    Train(TrainingOrder),
    Stop,
    /// Begin again with the warm start.
    Restart,
    /// A person changed knobs.
    Change(Knobs),
    /// A person planted a failure: the run begins again with it.
    Plant(Preset),
    /// A person chose the repair of what was found. The run goes on with it.
    Repair(Finding),
    /// Look at an update; `None` for the latest.
    Select(Option<u32>),
    /// Let the policies of several updates act on a prompt.
    Ask {
        prompt: String,
    },
    /// Test the policy of the selected update.
    Examine(Difficulty),
    /// Make one update, and explain a group of its batch.
    Slowly,
    /// Store this many groups of each update for Review.
    Store(u32),
    /// Draw a task that a person and the policy answer.
    Challenge,
    /// A person's turn in it.
    PlayTurn(String),
    /// A person opened files with the work of a class. It teaches the warm start.
    TakeClass(Vec<protocol::ClassFile>),
    /// Teach without the work of a pupil.
    LeaveOut(Text),
    /// Begin again with the warm start of a result, by its index; `None` for that of the program.
    UseTaught(Option<usize>),
    /// Close the notice.
    Dismiss,
    /// The worker replied to a call of a run.
    Replied {
        run: u32,
        event: protocol::Event,
    },
    /// The worker made all updates that it was asked for.
    TrainingEnded {
        run: u32,
    },
    /// The worker of a run is lost.
    Lost {
        run: u32,
        reason: String,
    },
}

/// What the page does.
#[derive(Clone, Debug, PartialEq)]
pub enum SchoolEffect {
    /// Start a worker for the school, instead of the one before.
    StartWorker,
    /// Send a request, and report its replies with the number of the run.
    Call {
        run: u32,
        request: protocol::Request,
    },
    /// Something happened in a run that began with these parameters of the address.
    Happened { began: String, fact: SchoolFact },
    /// Write these parameters into the address.
    WriteAddress(String),
}
