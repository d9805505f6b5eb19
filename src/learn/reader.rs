//! What the reader has done, kept in this browser.

use leptos::prelude::*;
use volary_lesson::Progress;

use crate::browser::storage::{self, Keep};

/// The name of the record in the browser.
const KEY: &str = "lessons";

/// The reader's progress in all lessons.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    progress: RwSignal<Progress>,
}

impl Reader {
    /// The reader as the browser remembers them.
    pub fn of_browser() -> Reader {
        let kept = storage::get(Keep::Always, KEY).unwrap_or_default();
        Reader {
            progress: RwSignal::new(Progress::read(&kept)),
        }
    }

    /// How many checks of a lesson are met.
    pub fn met(self, lesson: &str) -> usize {
        self.progress.with(|progress| progress.met(lesson))
    }

    /// Whether a check of a lesson is met.
    pub fn is_met(self, lesson: &str, check: usize) -> bool {
        self.progress
            .with(|progress| progress.is_met(lesson, check))
    }

    /// Notes that a check is met.
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

    /// Forgets a lesson, or all of them.
    pub fn reset(self, lesson: Option<&str>) {
        self.progress.update(|progress| progress.reset(lesson));
        self.keep();
    }

    /// A browser may refuse to keep it; then it lasts until the tab is closed.
    fn keep(self) {
        let text = self.progress.with_untracked(Progress::to_text);
        storage::set(Keep::Always, KEY, &text);
    }
}
