//! What the driver of the session keeps from one effect to the next.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

use futures_util::future::AbortHandle;
use volary_app::playground::Event;
use volary_app::playground::redraw::RedrawThrottle;
use volary_browser::timers::Alarm;
use volary_browser::worker_client::WorkerClient;

use super::answer_questions::AnswerQuestions;
use super::player::Player;

/// What the effects need from one to the next.
#[derive(Default)]
pub struct DriverState {
    pub(crate) worker: Option<WorkerClient>,
    /// The player of the current run, unless it is deciding.
    pub(crate) player: Option<(u32, Box<dyn Player>)>,
    /// Cancels the player's current work.
    pub(crate) abort: Option<AbortHandle>,
    /// Answers the questions of the worker.
    pub(crate) questions: Option<Rc<dyn AnswerQuestions>>,
    /// The tasks that wait until no operation is in progress.
    pub(crate) waiting: Vec<Waker>,
    pub(crate) redraws: RedrawThrottle,
    /// Fires when a step is slow.
    pub(crate) late: Option<Alarm>,
    /// Events that arrived while another one is handled.
    pub(crate) events: VecDeque<Event>,
    pub(crate) is_handling: bool,
}
