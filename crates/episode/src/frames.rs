//! The frames of an episode, stored as deltas, so that memory stays linear even if every frame repeats all earlier
//! content.
//!
//! Invariants: frame `i` is returned exactly as it was pushed. Storage is a small multiple of the size of the changes,
//! because a whole frame is stored as a keyframe as soon as the changes since the last one outweigh it. Rebuilding a
//! frame copies at most [`MOST_TO_REBUILD`] bytes besides the frame itself.
//!
//! A change of a few bytes can copy megabytes of text. Histories from files are therefore read with the bound
//! [`MOST_TO_READ`] ([`FrameHistory::push_patch_within`]); frames beyond it are dropped and counted
//! ([`FrameHistory::left_out`]).

use volary_core::Frame;

use crate::diff::identical;
use crate::patch::{Allowance, Patch, PatchError, weight};

/// The bytes that applying all changes of a history from a file may copy. A text of 1 MB may change 2,000 times.
pub const MOST_TO_READ: u64 = 2 << 30;

/// The bytes that rebuilding a frame may copy. If the changes since the last whole frame would copy more, another whole
/// frame is stored.
pub const MOST_TO_REBUILD: u64 = 256 << 20;

/// The cost of comparing a value, in copied bytes; a text of 24 bytes counts as one value.
const COMPARED_VALUE: u64 = 96;

/// The delta from the previous frame (for the first frame: from the default frame).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramePatch {
    /// The new value of the field; `None` if it did not change.
    pub deepcopy: Option<bool>,
    /// The change of the state.
    pub state: Patch,
    /// The change of the info.
    pub info: Patch,
}

/// A sequence of frames.
#[derive(Clone, Debug, Default)]
pub struct FrameHistory {
    entries: Vec<Entry>,
    /// The last frame; the default frame if there are none.
    last: Frame,
    balance: Balance,
    /// The bytes that applying all patches copies.
    copied: u64,
    /// The cost of comparing whole frames from a file, in copied bytes.
    compared: u64,
    left_out: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    patch: FramePatch,
    /// The bytes that applying the patch copies.
    copied: u64,
    /// The whole frame, if it is stored and not contained in the patch.
    whole: Option<Frame>,
}

/// Decides when a whole frame is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Balance {
    /// The weight of the last whole frame.
    whole: usize,
    /// The weight of the patches since then.
    patches: usize,
    /// The bytes that applying these patches copies.
    copied: u64,
}

impl FramePatch {
    /// The patch that turns `old` into `new`.
    pub fn between(old: &Frame, new: &Frame) -> FramePatch {
        let patch = FramePatch {
            deepcopy: (old.deepcopy != new.deepcopy).then_some(new.deepcopy),
            state: Patch::between(&old.state, &new.state),
            info: Patch::between(&old.info, &new.info),
        };
        let sets = |patch: &Patch| matches!(patch, Patch::Set(_));
        if sets(&patch.state) && patch.weight() >= frame_weight(new) {
            FramePatch::whole(new)
        } else {
            patch
        }
    }

    /// The patch that turns any frame into this one.
    pub fn whole(frame: &Frame) -> FramePatch {
        FramePatch {
            deepcopy: Some(frame.deepcopy),
            state: Patch::Set(frame.state.clone()),
            info: Patch::Set(frame.info.clone()),
        }
    }

    /// The frame, if the patch contains all of it.
    fn as_whole(&self) -> Option<Frame> {
        match (self.deepcopy, &self.state, &self.info) {
            (Some(deepcopy), Patch::Set(state), Patch::Set(info)) => Some(Frame {
                deepcopy,
                state: state.clone(),
                info: info.clone(),
            }),
            _ => None,
        }
    }

    fn is_whole(&self) -> bool {
        self.deepcopy.is_some()
            && matches!((&self.state, &self.info), (Patch::Set(_), Patch::Set(_)))
    }

    /// Applies the patch in place. On an error the frame is left in an unspecified state.
    pub fn apply(&self, frame: &mut Frame) -> Result<(), PatchError> {
        self.apply_within(frame, &mut { Allowance::UNLIMITED })
    }

    fn apply_within(&self, frame: &mut Frame, allowance: &mut Allowance) -> Result<(), PatchError> {
        if let Some(deepcopy) = self.deepcopy {
            frame.deepcopy = deepcopy;
        }
        self.state.apply_within(&mut frame.state, allowance)?;
        self.info.apply_within(&mut frame.info, allowance)
    }

