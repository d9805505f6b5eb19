//! The reader's progress in lessons, stored in this browser and shared by its tabs.

use leptos::prelude::*;
use volary_lesson::Progress;

use crate::shared::Shared;

thread_local! {
    static STATE: Shared<Progress> = Shared::new(
        "lessons",
        |text| Some(Progress::read(text)),
        Progress::to_text,
        |_| {},
    );
}

/// The reader's progress in all lessons, in all tabs.
#[derive(Clone, Copy)]
pub(super) struct LessonProgress;

impl LessonProgress {
    /// The number of checks of a lesson that are met.
    pub fn met(self, lesson: &str) -> usize {
        STATE
            .with(Shared::signal)
            .with(|progress| progress.met(lesson))
    }

    /// Returns whether a check of a lesson is met.
    pub fn is_met(self, lesson: &str, check: usize) -> bool {
        STATE
            .with(Shared::signal)
            .with(|progress| progress.is_met(lesson, check))
    }

    /// Records that a check is met.
    pub fn meet(self, lesson: &str, check: usize) {
        if !untrack(|| self.is_met(lesson, check)) {
            STATE.with(|state| {
                state.change(|progress| {
                    progress.meet(lesson, check);
                });
            });
        }
    }

    /// Resets the progress in a lesson, or in all of them.
    pub fn reset(self, lesson: Option<&str>) {
        STATE.with(|state| state.change(|progress| progress.reset(lesson)));
    }
}
