//! The reader's progress in lessons, stored in this browser.

use leptos::prelude::*;
use volary_lesson::Progress;

use crate::browser::storage::{self, Keep};

/// Storage key.
const KEY: &str = "lessons";

/// Signals of the reader's progress in all lessons.
#[derive(Clone, Copy)]
pub(super) struct LessonProgress {
    progress: RwSignal<Progress>,
}

impl LessonProgress {
    /// Loads the stored progress.
    pub fn of_browser() -> LessonProgress {
        let kept = storage::get(Keep::Always, KEY).unwrap_or_default();
        LessonProgress {
            progress: RwSignal::new(Progress::read(&kept)),
        }
    }

    /// The number of checks of a lesson that are met.
    pub fn met(self, lesson: &str) -> usize {
        self.progress.with(|progress| progress.met(lesson))
    }

    /// Returns whether a check of a lesson is met.
    pub fn is_met(self, lesson: &str, check: usize) -> bool {
        self.progress
            .with(|progress| progress.is_met(lesson, check))
    }

    /// Records that a check is met.
    pub fn meet(self, lesson: &str, check: usize) {
        let is_known = self
            .progress
            .with_untracked(|progress| progress.is_met(lesson, check));
        if !is_known {
            self.progress.update(|progress| {
                progress.meet(lesson, check);
            });
            self.keep();
        }
    }

    /// Resets the progress in a lesson, or in all of them.
    pub fn reset(self, lesson: Option<&str>) {
        self.progress.update(|progress| progress.reset(lesson));
        self.keep();
    }

    /// Stores the progress. If the browser refuses, it lasts until the tab is closed.
    fn keep(self) {
        let text = self.progress.with_untracked(Progress::to_text);
        storage::set(Keep::Always, KEY, &text);
    }
}