    pub(crate) fn weight(&self) -> usize {
        1 + self.state.weight() + self.info.weight()
    }
}

fn frame_weight(frame: &Frame) -> usize {
    weight(&frame.state) + weight(&frame.info)
}

impl FrameHistory {
    /// The number of frames.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The last frame.
    pub fn last(&self) -> Option<&Frame> {
        (!self.is_empty()).then_some(&self.last)
    }

    /// Appends a frame.
    pub fn push(&mut self, frame: Frame) {
        let patch = FramePatch::between(&self.last, &frame);
        let applied = self.apply(&patch, Allowance::UNLIMITED);
        // The patch was computed for this very frame.
        debug_assert!(applied.is_ok(), "a patch fits the frame it was made for");
        self.last = frame;
        self.keep(patch, applied.unwrap_or_default());
    }

    /// Appends the frame that results from applying a patch to the last one. On an error nothing changes.
    pub fn push_patch(&mut self, patch: FramePatch) -> Result<(), PatchError> {
        self.push_allowed(patch, Allowance::UNLIMITED)
    }

    /// Appends the frame that results from applying a patch from a file to the last one. Once all patches together
    /// would copy more than [`MOST_TO_READ`], this frame and all later ones are dropped. On an error nothing changes.
    pub fn push_patch_within(&mut self, patch: FramePatch) -> Result<(), PatchError> {
        let spent = self.copied.saturating_add(self.compared);
        let left = MOST_TO_READ.saturating_sub(spent);
        let pushed = match self.left_out {
            0 => self.push_allowed(patch, Allowance::of(left)),
            _ => Err(PatchError::TooLarge),
        };
        match pushed {
            Err(PatchError::TooLarge) => {
                self.left_out += 1;
                Ok(())
            }
            pushed => pushed,
        }
    }

    /// Appends a frame built by a reader, like [`FrameHistory::push_patch_within`]: comparing it with the last one
    /// counts as copying all its values.
    pub fn push_within(&mut self, frame: &Frame) {
        if self.left_out > 0 {
            self.left_out += 1;
            return;
        }
        let cost = COMPARED_VALUE * frame_weight(frame) as u64;
        let spent = self.copied.saturating_add(self.compared);
        if cost > MOST_TO_READ.saturating_sub(spent) {
            self.left_out += 1;
            return;
        }
        self.compared += cost;
        self.push(frame.clone());
    }

    /// The number of frames of a file that were dropped at the end, because they would have copied too much.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The bytes that applying the patch of a frame copies.
    pub fn copied_at(&self, index: usize) -> u64 {
        self.entries.get(index).map_or(0, |entry| entry.copied)
    }

    fn push_allowed(&mut self, patch: FramePatch, allowance: Allowance) -> Result<(), PatchError> {
        match self.apply(&patch, allowance) {
            Ok(copied) => {
                self.keep(patch, copied);
                Ok(())
            }
            Err(error) => {
                self.last = self.get_last();
                Err(error)
            }
        }
    }

    /// Applies a patch to the last frame and returns the copied bytes. On an error the last frame is left in an
    /// unspecified state.
    fn apply(&mut self, patch: &FramePatch, allowance: Allowance) -> Result<u64, PatchError> {
        let mut left = allowance;
        patch.apply_within(&mut self.last, &mut left)?;
        Ok(left.used_since(allowance))
    }

    /// The patch from the previous frame to this one.
    pub fn patch(&self, index: usize) -> Option<&FramePatch> {
        self.entries.get(index).map(|entry| &entry.patch)
    }

    /// Rebuilds a frame; `None` if the index is out of range.
    pub fn get(&self, index: usize) -> Option<Frame> {
        if index + 1 == self.len() {
            return Some(self.last.clone());
        }
        (index < self.len()).then(|| self.rebuild(index))
    }

    /// Rebuilds a frame and the one before it, if there is one: in half the time that two calls of [`FrameHistory::get`]
    /// need. `None` if the index is out of range.
    pub fn get_with_previous(&self, index: usize) -> Option<(Option<Frame>, Frame)> {
        let previous = index.checked_sub(1).and_then(|before| self.get(before));
        let frame = match &previous {
            Some(previous) => {
                let mut frame = previous.clone();
                self.entries.get(index)?.advance(&mut frame);
                frame
            }
            None => self.get(index)?,
        };
        Some((previous, frame))
    }

