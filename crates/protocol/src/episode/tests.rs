//! Splitting an episode into chunks and assembling them returns the same episode.

use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use volary_core::message::ToolRequestMessage;
use volary_core::{Frame, Json, Object};
use volary_episode::Outcome;

use super::*;
use crate::{Calls, WorkerLoss};

fn episode(steps: usize, frames: usize) -> Episode {
    let mut episode = Episode {
        id: "e".into(),
        ..Episode::default()
    };
    for number in 0..steps {
        episode.steps.push(StepRecord {
            action: ToolRequestMessage::default().into(),
            outcome: Outcome::Observed {
                messages: vec![],
                reward: number as f64,
                done: false,
                truncated: false,
            },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        });
    }
    for number in 0..frames {
        episode.frames.push(Frame::new(number as i64, "same"));
    }
    episode
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn chunks_make_the_episode_again(steps in 0..3 * CHUNK_STEPS, frames in 0..3 * CHUNK_STEPS) {
        let episode = episode(steps, frames);
        let mut assembler = EpisodeAssembler::default();
        let mut assembled = None;
        for chunk in chunks(episode.clone(), vec!["note".into()]) {
            prop_assert!(assembled.is_none(), "the end comes last");
            if let EpisodeChunk::Steps(steps) = &chunk {
                prop_assert!(steps.records.len() <= CHUNK_STEPS);
                prop_assert!(steps.patches.len() <= CHUNK_STEPS);
            }
            assembled = assembler.push(chunk).unwrap();
        }
        let assembled = assembled.unwrap();
        prop_assert_eq!(assembled.episode, episode);
        prop_assert_eq!(&*assembled.notes[0], "note");
    }
}

#[test]
fn chunks_are_short_where_frames_copy_much() {
    let lengths = |steps: usize, length: usize| -> Vec<usize> {
        let text = "x".repeat(length);
        let mut episode = episode(0, 0);
        for step in 0..steps {
            let text = format!("{text}{step:09}");
            episode.frames.push(Frame::new(text.as_str(), Json::Null));
        }
        let steps = chunks(episode, vec![]).filter_map(|chunk| match chunk {
            EpisodeChunk::Steps(steps) => Some(steps.patches.len()),
            EpisodeChunk::Head(_) | EpisodeChunk::End { .. } => None,
        });
        steps.collect()
    };
    assert_eq!(lengths(600, 1_000), [250, 250, 100]);
    let large = lengths(20, 20 << 20);
    assert_eq!(large.iter().sum::<usize>(), 20);
    assert!(large.iter().all(|chunk| *chunk <= 5), "{large:?}");
}

#[test]
fn an_interrupted_episode_keeps_what_arrived() {
    let mut assembler = EpisodeAssembler::default();
    for chunk in chunks(episode(CHUNK_STEPS + 1, 0), vec![]).take(2) {
        assert_eq!(assembler.push(chunk), Ok(None));
    }
    assert_eq!(assembler.steps(), CHUNK_STEPS);
    let partial = assembler.into_partial().unwrap();
    assert_eq!(partial.steps.len(), CHUNK_STEPS);
}

#[test]
fn nothing_can_come_before_the_head() {
    for chunk in [
        EpisodeChunk::Steps(Steps::default()),
        EpisodeChunk::End { notes: vec![] },
    ] {
        let pushed = EpisodeAssembler::default().push(chunk);
        assert_eq!(pushed, Err(AssemblyError::NoHead));
    }
}

#[test]
fn a_new_head_begins_a_new_episode() {
    let mut assembler = EpisodeAssembler::default();
    for chunk in chunks(episode(3, 0), vec![]).take(2) {
        assert_eq!(assembler.push(chunk), Ok(None));
    }
    let again = chunks(episode(1, 0), vec![]);
    let assembled = again.filter_map(|chunk| assembler.push(chunk).unwrap());
    assert_eq!(
        assembled
            .map(|found| found.episode.steps.len())
            .sum::<usize>(),
        1
    );
}

/// An episode whose frames name it and count.
fn numbered(id: &str, steps: usize) -> Episode {
    let mut numbered = episode(steps, 0);
    numbered.id = id.into();
    for number in 0..=steps {
        numbered.frames.push(Frame::new(number as i64, id));
    }
    numbered
}

fn frames(episode: &Episode) -> Vec<Frame> {
    let indices = 0..episode.frames.len();
    indices
        .filter_map(|index| episode.frames.get(index))
        .collect()
}

#[test]
fn frames_are_the_same_after_assembly() {
    let episode = numbered("a", 2 * CHUNK_STEPS);
    let mut assembler = EpisodeAssembler::default();
    let assembled =
        chunks(episode.clone(), vec![]).filter_map(|chunk| assembler.push(chunk).unwrap());
    assert_eq!(frames(&assembled.last().unwrap().episode), frames(&episode));
}

