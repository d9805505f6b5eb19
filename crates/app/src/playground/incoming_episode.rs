//! An episode that arrives from a worker in chunks and counts only once it is complete: a second play beside the shown
//! episode.

use volary_core::json::Text;
use volary_protocol::WorkerLoss;
use volary_protocol::environments::Event;
use volary_protocol::episode::{Assembled, EpisodeAssembler};

const UNANSWERED: &str = "The environment asked something that the episode has no recorded answer to, and nobody \
                          can answer in a second run.";

/// The part of an episode that has arrived.
#[derive(Debug, Default)]
pub struct IncomingEpisode(EpisodeAssembler);

impl IncomingEpisode {
    /// Adds a reply; `None` is the end of the replies. Returns the episode once it is complete, or why there is none.
    pub fn push(
        &mut self,
        reply: Option<Result<Event, WorkerLoss>>,
    ) -> Option<Result<Assembled, Text>> {
        match reply {
            Some(Ok(Event::Episode(chunk))) => match self.0.push(chunk) {
                Ok(complete) => complete.map(Ok),
                Err(error) => Some(Err(error.to_string().into())),
            },
            Some(Ok(Event::Refused { reason, .. } | Event::Lost { reason, .. })) => {
                Some(Err(reason))
            }
            // Nobody answers beside the shown episode, so waiting would not end.
            Some(Ok(Event::Question { .. })) => Some(Err(UNANSWERED.into())),
            Some(Ok(
                Event::Started(_) | Event::Stopped { .. } | Event::Gone | Event::Recorded { .. },
            )) => None,
            Some(Err(loss)) => Some(Err(loss.to_string().into())),
            None => Some(Err(
                "The worker was stopped before the episode was complete.".into(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Episode;
    use volary_protocol::environments::Question;
    use volary_protocol::episode::chunks;

    use super::*;

    #[test]
    fn the_episode_is_complete_with_its_last_chunk() {
        let episode = Episode {
            start: vec![Message::user("Go on.").into()],
            ..Episode::default()
        };
        let mut incoming = IncomingEpisode::default();
        let notes = vec!["A note.".into()];
        let mut last = None;
        for chunk in chunks(episode.clone(), notes.clone()) {
            assert_eq!(last, None, "it was complete before");
            last = incoming.push(Some(Ok(Event::Episode(chunk))));
        }
        assert_eq!(last, Some(Ok(Assembled { episode, notes })));
    }

    #[test]
    fn a_missing_episode_has_a_reason() {
        let push = |reply| IncomingEpisode::default().push(reply);
        let refused = Event::Refused {
            reason: "The configuration is invalid.".into(),
            key: None,
            is_server_lost: false,
        };
        let reason = "The configuration is invalid.".into();
        assert_eq!(push(Some(Ok(refused))), Some(Err(reason)));
        let loss = WorkerLoss::Crashed {
            message: "unreachable".into(),
        };
        assert_eq!(push(Some(Err(loss))), Some(Err("unreachable".into())));
        assert!(matches!(push(None), Some(Err(_))));
        let question = Question::Person {
            shown: "Which one?".into(),
        };
        let asked = Event::Question { id: 1, question };
        assert_eq!(push(Some(Ok(asked))), Some(Err(UNANSWERED.into())));
    }
}
