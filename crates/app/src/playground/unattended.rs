//! A session whose environment can ask nobody: an episode within a lesson, an assignment or a frame of another site.
//!
//! Invariants: a question ends the episode that asks it, because waiting would not end. Replies of an environment that
//! is not wanted any more change nothing, whatever they are.

use volary_core::json::Text;
use volary_episode::Episode;
use volary_protocol::WorkerLoss;
use volary_protocol::environments::{EnvironmentId, Event};

use super::chosen_action::ChosenAction;
use super::session::{Change, Session};

const UNANSWERED: &str = "This environment asks for something from outside.";

/// What a reply leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum UnattendedReply {
    /// More replies follow.
    Waiting,
    /// The environment is not wanted any more; its replies need not be read.
    Unwanted,
    /// The command is complete.
    Changed(Change),
    /// The environment is lost.
    Lost {
        /// The reason, for the user.
        reason: Text,
        change: Change,
    },
}

/// Applies a reply of the worker to a command for an environment.
pub fn receive(
    session: &mut Session,
    episode: &mut Episode,
    environment: EnvironmentId,
    reply: Result<Event, WorkerLoss>,
) -> UnattendedReply {
    if session.awaited() != Some(environment) {
        return UnattendedReply::Unwanted;
    }
    let reason = match reply {
        Ok(Event::Question { .. }) => UNANSWERED.into(),
        Ok(event) => match session.receive(environment, event, episode) {
            Ok(Change::Nothing) => return UnattendedReply::Waiting,
            Ok(change) => return UnattendedReply::Changed(change),
            Err(error) => error.to_string().into(),
        },
        Err(loss) => loss.to_string().into(),
    };
    lose(session, episode, reason)
}

/// Ends the command that waits for a reply: its environment is lost.
pub fn lose(session: &mut Session, episode: &mut Episode, reason: Text) -> UnattendedReply {
    let change = session.lost(reason.clone(), episode);
    UnattendedReply::Lost { reason, change }
}

/// What a change means for what is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownChange {
    /// Steps that were shown are replaced or removed.
    pub is_replaced: bool,
    /// The last step is selected.
    pub selects_last: bool,
    /// What went wrong, for the user.
    pub problem: Option<Text>,
    /// The action to take next.
    pub next: Option<ChosenAction>,
}

