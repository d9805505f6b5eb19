//! The assignments that were made in this browser, so that a teacher finds their links and boards again.

use leptos::prelude::*;
use volary_classroom::Assignment;

use crate::browser::storage::{self, Keep};

/// Storage key. The value has one assignment in each line, the latest first.
const KEY: &str = "class.given";

/// The maximum number of assignments.
const MOST: usize = 50;

/// The assignments that were made here, the latest first.
#[derive(Clone, Copy)]
pub struct Given {
    pub all: RwSignal<Vec<Assignment>>,
}

impl Given {
    /// Loads the stored assignments; damaged ones are skipped.
    pub fn of_browser() -> Given {
        let text = storage::get(Keep::Always, KEY).unwrap_or_default();
        let all = text.lines().filter_map(|line| Assignment::read(line).ok());
        Given {
            all: RwSignal::new(all.collect()),
        }
    }

    /// Adds an assignment, or replaces the one with the same id.
    pub fn add(self, assignment: Assignment) {
        self.change(|all| {
            all.retain(|known| known.id != assignment.id);
            all.insert(0, assignment);
            all.truncate(MOST);
        });
    }

    pub fn remove(self, id: &str) {
        self.change(|all| all.retain(|known| known.id != id));
    }

    fn change(self, change: impl FnOnce(&mut Vec<Assignment>)) {
        self.all.update(change);
        let lines = self.all.with_untracked(|all| {
            let lines = all.iter().map(Assignment::to_text);
            lines.collect::<Vec<_>>().join("\n")
        });
        // If the browser refuses, they are listed until the page is left.
        storage::set(Keep::Always, KEY, &lines);
    }
}