    /// Drops all frames after the first `length`.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.len() {
            return;
        }
        self.entries.truncate(length);
        self.left_out = 0;
        self.last = self.get_last();
        let (whole, after) = self.nearest_whole(length);
        self.balance = Balance {
            whole: whole.as_ref().map_or(0, frame_weight),
            patches: self.entries[after..]
                .iter()
                .map(|entry| entry.patch.weight())
                .sum(),
            copied: self.entries[after..].iter().map(|entry| entry.copied).sum(),
        };
        self.copied = self.entries.iter().map(|entry| entry.copied).sum();
    }

    /// Iterates over all frames in order, each built from the previous one: the efficient way to read them all.
    pub fn cursor(&self) -> FrameCursor<'_> {
        FrameCursor {
            entries: self.entries.iter(),
            frame: Frame::default(),
        }
    }

    fn get_last(&self) -> Frame {
        match self.len() {
            0 => Frame::default(),
            length => self.rebuild(length - 1),
        }
    }

    /// The nearest whole frame among the first `length`, and the index after it.
    fn nearest_whole(&self, length: usize) -> (Option<Frame>, usize) {
        self.entries[..length]
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, entry)| Some((entry.frame()?, index + 1)))
            .map_or((None, 0), |(frame, after)| (Some(frame), after))
    }

    fn rebuild(&self, index: usize) -> Frame {
        let (whole, after) = self.nearest_whole(index + 1);
        let mut frame = whole.unwrap_or_default();
        for entry in &self.entries[after..=index] {
            entry.advance(&mut frame);
        }
        frame
    }

    fn keep(&mut self, patch: FramePatch, copied: u64) {
        self.balance.patches += patch.weight();
        self.balance.copied += copied;
        self.copied += copied;
        let mut whole = None;
        if patch.is_whole() {
            self.balance = Balance {
                whole: patch.weight(),
                ..Balance::default()
            };
        } else {
            let size = frame_weight(&self.last);
            // Or the frame shrank so much that starting from the last whole one would cost more.
            if self.balance.patches >= size
                || self.balance.whole / 2 > size
                || self.balance.copied >= MOST_TO_REBUILD
            {
                whole = Some(self.last.clone());
                self.balance = Balance {
                    whole: size,
                    ..Balance::default()
                };
            }
        }
        self.entries.push(Entry {
            patch,
            copied,
            whole,
        });
    }

    /// The size of the stored data except for the last frame, measured by [`weight`].
    #[cfg(test)]
    fn weight(&self) -> usize {
        let entries = self.entries.iter();
        entries
            .map(|entry| entry.patch.weight() + entry.whole.as_ref().map_or(0, frame_weight))
            .sum()
    }
}

impl Entry {
    fn frame(&self) -> Option<Frame> {
        self.whole.clone().or_else(|| self.patch.as_whole())
    }

    fn advance(&self, frame: &mut Frame) {
        let applied = self.patch.apply(frame);
        // Every stored patch was applied or computed when it was stored.
        debug_assert!(applied.is_ok(), "a kept patch fits");
    }
}

/// Histories are equal if their frames are [`identical`].
impl PartialEq for FrameHistory {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let patches = self.entries.iter().zip(&other.entries);
        if patches
            .clone()
            .all(|(left, right)| left.patch == right.patch)
        {
            return true;
        }
        let (mut left, mut right) = (self.cursor(), other.cursor());
        while let (Some(left), Some(right)) = (left.advance(), right.advance()) {
            let same = left.deepcopy == right.deepcopy
                && identical(&left.state, &right.state)
                && identical(&left.info, &right.info);
            if !same {
                return false;
            }
        }
        true
    }
}

impl From<Frame> for FrameHistory {
    fn from(frame: Frame) -> Self {
        let mut history = FrameHistory::default();
        history.keep(FramePatch::whole(&frame), 0);
        history.last = frame;
        history
    }
}

impl FromIterator<Frame> for FrameHistory {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        let mut history = FrameHistory::default();
        frames.into_iter().for_each(|frame| history.push(frame));
        history
    }
}

/// A cursor over the frames of a history.
pub struct FrameCursor<'a> {
    entries: std::slice::Iter<'a, Entry>,
    frame: Frame,
}

