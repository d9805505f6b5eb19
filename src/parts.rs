//! An episode on its way from a worker to the page: a head, then steps and frames in parts, so that
//! neither side works for long at a time. Pure.

use volary_core::json::Text;
use volary_trace::Episode;

use crate::protocol::{Event, Token};

/// A part has so many steps at most.
const MOST_STEPS: usize = 250;

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
    for start in (0..length).step_by(MOST_STEPS) {
        let end = length.min(start + MOST_STEPS);
        say(Event::Stepped {
            token,
            steps: steps.by_ref().take(MOST_STEPS).collect(),
            patches: (start..end)
                .filter_map(|index| frames.patch(index).cloned())
                .collect(),
        });
    }
    say(Event::Finished { token, notes });
}
