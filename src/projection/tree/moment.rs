//! The frame of a step with the one before it. Who goes from step to step has one of the two already.

use std::sync::Arc;

use volary_core::Frame;
use volary_trace::frames::FrameHistory;

/// A frame, and the one before it.
#[derive(Clone, Debug)]
pub struct FrameInTime {
    /// The frame.
    pub frame: Arc<Frame>,
    /// The one before it, if there is one.
    pub previous: Option<Arc<Frame>>,
    edition: u32,
    step: usize,
}

impl FrameInTime {
    /// The frame of a step of an edition, if there is one. `former` is what was shown before.
    pub fn of(
        frames: &FrameHistory,
        (edition, step): (u32, usize),
        former: Option<&FrameInTime>,
    ) -> Option<FrameInTime> {
        if step >= frames.len() {
            return None;
        }
        let known = |step| former.and_then(|former| former.at(edition, step));
        let previous = step
            .checked_sub(1)
            .and_then(|before| known(before).or_else(|| frames.get(before).map(Arc::new)));
        let frame = known(step).or_else(|| {
            let made = match &previous {
                Some(previous) => frames.get_after(previous, step),
                None => frames.get(step),
            };
            made.map(Arc::new)
        });
        Some(FrameInTime {
            frame: frame?,
            previous,
            edition,
            step,
        })
    }

    fn at(&self, edition: u32, step: usize) -> Option<Arc<Frame>> {
        if self.edition != edition {
            return None;
        }
        match self.step.checked_sub(step)? {
            0 => Some(Arc::clone(&self.frame)),
            1 => self.previous.clone(),
            _ => None,
        }
    }
}

/// Two are equal if they are of one place: frames of an edition stay what they are.
impl PartialEq for FrameInTime {
    fn eq(&self, other: &Self) -> bool {
        (self.edition, self.step) == (other.edition, other.step)
    }
}

#[cfg(test)]
mod tests {
    use volary_core::Json;

    use super::*;

    fn grown(steps: usize) -> FrameHistory {
        let texts = |step| (0..step).map(|place: usize| Json::from(format!("{place}")));
        let frame = |step| Frame::new(texts(step).collect::<Vec<_>>(), Json::Null);
        (0..steps).map(frame).collect()
    }

    #[test]
    fn whichever_way_one_comes_it_is_the_frame_of_the_step() {
        let frames = grown(9);
        let mut former = None;
        for step in [0, 1, 2, 7, 6, 5, 5, 8, 0] {
            let now = FrameInTime::of(&frames, (0, step), former.as_ref()).unwrap();
            assert_eq!(Some(&*now.frame), frames.get(step).as_ref());
            let before = step.checked_sub(1).and_then(|before| frames.get(before));
            assert_eq!(now.previous.as_deref(), before.as_ref());
            former = Some(now);
        }
        assert_eq!(FrameInTime::of(&frames, (0, 9), former.as_ref()), None);
    }

    #[test]
    fn another_edition_has_frames_of_its_own() {
        let one = FrameInTime::of(&grown(3), (0, 2), None);
        let frames: FrameHistory = [Frame::default(), Frame::default()].into_iter().collect();
        let other = FrameInTime::of(&frames, (1, 1), one.as_ref()).unwrap();
        assert_eq!(*other.frame, Frame::default());
        assert_ne!(Some(other), one);
    }
}