/// A chunk of two frames, of which the second is a change of a long text. The first is a number.
fn misfit() -> Steps {
    let long = "x".repeat(500);
    let mut texts = FrameHistory::default();
    for end in ["a", "b"] {
        texts.push(Frame::new(format!("{long}{end}").as_str(), Json::Null));
    }
    let mut numbers = FrameHistory::default();
    numbers.push(Frame::new(1_i64, "x"));
    Steps {
        records: episode(2, 0).steps,
        patches: vec![
            numbers.patch(0).unwrap().clone(),
            texts.patch(1).unwrap().clone(),
        ],
    }
}

#[test]
fn a_chunk_that_does_not_fit_changes_nothing() {
    let mut assembler = EpisodeAssembler::default();
    let whole = numbered("a", 1);
    for chunk in chunks(whole.clone(), vec![]).take(2) {
        assert_eq!(assembler.push(chunk), Ok(None));
    }
    let pushed = assembler.push(EpisodeChunk::Steps(misfit()));
    assert!(matches!(pushed, Err(AssemblyError::Frame(_))), "{pushed:?}");
    let partial = assembler.into_partial().unwrap();
    assert_eq!(partial.steps, whole.steps);
    assert_eq!(frames(&partial), frames(&whole));
}

#[test]
fn the_assembler_is_empty_after_the_end() {
    let mut assembler = EpisodeAssembler::default();
    for chunk in chunks(episode(2, 0), vec![]) {
        assert!(assembler.push(chunk).is_ok());
    }
    assert_eq!(assembler.steps(), 0);
    let end = EpisodeChunk::End { notes: vec![] };
    assert_eq!(assembler.push(end), Err(AssemblyError::NoHead));
    assert_eq!(assembler.into_partial(), None);
}

#[test]
fn an_episode_without_steps_is_a_head_and_an_end() {
    let mut chunks = chunks(episode(0, 0), vec!["a note".into()]);
    assert!(matches!(chunks.next(), Some(EpisodeChunk::Head(_))));
    let notes = vec!["a note".into()];
    assert_eq!(chunks.next(), Some(EpisodeChunk::End { notes }));
    assert_eq!(chunks.next(), None);
}

/// What happens to two episodes that a worker sends at the same time.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// The worker sends the next chunk of an episode.
    Send(usize),
    /// The page reads the next chunk of an episode.
    Read(usize),
    /// The page drops the call of an episode.
    GiveUp(usize),
    /// The worker is lost.
    Lose,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        12 => (0..2usize).prop_map(Happening::Send),
        12 => (0..2usize).prop_map(Happening::Read),
        1 => (0..2usize).prop_map(Happening::GiveUp),
        1 => Just(Happening::Lose),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn episodes_that_arrive_at_the_same_time_do_not_mix(
        steps in 0..2 * CHUNK_STEPS,
        happenings in proptest::collection::vec(happening(), 0..60)
    ) {
        let sent = [numbered("a", steps), numbered("b", CHUNK_STEPS)];
        let mut unsent = sent.clone().map(|episode| chunks(episode, vec![]));
        let mut calls = Calls::default();
        let ids = [calls.begin(), calls.begin()];
        let mut assemblers = [EpisodeAssembler::default(), EpisodeAssembler::default()];
        let mut is_given_up = [false; 2];
        let mut is_complete = [false; 2];
        for happening in happenings {
            match happening {
                Happening::Send(at) => {
                    if let Some(chunk) = unsent[at].next() {
                        let _ = calls.deliver(ids[at], chunk);
                    }
                }
                Happening::GiveUp(at) => {
                    calls.give_up(ids[at]);
                    is_given_up[at] = true;
                }
                Happening::Lose => {
                    let _ = calls.lose(WorkerLoss::Unloaded);
                }
                Happening::Read(at) => {
                    match calls.poll(ids[at], &Context::from_waker(Waker::noop())) {
                        Poll::Ready(Some(Ok(chunk))) => {
                            prop_assert!(!is_given_up[at] && !is_complete[at]);
                            if let Some(assembled) = assemblers[at].push(chunk).unwrap() {
                                prop_assert_eq!(&assembled.episode, &sent[at]);
                                is_complete[at] = true;
                            }
                        }
                        Poll::Ready(Some(Err(_))) => prop_assert!(calls.is_lost()),
                        Poll::Ready(None) => prop_assert!(is_given_up[at] || calls.is_lost()),
                        Poll::Pending => prop_assert!(!is_given_up[at]),
                    }
                }
            }
        }
        // What has arrived of an incomplete episode is a beginning of that episode.
        for (assembler, sent) in assemblers.into_iter().zip(&sent) {
            if let Some(partial) = assembler.into_partial() {
                prop_assert_eq!(&partial.id, &sent.id);
                prop_assert_eq!(&partial.steps[..], &sent.steps[..partial.steps.len()]);
                let (partial, all) = (frames(&partial), frames(sent));
                prop_assert_eq!(&partial[..], &all[..partial.len()]);
            }
        }
    }
}
