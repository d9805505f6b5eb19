//! Splitting an episode into chunks and assembling them returns the same episode.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use volary_core::message::ToolRequestMessage;
use volary_core::{Frame, Json, Object};
use volary_protocol::episode::{
    AssemblyError, CHUNK_STEPS, EpisodeAssembler, EpisodeChunk, Steps, chunks,
};
use volary_trajectory::{Episode, Outcome, StepRecord};

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
