//! What was achieved in the school's tasks of lessons: written by the page of the school, read by lessons, stored in this
//! browser and shared by its tabs.

use leptos::prelude::*;
use volary_app::school::{SchoolFact, SchoolGoal, SchoolRecord, SchoolTask};
use volary_browser::shared::Shared;

thread_local! {
    static RECORD: Shared<SchoolRecord> = Shared::new(
        "school",
        SchoolRecord::read,
        SchoolRecord::to_text,
        |_| {},
    );
}

/// Signals of the record.
#[derive(Clone, Copy)]
pub struct SchoolAchievements {
    record: RwSignal<SchoolRecord>,
}

impl SchoolAchievements {
    pub fn of_browser() -> Self {
        SchoolAchievements {
            record: RECORD.with(Shared::signal).into(),
        }
    }

    /// The task that was opened last.
    pub fn task(self) -> Option<SchoolTask> {
        self.record.with(|record| record.task().cloned())
    }

    /// Whether all facts happened in a task of a lesson.
    pub fn has(self, lesson: &str, block: &str, facts: &[SchoolFact]) -> bool {
        self.record.with(|record| record.has(lesson, block, facts))
    }

    /// Whether a goal of the task that was opened last is reached.
    pub fn is_reached(self, goal: &SchoolGoal) -> bool {
        self.record.with(|record| record.is_reached(goal))
    }

    pub fn open(self, task: SchoolTask) {
        change(|record| record.open(task));
    }

    /// The block of the task for which a lesson was left, when the person comes back to it.
    pub fn come_back(self, lesson: &str) -> Option<String> {
        // Nothing is written for lessons that were not left.
        let was_left = self
            .record
            .with_untracked(|record| record.clone().come_back(lesson));
        if was_left.is_some() {
            change(|record| {
                record.come_back(lesson);
            });
        }
        was_left
    }

    pub fn close(self) {
        change(SchoolRecord::close);
    }

    /// Something happened in a run that began with these settings. Nothing is stored if no lesson asks for it.
    pub fn happened(self, began: &str, fact: SchoolFact) {
        let is_wanted = self.record.with_untracked(|record| {
            let task = record.task();
            task.is_some_and(|task| task.settings == began)
        });
        if is_wanted {
            change(|record| record.happened(began, fact));
        }
    }

    pub fn reset(self, lesson: Option<&str>) {
        change(|record| record.reset(lesson));
    }
}

fn change(act: impl FnOnce(&mut SchoolRecord)) {
    RECORD.with(|record| record.change(act));
}
