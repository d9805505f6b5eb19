//! What happens to the playground.

use volary_core::AnyMessage;
use volary_core::json::{Json, Object, Text};
use volary_episode::{Episode, Recipe};
use volary_protocol::WorkerLoss;
use volary_protocol::environments::{EnvironmentId, Event as WorkerEvent};

use super::consent::{EpisodeAttempt, PlannedEpisode};
use super::known::KnownEnvironments;
use super::player_move::Move;
use super::policy::PolicyKind;
use super::run_choice::ActingParty;
use super::tasks::{TaskPlace, TaskSource};
use crate::python::files;

/// An input of the playground: of the user, the worker, a player or the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Other environments can be opened.
    Known(KnownEnvironments),
    /// Other task lists are available.
    Sources(Vec<TaskSource>),
    /// The user gives a file of tasks.
    AddTasks(TaskSource),
    /// The user chooses a task; `None` is a custom configuration.
    PickTask(Option<TaskPlace>),
    /// Choose an environment, with its first task if it has tasks; `None` is the first one.
    Begin(Option<Text>),
    /// An address names a task; the first one if `id` is `None`.
    BeginTask {
        environment: Option<Text>,
        id: Option<Text>,
        seed: u64,
    },
    /// Open an episode of the chosen built-in environment. `schema` is that of its configuration, `id` that of the new
    /// episode.
    Reset {
        configuration: Object,
        seed: u64,
        schema: Json,
        id: Text,
    },

    /// Open an episode, replacing the shown one. `id` and `name` are those of the new episode; without a name it is named
    /// after its task.
    Open {
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        id: Text,
        name: Option<Text>,
    },
    /// Fill the setup from a recipe and open an episode of it.
    Replay {
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        id: Text,
    },
    /// Show a record from elsewhere.
    Show(Box<Episode>),
    /// Read a stored episode.
    OpenStored { id: Text },
    /// A stored episode was read; `None` if this browser does not have it.
    StoredRead {
        id: Text,
        episode: Option<Box<Episode>>,
    },
    /// The address names another episode, which is opened next. Select this step of it; `None` is the last one.
    Navigate { step: Option<usize> },
    /// Select this step when the next episode is shown; `None` is the last one.
    SelectOnceShown(Option<usize>),
    /// Show the previous episode again.
    BringBack,
    /// The page has an episode that was shown before, in an earlier life of the page.
    Rescued(Box<Episode>),
    /// Replay the episode up to a step, to continue from there. The user agreed to that, if it was necessary.
    GoBack(usize),
    /// The user leaves the episode: for another page, or the tab is hidden or closed.
    Leave,

    /// The user wants to do something with the shown episode.
    Attempt(EpisodeAttempt),
    /// The user takes the last step back.
    Undo,
    /// Content wants to run an episode: ask the user.
    Plan(PlannedEpisode),
    /// The user agrees to the planned episode. `id` is that of the new episode, if one is opened.
    Agree { id: Text },
    /// The user declines the planned episode.
    Decline,
    /// Take the action that the user composed.
    ActByHand(AnyMessage),

    /// The user chooses a policy.
    ChoosePolicy(PolicyKind),
    /// Let the policy act until the episode ends, or first do what is missing for that.
    Run(ActingParty),
    /// Let the policy act in the episode that is being opened, once it is open.
    RunOnceOpened,
    /// Let the policy choose one action.
    RunOnce,
    /// The player of a run is ready. `delay` is the pause between two steps in seconds.
    Seated { run: u32, name: Text, delay: f64 },
    /// There is no player for a run; the reason was shown.
    NotSeated { run: u32 },
    /// The player of a run decided about the episode after this number of steps.
    Decided { run: u32, steps: usize, next: Move },
    /// The pause of a run is over.
    Paused { run: u32 },
    /// Stop the run, or the step that takes long.
    Stop,
    /// A step did not end within the time of [`super::Effect::AwaitStep`].
    StepIsLate { edition: u32, steps: usize },
    /// The player has more to record about an episode after this number of steps.
    Recorded {
        episode: Text,
        steps: usize,
        members: Object,
    },

    /// A worker replied about an environment. Workers are numbered by [`super::PlaygroundMachine::worker`].
    Replied {
        worker: u32,
        environment: EnvironmentId,
        event: WorkerEvent,
    },
    /// The worker replied to a request to close environments.
    Closing(WorkerEvent),
    /// A worker is gone.
    WorkerLost { worker: u32, loss: WorkerLoss },
    /// The page is left: close what is open elsewhere.
    CloseServers,
}

impl Event {
    /// This event with the names that Python code has today, so that a name identifies the code.
    pub(super) fn renamed(mut self) -> Event {
        match &mut self {
            Event::Open { recipe, .. }
            | Event::Replay { recipe, .. }
            | Event::Plan(PlannedEpisode { recipe, .. }) => rename(recipe),
            Event::Show(episode)
            | Event::Rescued(episode)
            | Event::StoredRead {
                episode: Some(episode),
                ..
            } => {
                if let Some(recipe) = &mut episode.recipe {
                    rename(recipe);
                }
            }
            _ => {}
        }
        self
    }

    /// Whether this starts a new attempt of the user. A notice belongs to the attempt that failed, so the next attempt
    /// removes it. Preparing an action, or stopping one, does not make an error obsolete.
    pub fn is_attempt(&self) -> bool {
        matches!(
            self,
            Event::PickTask(_)
                | Event::Attempt(_)
                | Event::Undo
                | Event::BringBack
                | Event::Agree { .. }
        )
    }

    /// Whether this is about to change the shown episode, so that a message about it is obsolete.
    pub fn changes_episode(&self) -> bool {
        match self {
            Event::Attempt(attempt) => {
                !matches!(attempt, EpisodeAttempt::Run | EpisodeAttempt::RunAgain)
            }
            _ => false,
        }
    }
}

fn rename(recipe: &mut Recipe) {
    *recipe = files::renamed(std::mem::take(recipe));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_ends_with_the_next_attempt() {
        for attempt in [
            EpisodeAttempt::Step,
            EpisodeAttempt::StepByHand,
            EpisodeAttempt::EditLastAction,
            EpisodeAttempt::GoBack(1),
            EpisodeAttempt::Run,
            EpisodeAttempt::RunAgain,
        ] {
            assert!(Event::Attempt(attempt).is_attempt(), "{attempt:?}");
            let is_run = matches!(attempt, EpisodeAttempt::Run | EpisodeAttempt::RunAgain);
            assert_eq!(Event::Attempt(attempt).changes_episode(), !is_run);
        }
        assert!(Event::Undo.is_attempt());
        assert!(Event::PickTask(None).is_attempt());
        for other in [Event::Stop, Event::Decline, Event::Leave] {
            assert!(!other.is_attempt(), "{other:?}");
            assert!(!other.changes_episode(), "{other:?}");
        }
    }
}
