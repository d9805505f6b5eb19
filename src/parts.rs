//! An episode on its way from a worker to the page: a head, then steps and frames in parts, so that
//! neither side works for long at a time. Pure.

use volary_core::json::Text;
use volary_trace::{Episode, FrameHistory};

use crate::protocol::{Event, Token};

/// A part has so many steps at most.
const MOST_STEPS: usize = 250;

/// Making the frames of a part copies at most this many bytes, but for its last frame: the page makes them again.
const MOST_COPIED: u64 = 64 << 20;

/// Says an episode, part by part.
pub fn say_episode(
    token: Token,
    mut episode: Episode,
    notes: Vec<Text>,
    say: &mut dyn FnMut(Event),
) {
    let steps = std::mem::take(&mut episode.steps);
    let frames = std::mem::take(&mut episode.frames);
    say(Event::Opened {
        token,
        head: episode,
    });
    let mut steps = steps.into_iter();
    // There may be more frames than steps, or fewer.
    let length = frames.len().max(steps.len());
    let mut start = 0;
    while start < length {
        let end = end_of_part(&frames, start, length);
        say(Event::Stepped {
            token,
            steps: steps.by_ref().take(end - start).collect(),
            patches: (start..end)
                .filter_map(|index| frames.patch(index).cloned())
                .collect(),
        });
        start = end;
    }
    say(Event::Finished { token, notes });
}

/// Where the part that begins at a step ends.
fn end_of_part(frames: &FrameHistory, start: usize, length: usize) -> usize {
    let most = length.min(start + MOST_STEPS);
    let mut copied = 0;
    let full = (start..most).find(|&step| {
        copied += frames.copied_at(step);
        copied > MOST_COPIED
    });
    full.map_or(most, |step| step + 1)
}

#[cfg(test)]
mod tests {
    use volary_core::{Frame, Json};

    use super::*;

    fn parts(frames: FrameHistory) -> Vec<usize> {
        let episode = Episode {
            frames,
            ..Episode::default()
        };
        let mut parts = Vec::new();
        say_episode(Token::default(), episode, Vec::new(), &mut |event| {
            if let Event::Stepped { patches, .. } = event {
                parts.push(patches.len());
            }
        });
        parts
    }

    #[test]
    fn parts_are_short_where_frames_copy_much() {
        let text = |length: usize, step: usize| {
            let text = format!("{}{step:09}", "x".repeat(length));
            Frame::new(text.as_str(), Json::Null)
        };
        let small = parts((0..600).map(|step| text(1_000, step)).collect());
        assert_eq!(small, [250, 250, 100]);
        let large = parts((0..20).map(|step| text(20 << 20, step)).collect());
        assert_eq!(large.iter().sum::<usize>(), 20);
        assert!(large.iter().all(|part| *part <= 5), "{large:?}");
    }
}
