//! The progress of a reader: the checks that are met, by lesson. Stored in the browser as one versioned record.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;
/// The maximum number of lessons in the record; further ones are not stored. A lesson from elsewhere is identified by
/// its address.
const MOST_LESSONS: usize = 200;

/// The progress in all lessons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    version: u32,
    lessons: BTreeMap<String, BTreeSet<usize>>,
}

impl Default for Progress {
    fn default() -> Self {
        Progress {
            version: VERSION,
            lessons: BTreeMap::new(),
        }
    }
}

impl Progress {
    /// Parses a record. `None` if it is damaged or has a later version.
    pub fn read(text: &str) -> Option<Progress> {
        let read: Option<Progress> = serde_json::from_str(text).ok();
        read.filter(|progress| progress.version == VERSION)
    }

    /// Serializes the record.
    pub fn to_text(&self) -> String {
        // Texts and numbers can always be serialized.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether a check of a lesson is met.
    pub fn is_met(&self, lesson: &str, check: usize) -> bool {
        self.lessons
            .get(lesson)
            .is_some_and(|met| met.contains(&check))
    }

    /// The number of checks that are met in a lesson.
    pub fn met(&self, lesson: &str) -> usize {
        self.lessons.get(lesson).map_or(0, BTreeSet::len)
    }

    /// Marks a check as met; returns false if it already was, or if the record is full.
    pub fn meet(&mut self, lesson: &str, check: usize) -> bool {
        if self.lessons.len() >= MOST_LESSONS && !self.lessons.contains_key(lesson) {
            return false;
        }
        self.lessons
            .entry(lesson.to_owned())
            .or_default()
            .insert(check)
    }

    /// Removes the progress in a lesson, or in all of them.
    pub fn reset(&mut self, lesson: Option<&str>) {
        match lesson {
            Some(lesson) => {
                self.lessons.remove(lesson);
            }
            None => self.lessons.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_stored_and_reset() {
        let mut progress = Progress::default();
        assert!(progress.meet("a", 2));
        assert!(!progress.meet("a", 2));
        assert!(progress.meet("b", 1));
        let read = Progress::read(&progress.to_text()).unwrap();
        assert_eq!(read, progress);
        assert_eq!(
            (read.met("a"), read.is_met("a", 1), read.is_met("a", 2)),
            (1, false, true)
        );
        progress.reset(Some("a"));
        assert_eq!((progress.met("a"), progress.met("b")), (0, 1));
        progress.reset(None);
        assert_eq!(progress, Progress::default());
    }

    #[test]
    fn foreign_records_are_not_read() {
        for text in ["", "{}", "[1]", r#"{"version": 2, "lessons": {"a": [1]}}"#] {
            assert_eq!(Progress::read(text), None, "{text}");
        }
        assert_eq!(
            Progress::default().to_text(),
            r#"{"version":1,"lessons":{}}"#
        );
    }
}
