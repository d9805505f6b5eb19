//! The frame of the selected step and the previous frame, which a tree with change marks compares.

use std::sync::Arc;

use volary_core::json::Text;
use volary_core::{Frame, Json};
use volary_episode::frames::FrameHistory;

/// The frame of a step and its predecessor. Clones are cheap.
#[derive(Clone, Debug)]
pub struct StepFrames {
    /// The frame of the step.
    pub frame: Arc<Frame>,
    /// The frame of the step before; `None` at the reset.
    pub previous: Option<Arc<Frame>>,
    edition: u32,
    step: usize,
    /// The members of the state that are hidden.
    hidden: Vec<Text>,
}

impl StepFrames {
    /// The frames of a step, or `None` if no frame was recorded for it. `edition` identifies the history: frames of one
    /// edition never change. Takes time linear in the size of the frames.
    pub fn of(frames: &FrameHistory, edition: u32, step: usize) -> Option<StepFrames> {
        let (previous, frame) = frames.get_with_previous(step)?;
        Some(StepFrames {
            frame: Arc::new(frame),
            previous: previous.map(Arc::new),
            edition,
            step,
            hidden: Vec::new(),
        })
    }

    /// Hides these members of the state, which only a reviewer may see.
    pub fn without(mut self, hidden: &[Text]) -> StepFrames {
        if !hidden.is_empty() {
            self.frame = Arc::new(without(&self.frame, hidden));
            let previous = self.previous.as_deref();
            self.previous = previous.map(|previous| Arc::new(without(previous, hidden)));
            self.hidden = hidden.to_vec();
        }
        self
    }

    /// Whether these are the frames of this step in this edition, without these members.
    pub fn is_of(&self, edition: u32, step: usize, hidden: &[Text]) -> bool {
        (self.edition, self.step) == (edition, step) && self.hidden == hidden
    }
}

fn without(frame: &Frame, hidden: &[Text]) -> Frame {
    let mut frame = frame.clone();
    if let Json::Object(state) = &mut frame.state {
        hidden.iter().for_each(|name| {
            state.remove(name);
        });
    }
    frame
}

/// Compares edition and step instead of the frames, which may be large.
impl PartialEq for StepFrames {
    fn eq(&self, other: &Self) -> bool {
        self.is_of(other.edition, other.step, &other.hidden)
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

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
            assert!(found.is_of(7, step, &[]) && !found.is_of(8, step, &[]));
        }
        assert_eq!(StepFrames::of(&frames, 7, 3), None);
    }

    #[test]
    fn hidden_members_are_in_neither_frame() {
        let frame = |step: i64| {
            let state = object!({"step": step, "answer": 7});
            Frame::new(Json::Object(state), Json::Null)
        };
        let frames: FrameHistory = (0..2).map(frame).collect();
        let all = StepFrames::of(&frames, 1, 1).unwrap();
        let hidden = [Text::from("answer"), "absent".into()];
        let shown = all.clone().without(&hidden);
        assert_eq!(shown.frame.state, Json::Object(object!({"step": 1})));
        let previous = shown.previous.as_ref().map(|frame| frame.state.clone());
        assert_eq!(previous, Some(Json::Object(object!({"step": 0}))));
        assert!(shown.is_of(1, 1, &hidden) && shown != all);
        assert_eq!(all.clone().without(&[]), all);
    }
}
