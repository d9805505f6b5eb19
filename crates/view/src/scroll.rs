//! The scroll position in a long transcript, and the blocks that have to be rendered for it.
//!
//! Most heights are estimates until a block has been rendered. When an estimate is corrected, the visible
//! content stays in place: the position is stored as a block and an offset within it. A reader at the end stays
//! at the end while the episode grows; a reader who scrolled up is not moved.

use std::ops::Range;

use volary_episode::Episode;

use super::heights::Heights;
use super::transcript::{TranscriptIndex, estimated_height};

/// Blocks within this distance of the viewport are rendered too, in pixels.
const MARGIN: f64 = 600.0;
/// Blocks within this distance are rendered after a jump to another part of the episode, so that it takes little time;
/// scrolling on renders the others.
const JUMP_MARGIN: f64 = 400.0;
/// The window is kept while it extends beyond the viewport by at least this much…
const MIN_MARGIN: f64 = 300.0;
/// …and at most this much.
const MAX_MARGIN: f64 = 1_000.0;
/// Distances up to this count as being at the end.
const NEAR_END: f64 = 32.0;
/// A block with less than this below the upper edge counts as invisible, which absorbs rounding.
const UNSEEN: f64 = 1.0;
/// A step is in view if it begins within this share of the viewport.
const IN_SIGHT: f64 = 0.6;
/// Going back places the step here, below those that follow on the way.
const TURNED_TO: f64 = 0.5;

/// A scroll position.
#[derive(Clone, Debug)]
pub struct Scroll {
    index: TranscriptIndex,
    heights: Heights,
    /// The height above the upper edge of the viewport.
    top: f64,
    /// The scroll offset of the page, which lags behind.
    on_page: f64,
    /// The height of the viewport.
    viewport: f64,
    /// The height of the content after the last block.
    tail: f64,
    /// Whether the reader is at the end and stays there.
    follows: bool,
    /// Whether the position was chosen, and not scrolled to since. Heights that were estimated too low do not move it to
    /// the end then: an episode that seems to fit on the screen opens at its start.
    is_revealed: bool,
}

impl Default for Scroll {
    fn default() -> Self {
        Scroll {
            index: TranscriptIndex::default(),
            heights: Heights::default(),
            top: 0.0,
            on_page: 0.0,
            viewport: 600.0,
            tail: 0.0,
            follows: true,
            is_revealed: false,
        }
    }
}

impl Scroll {
    /// Applies changes of the episode.
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

    /// The index of the blocks.
    pub fn index(&self) -> &TranscriptIndex {
        &self.index
    }

    /// The scroll position: the height above the upper edge of the viewport.
    pub fn top(&self) -> f64 {
        self.top
    }

    /// Whether the reader is at the end.
    pub fn follows(&self) -> bool {
        self.follows || self.end() == 0.0
    }

    /// The blocks to render.
    pub fn window(&self) -> Range<usize> {
        self.around(MARGIN)
    }

    /// Like [`Scroll::window`], if some blocks are rendered already: they are kept while they extend far enough beyond
    /// the viewport and not too far, and are extended otherwise. This is a hysteresis: without it, each correction of
    /// an estimate would render another block at either end, which costs a frame and is not visible. After a jump, when
    /// none of them can be kept, the margin is smaller.
    pub fn window_from(&self, shown: &Range<usize>) -> Range<usize> {
        let covers = |outer: &Range<usize>, inner: &Range<usize>| {
            outer.start <= inner.start && inner.end <= outer.end
        };
        let window = self.window();
        let is_part = shown.start < window.end && window.start < shown.end;
        if !is_part && !shown.is_empty() {
            return self.around(JUMP_MARGIN);
        }
        if !is_part || !covers(&self.around(MAX_MARGIN), shown) {
            return window;
        }
        if covers(shown, &self.around(MIN_MARGIN)) {
            shown.clone()
        } else {
            window.start.min(shown.start)..window.end.max(shown.end)
        }
    }

