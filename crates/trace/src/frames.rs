//! The frames of an episode, kept as changes, so that memory stays linear even if every frame holds
//! all that happened so far.
//!
//! What always holds: frame `i` comes back exactly as it was pushed. All that is kept weighs a few times
//! as much as the changes; getting a frame costs a few times as much as copying it, since a whole
//! frame is kept wherever the changes since the last one grew heavier than the frame.

use volary_core::Frame;

use crate::diff::identical;
use crate::patch::{Patch, PatchError, weight};

/// How to make a frame out of the one before it (the first: out of the default frame).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramePatch {
    /// The new value of the field, if it changed.
    pub deepcopy: Option<bool>,
    /// The change of the state.
    pub state: Patch,
    /// The change of the info.
    pub info: Patch,
}

/// The frames in order.
#[derive(Clone, Debug, Default)]
pub struct FrameHistory {
    entries: Vec<Entry>,
    /// The last frame; the default one if there is none.
    last: Frame,
    balance: Balance,
}

#[derive(Clone, Debug)]
struct Entry {
    patch: FramePatch,
    /// The whole frame, where it is kept and the patch does not hold it.
    whole: Option<Frame>,
}

/// What tells when a whole frame is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Balance {
    /// The weight of the last whole frame.
    whole: usize,
    /// The weight of the patches since.
    patches: usize,
}

impl FramePatch {
    /// The patch that makes one frame out of another.
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

    /// The patch that makes this frame out of any.
    pub fn whole(frame: &Frame) -> FramePatch {
        FramePatch {
            deepcopy: Some(frame.deepcopy),
            state: Patch::Set(frame.state.clone()),
            info: Patch::Set(frame.info.clone()),
        }
    }

    /// The frame, if the patch holds all of it.
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

    /// Makes the new frame of the old one. On an error the frame is spoilt.
    pub fn apply(&self, frame: &mut Frame) -> Result<(), PatchError> {
        if let Some(deepcopy) = self.deepcopy {
            frame.deepcopy = deepcopy;
        }
        self.state.apply(&mut frame.state)?;
        self.info.apply(&mut frame.info)
    }

    pub(crate) fn weight(&self) -> usize {
        1 + self.state.weight() + self.info.weight()
    }
}

fn frame_weight(frame: &Frame) -> usize {
    weight(&frame.state) + weight(&frame.info)
}

impl FrameHistory {
    /// How many frames there are.
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
        self.last = frame;
        self.keep(patch);
    }

    /// Appends the frame that a patch makes out of the last one. On an error nothing changes.
    pub fn push_patch(&mut self, patch: FramePatch) -> Result<(), PatchError> {
        if let Err(error) = patch.apply(&mut self.last) {
            self.last = self.get_last();
            return Err(error);
        }
        self.keep(patch);
        Ok(())
    }

    /// The patch from the frame before to this one.
    pub fn patch(&self, index: usize) -> Option<&FramePatch> {
        self.entries.get(index).map(|entry| &entry.patch)
    }

    /// A frame.
    pub fn get(&self, index: usize) -> Option<Frame> {
        if index + 1 == self.len() {
            return Some(self.last.clone());
        }
        (index < self.len()).then(|| self.rebuild(index))
    }

    /// Keeps the first `length` frames.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.len() {
            return;
        }
        self.entries.truncate(length);
        self.last = self.get_last();
        let (whole, after) = self.nearest_whole(length);
        self.balance = Balance {
            whole: whole.as_ref().map_or(0, frame_weight),
            patches: self.entries[after..]
                .iter()
                .map(|entry| entry.patch.weight())
                .sum(),
        };
    }

    /// All frames in order, each made out of the one before: the way to read them all.
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

    /// The nearest whole frame among the first `length`, and the place after it.
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

    fn keep(&mut self, patch: FramePatch) {
        self.balance.patches += patch.weight();
        let mut whole = None;
        if patch.is_whole() {
            self.balance = Balance {
                whole: patch.weight(),
                patches: 0,
            };
        } else {
            let size = frame_weight(&self.last);
            // Or the frame shrank so much that starting from the last whole one would cost more.
            if self.balance.patches >= size || self.balance.whole / 2 > size {
                whole = Some(self.last.clone());
                self.balance = Balance {
                    whole: size,
                    patches: 0,
                };
            }
        }
        self.entries.push(Entry { patch, whole });
    }

    /// What is kept beside the last frame, in the measure of [`weight`].
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
        // Every patch was applied, or made from the very frames, when it was kept.
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
        history.keep(FramePatch::whole(&frame));
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

/// Reads the frames of a history in order.
pub struct FrameCursor<'a> {
    entries: std::slice::Iter<'a, Entry>,
    frame: Frame,
}

impl FrameCursor<'_> {
    /// The next frame.
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
    fn a_shrunken_frame_does_not_start_from_a_large_one() {
        let mut history = FrameHistory::default();
        history.push(Frame::new(vec![Json::Null; 10_000], Json::Null));
        for left in [5_000, 50, 2] {
            history.push(Frame::new(vec![Json::Null; left], Json::Null));
        }
        let (start, _) = history.nearest_whole(4);
        assert!(frame_weight(&start.unwrap()) < 10);
    }
}