impl From<Change> for ShownChange {
    fn from(change: Change) -> ShownChange {
        let nothing = ShownChange::default();
        match change {
            Change::Nothing => nothing,
            Change::Appended => ShownChange {
                selects_last: true,
                ..nothing
            },
            Change::Replaced { then, .. } => ShownChange {
                is_replaced: true,
                selects_last: true,
                next: then,
                ..nothing
            },
            Change::Gone { action } => ShownChange {
                next: Some(*action),
                ..nothing
            },
            Change::Refused { reason, .. } | Change::Lost { reason } => ShownChange {
                problem: Some(reason),
                ..nothing
            },
            Change::Crashed { message } => ShownChange {
                is_replaced: true,
                problem: Some(format!("The environment crashed: {message}").into()),
                ..nothing
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::AnyMessage;
    use volary_core::message::ToolRequestMessage;
    use volary_episode::{Outcome, Recipe, StepRecord};
    use volary_protocol::environments::Question;
    use volary_protocol::episode::{EpisodeChunk, Steps, chunks};

    use super::*;
    use crate::playground::session::{Command, Why};

    fn action() -> AnyMessage {
        ToolRequestMessage::default().into()
    }

    fn open(session: &mut Session, name: &str) -> EnvironmentId {
        let recipe = Recipe {
            environment: name.into(),
            ..Recipe::default()
        };
        let command = session.open(recipe, Vec::new(), name.into(), name.into());
        command.environment()
    }

    fn arrive(
        session: &mut Session,
        episode: &mut Episode,
        environment: EnvironmentId,
    ) -> UnattendedReply {
        let sent = Episode {
            recipe: Some(Recipe::default()),
            ..Episode::default()
        };
        let replies = chunks(sent, Vec::new())
            .map(|chunk| receive(session, episode, environment, Ok(Event::Episode(chunk))));
        replies.last().unwrap()
    }

    fn question() -> Event {
        let question = Question::Person {
            shown: "Which one?".into(),
        };
        Event::Question { id: 1, question }
    }

    fn step() -> Event {
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward: 1.0,
            done: false,
            truncated: false,
        };
        let record = StepRecord {
            action: action(),
            outcome,
            seconds: None,
            details: Default::default(),
            extras: Default::default(),
        };
        Event::Episode(EpisodeChunk::Steps(Steps {
            records: vec![record],
            patches: Vec::new(),
        }))
    }

    /// A session with a played environment.
    fn live() -> (Session, Episode, EnvironmentId) {
        let (mut session, mut episode) = (Session::default(), Episode::default());
        let environment = open(&mut session, "a");
        let opened = arrive(&mut session, &mut episode, environment);
        assert!(matches!(
            opened,
            UnattendedReply::Changed(Change::Replaced { .. })
        ));
        (session, episode, environment)
    }

    #[test]
    fn an_episode_is_opened_and_continued() {
        let (mut session, mut episode, environment) = live();
        let command = session.step(&mut episode, action()).unwrap();
        assert!(matches!(command, Command::Step { .. }));
        let stepped = receive(&mut session, &mut episode, environment, Ok(step()));
        assert_eq!(stepped, UnattendedReply::Changed(Change::Appended));
        assert_eq!(episode.steps.len(), 1);
    }

    #[test]
    fn a_question_ends_the_environment_that_asks_it() {
        let (mut session, mut episode, environment) = live();
        session.step(&mut episode, action()).unwrap();
        let asked = receive(&mut session, &mut episode, environment, Ok(question()));
        assert_eq!(
            asked,
            UnattendedReply::Lost {
                reason: UNANSWERED.into(),
                change: Change::Crashed {
                    message: UNANSWERED.into()
                },
            }
        );
        assert_eq!(session.awaited(), None, "nothing waits");
        assert_eq!(
            episode.steps.len(),
            1,
            "the action that led to it is recorded"
        );
    }

    #[test]
    fn an_opening_that_asks_something_shows_nothing() {
        let (mut session, mut episode) = (Session::default(), Episode::default());
        let environment = open(&mut session, "a");
        let asked = receive(&mut session, &mut episode, environment, Ok(question()));
        assert!(matches!(asked, UnattendedReply::Lost { .. }));
        assert_eq!(episode, Episode::default());
    }

    #[test]
    fn replies_of_an_environment_that_is_not_wanted_change_nothing() {
        let loss = WorkerLoss::Crashed {
            message: "unreachable".into(),
        };
        for late in [Ok(question()), Ok(step()), Ok(Event::Gone), Err(loss)] {
            let (mut session, mut episode) = (Session::default(), Episode::default());
            let old = open(&mut session, "a");
            let new = open(&mut session, "b");
            let received = receive(&mut session, &mut episode, old, late.clone());
            assert_eq!(received, UnattendedReply::Unwanted, "{late:?}");
            assert_eq!(session.awaited(), Some(new), "{late:?}");
            let opened = arrive(&mut session, &mut episode, new);
            assert!(matches!(opened, UnattendedReply::Changed(_)), "{late:?}");
            // Nor does it once the newer one is played.
            let shown = episode.clone();
            let received = receive(&mut session, &mut episode, old, late.clone());
            assert_eq!(received, UnattendedReply::Unwanted, "{late:?}");
            assert_eq!(episode, shown, "{late:?}");
            assert!(session.step(&mut episode, action()).is_ok(), "{late:?}");
        }
    }

    #[test]
    fn the_loss_of_the_worker_ends_the_command() {
        let (mut session, mut episode, environment) = live();
        session.step(&mut episode, action()).unwrap();
        let loss = WorkerLoss::Unloaded;
        let reason = Text::from(loss.to_string());
        let lost = receive(&mut session, &mut episode, environment, Err(loss));
        let message = reason.clone();
        let change = Change::Crashed { message };
        assert_eq!(lost, UnattendedReply::Lost { reason, change });
        assert_eq!(session.awaited(), None);
    }

    #[test]
    fn chunks_that_make_no_episode_end_the_opening() {
        let (mut session, mut episode) = (Session::default(), Episode::default());
        let environment = open(&mut session, "a");
        let end = Event::Episode(EpisodeChunk::End { notes: Vec::new() });
        let lost = receive(&mut session, &mut episode, environment, Ok(end));
        assert!(matches!(lost, UnattendedReply::Lost { .. }));
        assert_eq!(session.awaited(), None);
    }

    #[test]
    fn a_change_says_what_is_drawn_and_done_next() {
        let replaced = |then| Change::Replaced {
            why: Why::Again,
            differs: None,
            then,
        };
        let lost = || Change::Lost {
            reason: "The server is gone.".into(),
        };
        let refused = Change::Refused {
            reason: "There is no such task.".into(),
            key: None,
        };
        let crashed = Change::Crashed {
            message: "division by zero".into(),
        };
        // Redrawn, the last step selected, the problem, and whether an action follows.
        for (change, expected) in [
            (Change::Nothing, (false, false, None, false)),
            (Change::Appended, (false, true, None, false)),
            (replaced(None), (true, true, None, false)),
            (replaced(Some(action().into())), (true, true, None, true)),
            (
                Change::Gone {
                    action: Box::new(action().into()),
                },
                (false, false, None, true),
            ),
            (
                refused,
                (false, false, Some("There is no such task."), false),
            ),
            (lost(), (false, false, Some("The server is gone."), false)),
            (
                crashed,
                (
                    true,
                    false,
                    Some("The environment crashed: division by zero"),
                    false,
                ),
            ),
        ] {
            let shown = ShownChange::from(change);
            let problem = shown.problem.as_deref();
            assert_eq!(
                (
                    shown.is_replaced,
                    shown.selects_last,
                    problem,
                    shown.next.is_some()
                ),
                expected
            );
        }
    }

    /// An environment that its worker dropped is replayed, and the action is taken once.
    #[test]
    fn an_action_that_waited_for_a_replay_is_taken_after_it() {
        let (mut session, mut episode, environment) = live();
        session.step(&mut episode, action()).unwrap();
        let gone = receive(&mut session, &mut episode, environment, Ok(Event::Gone));
        let UnattendedReply::Changed(change) = gone else {
            panic!("{gone:?}");
        };
        let next = ShownChange::from(change).next;
        assert_eq!(next, Some(action().into()));
        let replay = session.step(&mut episode, next.unwrap()).unwrap();
        let reopened = arrive(&mut session, &mut episode, replay.environment());
        let UnattendedReply::Changed(change) = reopened else {
            panic!("{reopened:?}");
        };
        let shown = ShownChange::from(change);
        assert!(shown.is_replaced);
        assert_eq!(shown.next, Some(action().into()));
        session.step(&mut episode, action()).unwrap();
        let stepped = receive(&mut session, &mut episode, replay.environment(), Ok(step()));
        assert!(matches!(
            stepped,
            UnattendedReply::Changed(Change::Appended)
        ));
        assert_eq!(episode.steps.len(), 1);
    }
}
