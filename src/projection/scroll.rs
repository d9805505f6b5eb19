//! Where a reader is in a long transcript, and which blocks have to stand on the page for that.
//!
//! Most heights are estimates until a block was on the page. When they turn out otherwise, what the
//! reader looks at stays where it is: the place is kept as a block and a distance into it. A
//! reader at the end stays at the end while the episode grows; one who scrolled up is left in peace.

use std::ops::Range;

use volary_trace::Episode;

use super::heights::Heights;
use super::transcript::{TranscriptIndex, estimated_height};

/// So much is kept on the page above and below what is seen.
const MARGIN: f64 = 800.0;
/// This close to the end counts as the end.
const NEAR_END: f64 = 32.0;
/// A revealed step stands so far below the upper edge.
const REVEALED_AT: f64 = 12.0;

/// Where a reader is.
#[derive(Clone, Debug)]
pub struct Scroll {
    index: TranscriptIndex,
    heights: Heights,
    /// What of the transcript lies above the upper edge.
    top: f64,
    /// How much is seen.
    viewport: f64,
    /// Whether the reader is at the end, and wants to stay there.
    follows: bool,
}

impl Default for Scroll {
    fn default() -> Self {
        Scroll {
            index: TranscriptIndex::default(),
            heights: Heights::default(),
            top: 0.0,
            viewport: 600.0,
            follows: true,
        }
    }
}

impl Scroll {
    /// Takes over what is new in the episode.
    pub fn follow(&mut self, episode: &Episode, edition: u32) {
        let kept = self.index.follow(episode, edition);
        self.heights.truncate(kept);
        for place in self.heights.len()..self.index.len() {
            if let Some(block) = self.index.block(place) {
                self.heights.push(estimated_height(episode, block));
            }
        }
        self.hold();
    }

    /// The blocks.
    pub fn index(&self) -> &TranscriptIndex {
        &self.index
    }

    /// What of the transcript lies above the upper edge.
    pub fn top(&self) -> f64 {
        self.top
    }

    /// Whether the reader is at the end, and stays there.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// The blocks that have to stand on the page.
    pub fn window(&self) -> Range<usize> {
        let first = self.heights.at((self.top - MARGIN).max(0.0));
        let last = self.heights.at(self.top + self.viewport + MARGIN);
        first..self.heights.len().min(last + 1)
    }

    /// The heights of what is left out above and below some blocks.
    pub fn room(&self, blocks: &Range<usize>) -> (f64, f64) {
        let above = self.heights.top(blocks.start);
        (above, self.heights.total() - self.heights.top(blocks.end))
    }

    /// The reader scrolled (or the page confirms what it was told).
    pub fn scrolled(&mut self, top: f64) {
        if (top - self.top).abs() < 1.5 {
            return;
        }
        self.follows = top >= self.end() - NEAR_END;
        self.top = top.max(0.0);
    }

    /// As much is seen now.
    pub fn resized(&mut self, viewport: f64) {
        self.viewport = viewport;
        self.hold();
    }

    /// The true heights of blocks that stand on the page, from the first of them on.
    pub fn measured(&mut self, first: usize, heights: &[f64]) {
        let block = self.heights.at(self.top);
        let into = self.top - self.heights.top(block);
        for (place, height) in heights.iter().enumerate() {
            self.heights.set(first + place, *height);
        }
        self.top = self.heights.top(block) + into;
        self.hold();
    }

    /// Goes to where a step begins, unless that is well in sight already.
    pub fn reveal(&mut self, step: usize) {
        let place = self.heights.top(self.index.first_block(step));
        let in_sight = place >= self.top && place < self.top + 0.6 * self.viewport;
        if !in_sight {
            self.top = (place - REVEALED_AT).clamp(0.0, self.end());
        }
        self.follows = self.top >= self.end() - NEAR_END;
    }

    /// Goes to a message of a step.
    pub fn reveal_message(&mut self, step: usize, message: usize) {
        let block = self.index.block_of(step, message);
        self.top = (self.heights.top(block) - REVEALED_AT).clamp(0.0, self.end());
        self.follows = false;
    }

    /// Goes to the end, and stays there.
    pub fn to_end(&mut self) {
        self.follows = true;
        self.hold();
    }

    /// How far one can scroll.
    fn end(&self) -> f64 {
        (self.heights.total() - self.viewport).max(0.0)
    }

    fn hold(&mut self) {
        let end = self.end();
        self.top = if self.follows { end } else { self.top.min(end) };
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_trace::{Outcome, StepRecord};

    use super::*;

    fn episode(steps: usize) -> Episode {
        let step = StepRecord {
            action: Message::user("act").into(),
            outcome: Outcome::Observed {
                messages: vec![Message::user("seen").into()],
                reward: 0.0,
                done: false,
                truncated: false,
            },
            seconds: None,
            extras: Default::default(),
        };
        Episode {
            steps: vec![step; steps],
            ..Episode::default()
        }
    }

    fn scroll(steps: usize) -> Scroll {
        let mut scroll = Scroll::default();
        scroll.follow(&episode(steps), 0);
        scroll
    }

    #[test]
    fn the_window_is_bounded_and_covers_what_is_seen() {
        let mut scroll = scroll(10_000);
        for top in [0.0, 1_000.0, 500_000.0, 1e9] {
            scroll.scrolled(top);
            let window = scroll.window();
            assert!(window.len() < 40, "{window:?}");
            let (above, below) = scroll.room(&window);
            assert!(above <= scroll.top.min(scroll.heights.total()));
            let end = scroll.heights.total() - below;
            assert!(end >= (scroll.top + 600.0).min(scroll.heights.total()));
        }
    }

    #[test]
    fn a_reader_at_the_end_stays_there() {
        let mut scroll = scroll(100);
        assert!(scroll.follows());
        scroll.follow(&episode(101), 0);
        assert_eq!(scroll.top(), scroll.end());
        scroll.measured(90, &[500.0; 12]);
        assert_eq!(scroll.top(), scroll.end());
    }

    #[test]
    fn a_reader_who_scrolled_up_is_left_in_peace() {
        let mut scroll = scroll(100);
        scroll.scrolled(scroll.top() - 400.0);
        let top = scroll.top();
        scroll.follow(&episode(200), 0);
        assert_eq!(scroll.top(), top);
        assert!(!scroll.follows());
        scroll.to_end();
        assert_eq!(scroll.top(), scroll.end());
    }

    #[test]
    fn what_is_looked_at_stays_when_heights_above_turn_out_otherwise() {
        let mut scroll = scroll(100);
        let place = scroll.heights.top(50) + 10.0;
        scroll.scrolled(place);
        scroll.measured(48, &[999.0, 1.0]);
        assert_eq!(scroll.top(), scroll.heights.top(50) + 10.0);
    }

    #[test]
    fn a_step_is_revealed_only_if_it_is_out_of_sight() {
        let mut scroll = scroll(100);
        scroll.reveal(50);
        let top = scroll.top();
        assert_eq!(top, scroll.heights.top(50) - REVEALED_AT);
        scroll.reveal(51);
        assert_eq!(scroll.top(), top);
        scroll.reveal(0);
        assert_eq!(scroll.top(), 0.0);
    }

    #[test]
    fn a_cut_episode_leaves_the_reader_on_it() {
        let mut scroll = scroll(100);
        scroll.scrolled(scroll.top() - 400.0);
        scroll.follow(&episode(3), 1);
        assert!(scroll.top() <= scroll.end());
        assert_eq!(scroll.window().end, 4);
    }
}
