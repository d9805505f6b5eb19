//! The reader's progress in lessons, stored in this browser and shared by its tabs.

use leptos::prelude::*;
use volary_lesson::Progress;

use volary_browser::shared::{Shared, Unsaved};

thread_local! {
    static PROGRESS: Shared<Progress> = Shared::new(
        "lessons",
        Progress::read,
        Progress::to_text,
        |_| {},
    );
}

/// Signals of the reader's progress in all lessons.
#[derive(Clone, Copy)]
pub(super) struct LessonProgress {
    progress: RwSignal<Progress>,
}

impl LessonProgress {
    pub fn of_browser() -> LessonProgress {
        LessonProgress {
            progress: PROGRESS.with(Shared::signal).into(),
        }
    }

    /// Whether changes of the progress are only in memory.
    pub fn unsaved() -> Unsaved {
        PROGRESS.with(Shared::unsaved)
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
            change(|progress| _ = progress.meet(lesson, check));
        }
    }

    /// Resets the progress in a lesson, or in all of them.
    pub fn reset(self, lesson: Option<&str>) {
        change(|progress| progress.reset(lesson));
    }
}

/// Changes the progress in all tabs. If the browser refuses to store it, it lasts until the tab is closed.
fn change(act: impl FnOnce(&mut Progress)) {
    PROGRESS.with(|progress| progress.change(act));
}
