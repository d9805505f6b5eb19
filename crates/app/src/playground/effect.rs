//! What the page has to do for the playground.

use volary_core::json::{Object, Text};
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{EnvironmentId, Question, QuestionId, ServerEnvironment};

use super::consent::EpisodeAttempt;
use super::session::Command;
use crate::notice::Notice;

/// An output of the playground. The page carries effects out in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send a command to the worker, which is started if there is none. Report its replies as
    /// [`super::Event::Replied`], or [`super::Event::WorkerLost`].
    Send(Command),
    /// Start a worker unless there is one.
    StartWorker,
    /// End the worker: none of its replies counts any more.
    DropWorker,
    /// Tell the worker to close all environments except one. Report its replies as [`super::Event::Closing`].
    CloseOthers(EnvironmentId),
    /// Close these environments on their servers, without waiting for the result.
    CloseOnServers(Vec<ServerEnvironment>),
    /// Stop Python if the chosen environment runs in it.
    StopPython,
    /// Answer a question of the environment.
    Ask { id: QuestionId, question: Question },

    /// Create the player of the chosen policy for a run. Report [`super::Event::Seated`] or
    /// [`super::Event::NotSeated`].
    Seat { run: u32 },
    /// Ask the player of a run for its decision about the shown episode, which has this number of steps. Report [`super::Event::Decided`].
    Decide { run: u32, steps: usize },
    /// Report [`super::Event::Paused`] after this many seconds.
    Pause { run: u32, seconds: f64 },
    /// Cancel what the player does, and drop it.
    DropPlayer,
    /// Report [`super::Event::StepIsLate`] if a step that was asked to stop takes too long.
    AwaitStep { edition: u32, steps: usize },
    /// Let the user choose who acts.
    ChoosePolicy,
    /// Open the same task again, and report [`super::Event::RunOnceOpened`].
    StartOver,

    /// Fill the form of the configuration for an environment, with defaults if there is no configuration.
    Configure {
        environment: Text,
        configuration: Option<Object>,
    },
    /// Fill the forms of configuration and seed from a recipe.
    ShowRecipe(Recipe),
    /// Fill in the seed.
    ShowSeed(u64),
    /// Open an episode of what the forms of configuration and seed say, if it is valid: [`super::Event::Reset`], or
    /// [`super::Event::Open`] if the environment is not built in.
    Reset,
    /// Do what needs the composed action or the connections of the page: [`EpisodeAttempt::Step`], [`EpisodeAttempt::StepByHand`],
    /// [`EpisodeAttempt::EditLastAction`] or [`EpisodeAttempt::Run`].
    Proceed(EpisodeAttempt),
    /// Show the first episode, which calls nothing, because a question is asked and nothing is shown yet.
    ShowOpening,
    /// Note that the user agreed to run the code of a recipe.
    AgreeToCode(Recipe),
    /// Write the chosen environment into the address, instead of the episode that was declined.
    RestoreAddress,
    /// Adapt the composed action to another episode.
    AdaptAction,
    /// Stop moving along the timeline.
    StopPlayback,
    /// Mark a field of the configuration as invalid.
    RefuseField { key: Text, reason: Text },

    /// Read a stored episode. Report [`super::Event::StoredRead`].
    ReadStored { id: Text },
    /// The stored episode of the address is not in this browser.
    StoredIsMissing,
    /// Write the address of the shown episode now.
    WriteAddress,
    /// Store an episode that was played here.
    Store(Box<Episode>),

    /// Show an error or a warning.
    Alert(Notice),
    /// Say that the user is not connected to a server.
    SayNotConnected(Text),
    /// Say that the code of the environments could not be loaded.
    SayUnloaded,
    /// Show a message that needs no answer; an empty one removes the last.
    Say(Text),
    /// Draw the episode and the state of its session, now or in the next frame.
    Redraw,
    /// Draw that a step is in progress, if it takes long.
    RedrawForStep,
}
