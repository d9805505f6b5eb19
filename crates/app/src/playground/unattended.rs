//! A session whose environment can ask nobody: an episode within a lesson, an assignment or a frame of another site.
//!
//! Invariants: a question ends the episode that asks it, because waiting would not end. Replies of an environment that
//! is not wanted any more change nothing, whatever they are.

use volary_core::json::Text;
use volary_protocol::WorkerLoss;
use volary_protocol::environments::{EnvironmentId, Event};
use volary_trajectory::Episode;

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

#[cfg(test)]
mod tests {
    use volary_core::AnyMessage;
    use volary_core::message::ToolRequestMessage;
    use volary_protocol::environments::Question;
    use volary_protocol::episode::{EpisodeChunk, Steps, chunks};
    use volary_trajectory::{Outcome, Recipe, StepRecord};

    use super::*;
    use crate::playground::session::Command;

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
}