impl FrameCursor<'_> {
    /// Advances to the next frame.
    pub fn advance(&mut self) -> Option<&Frame> {
        let entry = self.entries.next()?;
        entry.advance(&mut self.frame);
        Some(&self.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::json::Json;

    fn grown(steps: usize, grow: impl Fn(&mut Vec<Json>, usize)) -> (FrameHistory, usize) {
        let mut history = FrameHistory::default();
        let mut list = Vec::new();
        for step in 0..steps {
            grow(&mut list, step);
            history.push(Frame::new(list.clone(), Json::Null));
        }
        (history, frame_weight(&Frame::new(list, Json::Null)))
    }

    #[test]
    fn memory_stays_linear_for_states_that_grow() {
        let line = |step: usize| Json::from(format!("message {step}"));
        let append = grown(2_000, |list, step| list.push(line(step)));
        let prepend = grown(2_000, |list, step| list.insert(0, line(step)));
        let middle = grown(2_000, |list, step| list.insert(list.len() / 2, line(step)));
        for (history, last) in [append, prepend, middle] {
            assert!(
                history.weight() < 20 * last,
                "{} for {last}",
                history.weight()
            );
        }
    }

    #[test]
    fn memory_stays_linear_for_texts_that_grow_and_windows_that_slide() {
        let mut text = String::new();
        let mut history = FrameHistory::default();
        for step in 0..1_000 {
            text.push_str(&format!("This is what happened in step {step}.\n"));
            let state = Json::Object(volary_core::object!({ "log": (text.clone()), "n": 1 }));
            history.push(Frame::new(state, Json::Null));
        }
        assert!(
            history.weight() < 14 * text.len() / 24,
            "{}",
            history.weight()
        );

        let (history, _) = grown(2_000, |list, step| {
            list.push(Json::from(format!("message {step}")));
            if list.len() > 50 {
                list.remove(0);
            }
        });
        assert!(history.weight() < 2_000 * 14, "{}", history.weight());
    }

    #[test]
    fn a_frame_and_the_one_before_it_are_those_that_were_pushed() {
        let (history, _) = grown(300, |list, step| match step % 40 {
            39 => list.clear(),
            _ => list.push(Json::from(step as i64)),
        });
        for index in 0..history.len() {
            let (previous, frame) = history.get_with_previous(index).unwrap();
            assert_eq!(Some(frame), history.get(index));
            assert_eq!(
                previous,
                index.checked_sub(1).and_then(|at| history.get(at))
            );
        }
        assert_eq!(history.get_with_previous(history.len()), None);
        assert_eq!(FrameHistory::default().get_with_previous(0), None);
    }

    #[test]
    fn a_shrunken_frame_does_not_start_from_a_large_one() {
        let mut history = FrameHistory::default();
        history.push(Frame::new(vec![Json::Null; 10_000], Json::Null));
        for left in [5_000, 50, 2] {
            history.push(Frame::new(vec![Json::Null; left], Json::Null));
        }
        let (start, _) = history.nearest_whole(4);
        assert!(frame_weight(&start.unwrap()) < 10);
    }

    /// A history of a text of `length` bytes, with `changes` changes of a byte in its middle.
    fn spliced(length: usize, changes: usize) -> FrameHistory {
        use crate::patch::Splice;

        let mut history = FrameHistory::default();
        let text = "x".repeat(length);
        history.push(Frame::new(text.as_str(), Json::Null));
        for _ in 0..changes {
            let patch = FramePatch {
                state: Patch::Splice(Splice {
                    start: length / 2,
                    cut: 1,
                    end: length - length / 2 - 1,
                    insert: "y".into(),
                }),
                ..FramePatch::default()
            };
            history.push_patch_within(patch).unwrap();
        }
        history
    }

    #[test]
    fn frames_that_copy_too_much_are_left_out_and_counted() {
        let length = 32 << 20;
        let most = MOST_TO_READ as usize / (length + 1);
        let history = spliced(length, most + 10);
        assert_eq!((history.len(), history.left_out()), (most + 1, 10));
        assert!(history.last().is_some());

        let few = spliced(1_000, 1_000);
        assert_eq!((few.len(), few.left_out()), (1_001, 0));
    }

    #[test]
    fn getting_a_frame_copies_at_most_the_limit() {
        let length = 16 << 20;
        let history = spliced(length, 100);
        for index in 0..history.len() {
            let (_, after) = history.nearest_whole(index + 1);
            let copied: u64 = (after..=index).map(|index| history.copied_at(index)).sum();
            assert!(copied <= MOST_TO_REBUILD, "{index}: {copied}");
        }
        // Few whole frames are stored.
        let wholes = history.entries.iter().filter(|entry| entry.whole.is_some());
        assert!(wholes.count() <= 100 * length / MOST_TO_REBUILD as usize + 1);
    }
}
