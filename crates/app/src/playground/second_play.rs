//! A second play of a recipe beside the shown episode: the replies of its environment.

use volary_core::json::Text;
use volary_protocol::WorkerLoss;
use volary_protocol::environments::Event;
use volary_protocol::episode::EpisodeAssembler;
use volary_trajectory::Episode;

/// The episode of a second play, which arrives in chunks.
#[derive(Debug, Default)]
pub struct SecondPlay(EpisodeAssembler);

impl SecondPlay {
    /// Adds a reply; `None` is the end of the replies. Returns the episode once it is complete, or why there is none.
    pub fn push(
        &mut self,
        reply: Option<Result<Event, WorkerLoss>>,
    ) -> Option<Result<Episode, Text>> {
        match reply {
            Some(Ok(Event::Episode(chunk))) => match self.0.push(chunk) {
                Ok(complete) => complete.map(|complete| Ok(complete.episode)),
                Err(error) => Some(Err(error.to_string().into())),
            },
            Some(Ok(Event::Refused { reason, .. } | Event::Lost { reason, .. })) => {
                Some(Err(reason))
            }
            Some(Ok(_)) => None,
            Some(Err(loss)) => Some(Err(loss.to_string().into())),
            None => Some(Err("It was stopped.".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_protocol::episode::chunks;

    use super::*;

    #[test]
    fn the_episode_is_complete_with_its_last_chunk() {
        let episode = Episode {
            start: vec![Message::user("Go on.").into()],
            ..Episode::default()
        };
        let mut play = SecondPlay::default();
        let mut last = None;
        for chunk in chunks(episode.clone(), Vec::new()) {
            assert_eq!(last, None, "it was complete before");
            last = play.push(Some(Ok(Event::Episode(chunk))));
        }
        assert_eq!(last, Some(Ok(episode)));
    }

    #[test]
    fn a_play_without_a_result_has_a_reason() {
        let push = |reply| SecondPlay::default().push(reply);
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
        assert_eq!(push(None), Some(Err("It was stopped.".into())));
    }
}
