//! The frame of a step with the one before it. Who goes from step to step has one of the two already.

use std::sync::Arc;

use volary_core::Frame;
use volary_trace::frames::FrameHistory;

use crate::later::Later;

type Of = fn(&FrameHistory, (u32, usize), Option<FrameInTime>) -> Option<FrameInTime>;

/// [`FrameInTime::of`] where steps were taken.
static AMONG_OTHERS: Later<Of> = Later::new();

pub(super) fn install() {
    AMONG_OTHERS.set(FrameInTime::among_others);
}

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
    /// The frame of a step of an edition, if there is one. `former` is what was shown before: what it has is taken over,
    /// and what is needed no more becomes what is needed now. In long episodes a copy of a frame takes longer than all
    /// that changes in it.
    pub fn of(
        frames: &FrameHistory,
        place: (u32, usize),
        former: Option<FrameInTime>,
    ) -> Option<FrameInTime> {
        match frames.len() {
            ..=1 => FrameInTime::alone(frames, place),
            _ => AMONG_OTHERS.get()?(frames, place, former),
        }
    }

    /// The first frame, where there is no other.
    fn alone(frames: &FrameHistory, (edition, step): (u32, usize)) -> Option<FrameInTime> {
        let frame = frames.last().filter(|_| step == 0)?;
        Some(FrameInTime {
            frame: Arc::new(frame.clone()),
            previous: None,
            edition,
            step,
        })
    }

    fn among_others(
        frames: &FrameHistory,
        (edition, step): (u32, usize),
        former: Option<FrameInTime>,
    ) -> Option<FrameInTime> {
        if step >= frames.len() {
            return None;
        }
        let former = former.filter(|former| former.edition == edition);
        let known = |step| former.as_ref().and_then(|former| former.at(step));
        let previous = step
            .checked_sub(1)
            .and_then(|before| known(before).or_else(|| frames.get(before).map(Arc::new)));
        let frame = known(step).or_else(|| {
            let spent = former.and_then(|former| former.spent_before(step));
            let earlier = match (spent, &previous) {
                (Some(spent), _) => Some((spent, step - 2)),
                (None, Some(previous)) => Some((Frame::clone(previous), step - 1)),
                (None, None) => None,
            };
            let made = match earlier {
                Some((mut frame, from)) => {
                    frames.advance(&mut frame, from, step);
                    Some(frame)
                }
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

    /// The edition and the step.
    pub fn place(&self) -> (u32, usize) {
        (self.edition, self.step)
    }

    fn at(&self, step: usize) -> Option<Arc<Frame>> {
        match self.step.checked_sub(step)? {
            0 => Some(Arc::clone(&self.frame)),
            1 => self.previous.clone(),
            _ => None,
        }
    }

    /// The frame two before a step, for those who go on to that step, if nobody else has it.
    fn spent_before(self, step: usize) -> Option<Frame> {
        match step.checked_sub(1)? == self.step {
            true => Arc::into_inner(self.previous?),
            false => None,
        }
    }
}

/// Two are equal if they are of one place: frames of an edition stay what they are.
impl PartialEq for FrameInTime {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
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
        for step in [0, 1, 2, 3, 7, 6, 5, 5, 6, 7, 8, 0] {
            let now = FrameInTime::of(&frames, (0, step), former).unwrap();
            assert_eq!(Some(&*now.frame), frames.get(step).as_ref());
            let before = step.checked_sub(1).and_then(|before| frames.get(before));
            assert_eq!(now.previous.as_deref(), before.as_ref());
            former = Some(now);
        }
        assert_eq!(FrameInTime::of(&frames, (0, 9), former), None);
    }

    #[test]
    fn another_edition_has_frames_of_its_own() {
        let one = FrameInTime::of(&grown(3), (0, 2), None);
        let frames: FrameHistory = [Frame::default(), Frame::default()].into_iter().collect();
        let other = FrameInTime::of(&frames, (1, 1), one.clone()).unwrap();
        assert_eq!(*other.frame, Frame::default());
        assert_ne!(Some(other), one);
    }
}
