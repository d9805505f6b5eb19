//! The task of a lesson that a person does on the page of the school, and what was achieved in such tasks. Stored in the
//! browser as one versioned record, which the lesson reads.
//!
//! Invariant: a fact counts for the task that was opened last, and only in a run that began with its settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{FactSet, SchoolFact};

const VERSION: u32 = 1;
/// The maximum number of tasks in the record. When it is full, it is begun again with the latest.
const MOST_TASKS: usize = 200;

/// A task of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchoolTask {
    /// The key of the lesson's progress, and the id of the block.
    pub lesson: String,
    pub block: String,
    pub title: String,
    /// The parameters of the address with which the run begins.
    pub settings: String,
    /// The address that leads back to the lesson.
    pub back: String,
    pub goals: Vec<SchoolGoal>,
}

/// A check of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchoolGoal {
    pub text: String,
    /// All have to happen.
    pub facts: Vec<SchoolFact>,
}

/// The task that was opened last, and what was achieved in each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchoolRecord {
    version: u32,
    task: Option<SchoolTask>,
    /// Whether the person did not come back to the lesson of this task yet.
    #[serde(default)]
    is_away: bool,
    /// By lesson, then by block.
    achieved: BTreeMap<String, BTreeMap<String, FactSet>>,
}

impl Default for SchoolRecord {
    fn default() -> Self {
        SchoolRecord {
            version: VERSION,
            task: None,
            is_away: false,
            achieved: BTreeMap::new(),
        }
    }
}

impl SchoolRecord {
    /// Parses a record. `None` if it is damaged or has a later version.
    pub fn read(text: &str) -> Option<SchoolRecord> {
        let read: Option<SchoolRecord> = serde_json::from_str(text).ok();
        read.filter(|record| record.version == VERSION)
    }

    /// Serializes the record.
    pub fn to_text(&self) -> String {
        // Texts and numbers can always be serialized.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The task that was opened last.
    pub fn task(&self) -> Option<&SchoolTask> {
        self.task.as_ref()
    }

    /// A person opened a task.
    pub fn open(&mut self, task: SchoolTask) {
        self.task = Some(task);
        self.is_away = true;
    }

    /// Comes back to a lesson. Returns the block of the task that the person left it for.
    pub fn come_back(&mut self, lesson: &str) -> Option<String> {
        let task = self.task.as_ref().filter(|task| task.lesson == lesson)?;
        std::mem::take(&mut self.is_away).then(|| task.block.clone())
    }

    /// A person is done with the task, or does something else.
    pub fn close(&mut self) {
        self.task = None;
    }

    /// Whether all facts happened in a task.
    pub fn has(&self, lesson: &str, block: &str, facts: &[SchoolFact]) -> bool {
        let achieved = self
            .achieved
            .get(lesson)
            .and_then(|blocks| blocks.get(block));
        achieved.is_some_and(|achieved| facts.iter().all(|fact| achieved.has(*fact)))
    }

    /// Whether a goal of the opened task is reached.
    pub fn is_reached(&self, goal: &SchoolGoal) -> bool {
        let task = self.task.as_ref();
        task.is_some_and(|task| self.has(&task.lesson, &task.block, &goal.facts))
    }

    /// Something happened in a run that began with these settings.
    pub fn happened(&mut self, began: &str, fact: SchoolFact) {
        let Some(task) = self.task.as_ref().filter(|task| task.settings == began) else {
            return;
        };
        let known: usize = self.achieved.values().map(BTreeMap::len).sum();
        if known >= MOST_TASKS {
            self.achieved.clear();
        }
        let blocks = self.achieved.entry(task.lesson.clone()).or_default();
        blocks.entry(task.block.clone()).or_default().add(fact);
    }

    /// Forgets what was achieved in a lesson, or in all of them.
    pub fn reset(&mut self, lesson: Option<&str>) {
        match lesson {
            Some(lesson) => _ = self.achieved.remove(lesson),
            None => self.achieved.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_count_for_the_opened_task_and_its_settings_only() {
        let mut record = SchoolRecord::default();
        let fact = SchoolFact::Success(60);
        record.happened("", fact);
        assert_eq!(record, SchoolRecord::default());
        let goal = SchoolGoal {
            text: "Train it".into(),
            facts: vec![fact],
        };
        record.open(SchoolTask {
            lesson: "learning".into(),
            block: "leak".into(),
            settings: "grader=leaky".into(),
            goals: vec![goal.clone()],
            ..SchoolTask::default()
        });
        record.happened("", fact);
        assert!(!record.is_reached(&goal));
        record.happened("grader=leaky", SchoolFact::Success(61));
        assert!(record.is_reached(&goal));
        assert!(record.has("learning", "leak", &[fact]));
        assert!(!record.has("learning", "mask", &[fact]));
        assert_eq!(SchoolRecord::read(&record.to_text()), Some(record.clone()));
        record.close();
        record.happened("grader=leaky", SchoolFact::Success(99));
        assert!(record.has("learning", "leak", &[fact]));
        assert!(!record.has("learning", "leak", &[SchoolFact::Success(90)]));
        record.reset(Some("learning"));
        assert!(!record.has("learning", "leak", &[fact]));
    }

    #[test]
    fn foreign_records_are_not_read() {
        let later = SchoolRecord::default()
            .to_text()
            .replace("\"version\":1", "\"version\":2");
        for text in ["", "{}", "[1]", &later] {
            assert_eq!(SchoolRecord::read(text), None, "{text}");
        }
    }
}
