//! What a worker's replies mean for an environment whose actions a model chooses: the opened episode, a step, or why
//! there is none.
//!
//! Invariants:
//! - An episode is open once it has arrived completely and the replies that follow it are read, because these contain
//!   the answers that the environment got from outside.
//! - A failure on a server names whether the server's other environments fail too; a crash in the worker concerns
//!   only its own environment.

use volary_agent::{RunnerError, Stepped};
use volary_core::Frame;
use volary_episode::{Ending, Episode, FramePatch, StepRecord};
use volary_protocol::environments::Event;
use volary_protocol::episode::{Assembled, EpisodeAssembler, EpisodeChunk};

/// An event of the environment, or why there is none.
pub type StageReply = Result<Event, RunnerError>;

/// Where an environment of a model's episode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePlace {
    Worker,
    Server,
}

/// An episode that is being opened.
#[derive(Debug)]
pub struct StageOpening {
    place: StagePlace,
    stage: Arrival,
}

#[derive(Debug)]
enum Arrival {
    Arriving(EpisodeAssembler),
    /// The last chunk has arrived.
    Complete(Episode),
}

impl StageOpening {
    pub fn new(place: StagePlace) -> Self {
        StageOpening {
            place,
            stage: Arrival::Arriving(EpisodeAssembler::default()),
        }
    }

    /// Adds a reply that is neither a question nor its recorded answers. Returns the result once it is known.
    pub fn push(&mut self, reply: StageReply) -> Option<Result<Episode, RunnerError>> {
        match (&mut self.stage, reply) {
            // The replies end. If that is because the worker was lost, the next step reports it.
            (Arrival::Complete(episode), _) => Some(Ok(std::mem::take(episode))),
            (Arrival::Arriving(_), Err(error)) => Some(Err(error)),
            (Arrival::Arriving(assembler), Ok(Event::Episode(chunk))) => {
                match assembler.push(chunk) {
                    Ok(None) => None,
                    Ok(Some(Assembled { mut episode, .. })) => {
                        let last = episode.steps.last();
                        episode.ending = last.map_or(Ending::Open, StepRecord::ending);
                        self.stage = Arrival::Complete(episode);
                        None
                    }
                    Err(error) => Some(Err(crashed(error.to_string()))),
                }
            }
            (Arrival::Arriving(_), Ok(other)) => Some(Err(failure(self.place, other))),
        }
    }
}

/// The step in a reply.
pub fn step(place: StagePlace, event: Event) -> Result<Stepped, RunnerError> {
    let Event::Episode(EpisodeChunk::Steps(steps)) = event else {
        return Err(failure(place, event));
    };
    let record = steps.records.into_iter().next();
    let record = record.ok_or(RunnerError::Closed)?;
    // Servers without frames report no patches.
    let frame = steps.patches.into_iter().next();
    let frame = frame.unwrap_or_else(|| FramePatch::between(&Frame::default(), &Frame::default()));
    Ok(Stepped { record, frame })
}

/// The crash of a worker.
pub fn crashed(message: String) -> RunnerError {
    RunnerError::Crashed {
        message: message.into(),
    }
}

