//! The frame of the selected step and the previous frame, which a tree with change marks compares.

use std::sync::Arc;

use volary_core::Frame;
use volary_trajectory::frames::FrameHistory;

/// The frame of a step and its predecessor. Clones are cheap.
#[derive(Clone, Debug)]
pub struct StepFrames {
    /// The frame of the step.
    pub frame: Arc<Frame>,
    /// The frame of the step before; `None` at the reset.
    pub previous: Option<Arc<Frame>>,
    edition: u32,
    step: usize,
}

impl StepFrames {
    /// The frames of a step, or `None` if no frame was recorded for it. `edition` identifies the history: frames of one
    /// edition never change. Takes time linear in the size of the frames.
    pub fn of(frames: &FrameHistory, edition: u32, step: usize) -> Option<StepFrames> {
        let previous = step.checked_sub(1).and_then(|before| frames.get(before));
        Some(StepFrames {
            frame: Arc::new(frames.get(step)?),
            previous: previous.map(Arc::new),
            edition,
            step,
        })
    }

    /// Whether these are the frames of this step in this edition.
    pub fn is_of(&self, edition: u32, step: usize) -> bool {
        (self.edition, self.step) == (edition, step)
    }
}

/// Compares edition and step instead of the frames, which may be large.
impl PartialEq for StepFrames {
    fn eq(&self, other: &Self) -> bool {
        self.is_of(other.edition, other.step)
    }
}

#[cfg(test)]
mod tests {
    use volary_core::Json;

    use super::*;

    #[test]
    fn a_step_has_its_frame_and_the_one_before() {
        let frame = |step: i64| Frame::new(Json::from(step), Json::Null);
        let frames: FrameHistory = (0..3).map(frame).collect();
        for step in 0..3 {
            let found = StepFrames::of(&frames, 7, step).unwrap();
            assert_eq!(*found.frame, frame(step as i64));
            let before = step.checked_sub(1).map(|before| frame(before as i64));
            assert_eq!(found.previous.as_deref(), before.as_ref());
            assert!(found.is_of(7, step) && !found.is_of(8, step));
        }
        assert_eq!(StepFrames::of(&frames, 7, 3), None);
    }
}
