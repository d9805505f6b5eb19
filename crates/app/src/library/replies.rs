//! Reads the replies to requests with one answer.

use volary_core::json::Text;
use volary_protocol::WorkerLoss;
use volary_protocol::episode::{Assembled, AssemblyError, EpisodeAssembler};
use volary_protocol::library::Event;

/// The worker was terminated before it answered.
pub const ENDED: &str = "The worker was stopped before it answered.";

/// Why a request has no answer. Each text is for people.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoReply {
    /// The library refused, and says why and what to do.
    #[error("{why}")]
    Refused { why: Text },
    /// The worker was terminated before it answered.
    #[error("{ENDED}")]
    Ended,
    /// The worker ended by itself.
    #[error(transparent)]
    Lost(#[from] WorkerLoss),
    /// The worker answered with an event of another request.
    #[error("The worker sent an unexpected reply. Reload the page.")]
    Unexpected,
    /// The chunks of an episode do not fit together.
    #[error(transparent)]
    Damaged(#[from] AssemblyError),
}

/// A reply to a request; `None` at the end of the replies.
pub type LibraryReply = Option<Result<Event, WorkerLoss>>;

/// The answer to a request for an episode, which arrives in chunks.
#[derive(Debug, Default)]
pub struct EpisodeReply(EpisodeAssembler);

impl EpisodeReply {
    /// Adds a reply. Returns the episode once it is complete, or why there is none.
    pub fn push(&mut self, reply: LibraryReply) -> Option<Result<Assembled, NoReply>> {
        match event(reply) {
            Ok(Event::Episode(chunk)) => match self.0.push(chunk) {
                Ok(complete) => complete.map(Ok),
                Err(error) => Some(Err(error.into())),
            },
            Ok(Event::Refused { reason }) => Some(Err(NoReply::Refused { why: reason })),
            Ok(_) => Some(Err(NoReply::Unexpected)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// The answer to a replay: its result for the user, and the first step that differs.
pub fn checked(reply: LibraryReply) -> Result<(String, Option<usize>), NoReply> {
    match event(reply)? {
        Event::Checked { words, step } => {
            let step = step.map(|step| usize::try_from(step).unwrap_or(usize::MAX));
            Ok((words.to_string(), step))
        }
        Event::Refused { reason } => Err(NoReply::Refused { why: reason }),
        _ => Err(NoReply::Unexpected),
    }
}

fn event(reply: LibraryReply) -> Result<Event, NoReply> {
    Ok(reply.ok_or(NoReply::Ended)??)
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Episode;
    use volary_protocol::episode::chunks;

    use super::*;

    fn refused() -> LibraryReply {
        let reason = "It was deleted in another tab.".into();
        Some(Ok(Event::Refused { reason }))
    }

    #[test]
    fn an_episode_is_complete_with_its_last_chunk() {
        let episode = Episode {
            name: "A long one".into(),
            start: vec![Message::user("Go on.").into()],
            ..Episode::default()
        };
        let notes = vec!["A note.".into()];
        let mut reply = EpisodeReply::default();
        let mut chunks: Vec<_> = chunks(episode.clone(), notes.clone()).collect();
        let last = chunks.pop().unwrap();
        for chunk in chunks {
            assert_eq!(reply.push(Some(Ok(Event::Episode(chunk)))), None);
        }
        let complete = reply.push(Some(Ok(Event::Episode(last))));
        assert_eq!(complete, Some(Ok(Assembled { episode, notes })));
    }

    #[test]
    fn an_episode_that_cannot_be_opened_has_a_reason() {
        let push = |received| EpisodeReply::default().push(received);
        let refusal = push(refused()).unwrap().unwrap_err();
        assert_eq!(refusal.to_string(), "It was deleted in another tab.");
        assert_eq!(push(None), Some(Err(NoReply::Ended)));
        let loss = WorkerLoss::Crashed {
            message: "out of memory".into(),
        };
        let lost = push(Some(Err(loss.clone())));
        assert_eq!(lost, Some(Err(NoReply::Lost(loss))));
        let unexpected = push(Some(Ok(Event::Listed)));
        assert_eq!(unexpected, Some(Err(NoReply::Unexpected)));
        // The end of an episode whose head was lost.
        let end = chunks(Episode::default(), Vec::new()).last().unwrap();
        assert!(matches!(push(Some(Ok(Event::Episode(end)))), Some(Err(_))));
    }

    #[test]
    fn a_replay_names_the_first_step_that_differs() {
        let event = Event::Checked {
            words: "It differs.".into(),
            step: Some(3),
        };
        assert_eq!(
            checked(Some(Ok(event))),
            Ok(("It differs.".to_owned(), Some(3)))
        );
        let why = "It was deleted in another tab.".into();
        assert_eq!(checked(refused()), Err(NoReply::Refused { why }));
        assert_eq!(checked(None), Err(NoReply::Ended));
        assert_eq!(checked(Some(Ok(Event::Listed))), Err(NoReply::Unexpected));
    }
}