    /// The blocks within the viewport and a margin above and below it.
    fn around(&self, margin: f64) -> Range<usize> {
        let first = self.heights.at((self.top - margin).max(0.0) + UNSEEN);
        let last = self.heights.at(self.top + self.viewport + margin);
        first..self.heights.len().min(last + 1)
    }

    /// The heights above and below the rendered blocks.
    pub fn room(&self, blocks: &Range<usize>) -> (f64, f64) {
        let above = self.heights.top(blocks.start);
        (above, self.heights.total() - self.heights.top(blocks.end))
    }

    /// Whether the page has this scroll position, as far as is known.
    pub fn is_placed(&self) -> bool {
        (self.top.round() - self.on_page).abs() < 1.0
    }

    /// Handles the result of scrolling the page to [`Scroll::top`], as close as possible.
    pub fn shown(&mut self, top: f64) {
        self.on_page = top;
    }

    /// Handles a scroll event; `at_end` if the page is at its end. The reader scrolled, unless this is the position
    /// that was set. If blocks were replaced by lower ones, the browser scrolls up to the new end, and a reader who
    /// was at the end stays there.
    pub fn scrolled(&mut self, top: f64, at_end: bool) {
        if (top - self.on_page).abs() < 1.5 {
            return;
        }
        self.on_page = top;
        self.is_revealed = false;
        if self.follows && at_end {
            return;
        }
        self.follows = top >= self.end() - NEAR_END;
        self.top = top.max(0.0);
    }

    /// Handles a new height of the viewport, or of the content after the last block.
    pub fn resized(&mut self, viewport: f64, tail: f64) {
        self.viewport = viewport;
        self.tail = tail;
        self.hold();
        self.stay_where_all_is_seen();
    }

    /// Handles the measured heights of rendered blocks, starting at `first`.
    pub fn measured(&mut self, first: usize, heights: &[f64]) {
        let block = self.heights.at(self.top + UNSEEN);
        let into = self.top - self.heights.top(block);
        for (place, height) in heights.iter().enumerate() {
            self.heights.set(first + place, *height);
        }
        self.top = self.heights.top(block) + into;
        self.hold();
        self.stay_where_all_is_seen();
    }

    /// Scrolls to the start of a step, unless it is well in view already. Stepping through the episode in either
    /// direction scrolls once in a few steps.
    pub fn reveal(&mut self, step: usize) {
        let place = self.heights.top(self.index.first_block(step));
        let in_sight = place >= self.top - UNSEEN && place < self.top + IN_SIGHT * self.viewport;
        if !in_sight {
            let is_next_above = place < self.top && place >= self.top - self.viewport;
            let below = if is_next_above {
                // All of the step is visible, if it fits.
                let end = self.heights.top(self.index.first_block(step + 1));
                let room = self.viewport - (end - place);
                room.clamp(0.0, TURNED_TO * self.viewport)
            } else {
                0.0
            };
            self.top = (place - below).clamp(0.0, self.end());
        }
        self.follows = self.top > 0.0 && self.top >= self.end() - NEAR_END;
        self.is_revealed = true;
    }

    /// Scrolls to a message of a step.
    pub fn reveal_message(&mut self, step: usize, message: usize) {
        let block = self.index.block_of(step, message);
        self.top = self.heights.top(block).clamp(0.0, self.end());
        self.follows = false;
        self.is_revealed = true;
    }

    /// Scrolls to the end, and follows it.
    pub fn to_end(&mut self) {
        self.follows = true;
        self.is_revealed = false;
        self.hold();
    }

    /// Keeps the position, even if the content grows below.
    pub fn stay(&mut self) {
        self.follows = false;
    }

    /// The largest scroll position.
    fn end(&self) -> f64 {
        (self.heights.total() + self.tail - self.viewport).max(0.0)
    }

    /// If all content is visible, a reader who chose no position is at the end, whatever was estimated before.
    fn stay_where_all_is_seen(&mut self) {
        self.follows |= !self.is_revealed && self.end() == 0.0;
    }

    fn hold(&mut self) {
        let end = self.end();
        self.top = if self.follows { end } else { self.top.min(end) };
    }
}

#[cfg(test)]
mod tests;