/// The error in a reply that is not what was asked for.
fn failure(place: StagePlace, event: Event) -> RunnerError {
    match event {
        Event::Lost {
            reason,
            is_server_lost: false,
        } if place == StagePlace::Worker => RunnerError::Crashed { message: reason },
        Event::Refused {
            reason,
            is_server_lost,
            ..
        }
        | Event::Lost {
            reason,
            is_server_lost,
        } => RunnerError::Elsewhere {
            message: reason,
            concerns_all: is_server_lost,
        },
        _ => RunnerError::Closed,
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, ToolRequestMessage};
    use volary_episode::Outcome;
    use volary_protocol::episode::{Steps, chunks};

    use super::*;

    fn record(done: bool) -> StepRecord {
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward: 1.0,
            done,
            truncated: false,
        };
        StepRecord::new(ToolRequestMessage::default().into(), outcome)
    }

    fn episode(steps: Vec<StepRecord>) -> Episode {
        Episode {
            start: vec![Message::user("Go on.").into()],
            steps,
            ..Episode::default()
        }
    }

    /// The opening after all chunks of an episode.
    fn complete(sent: Episode) -> StageOpening {
        let mut opening = StageOpening::new(StagePlace::Worker);
        for chunk in chunks(sent, Vec::new()) {
            assert!(opening.push(Ok(Event::Episode(chunk))).is_none());
        }
        opening
    }

    fn ended() -> StageReply {
        Err(crashed("The worker ended.".to_owned()))
    }

    #[test]
    fn an_episode_is_open_once_the_replies_end() {
        let mut opening = complete(episode(vec![record(false)]));
        let opened = opening.push(ended()).unwrap().unwrap();
        assert_eq!(opened.start, episode(Vec::new()).start);
        assert_eq!(opened.steps.len(), 1);
        assert_eq!(opened.ending, Ending::Open);
    }

    #[test]
    fn a_replayed_episode_may_have_ended() {
        let mut opening = complete(episode(vec![record(false), record(true)]));
        let opened = opening.push(ended()).unwrap().unwrap();
        assert_eq!(opened.ending, record(true).ending());
        assert_ne!(opened.ending, Ending::Open);
    }

    #[test]
    fn an_opening_that_is_cut_off_fails() {
        let mut opening = StageOpening::new(StagePlace::Worker);
        let mut sent = chunks(episode(vec![record(false)]), Vec::new());
        assert!(
            opening
                .push(Ok(Event::Episode(sent.next().unwrap())))
                .is_none()
        );
        let result = opening.push(ended()).unwrap();
        assert!(matches!(result, Err(RunnerError::Crashed { .. })));
    }

    #[test]
    fn chunks_without_a_head_are_a_crash() {
        let mut opening = StageOpening::new(StagePlace::Server);
        let end = EpisodeChunk::End { notes: Vec::new() };
        let result = opening.push(Ok(Event::Episode(end))).unwrap();
        assert!(matches!(result, Err(RunnerError::Crashed { .. })));
    }

    fn refused(is_server_lost: bool) -> Event {
        Event::Refused {
            reason: "No more environments.".into(),
            key: None,
            is_server_lost,
        }
    }

    fn lost(is_server_lost: bool) -> Event {
        Event::Lost {
            reason: "It did not respond.".into(),
            is_server_lost,
        }
    }

    #[test]
    fn a_failure_concerns_the_environments_that_share_its_cause() {
        use StagePlace::{Server, Worker};
        for (place, event, concerns_all) in [
            (Server, refused(false), Some(false)),
            (Server, refused(true), Some(true)),
            (Server, lost(false), Some(false)),
            (Server, lost(true), Some(true)),
            (Worker, refused(false), Some(false)),
            // The environment crashed in its worker.
            (Worker, lost(false), None),
        ] {
            let mut opening = StageOpening::new(place);
            let opened = opening.push(Ok(event.clone())).unwrap().unwrap_err();
            let stepped = step(place, event.clone()).unwrap_err();
            for error in [opened, stepped] {
                let found = match error {
                    RunnerError::Elsewhere { concerns_all, .. } => Some(concerns_all),
                    RunnerError::Crashed { .. } => None,
                    other => panic!("{other}"),
                };
                assert_eq!(found, concerns_all, "{place:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_step_has_a_record_and_a_frame() {
        let steps = |records| {
            Event::Episode(EpisodeChunk::Steps(Steps {
                records,
                patches: Vec::new(),
            }))
        };
        let stepped = step(StagePlace::Server, steps(vec![record(true)])).unwrap();
        assert_eq!(stepped.record, record(true));
        // A server without frames: the frame stays the same.
        let same = FramePatch::between(&Frame::default(), &Frame::default());
        assert_eq!(stepped.frame, same);
        for event in [steps(Vec::new()), Event::Gone] {
            let error = step(StagePlace::Worker, event).unwrap_err();
            assert!(matches!(error, RunnerError::Closed));
        }
    }
}
