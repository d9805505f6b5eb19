//! A pupil's work on an assignment, as the browser stores it, and the state of handing in.
//!
//! The episodes are stored apart, one record for each task, because each step changes one of them.
//!
//! Invariant: work is never removed because handing in failed.

use serde::{Deserialize, Serialize};
use volary_core::json::{from_json, read, to_json};

use crate::assignment::{Assignment, TaskStart};
use crate::name::Name;

const VERSION: u32 = 1;

/// The record of an assignment that a pupil works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    version: u32,
    pub pupil: Name,
    /// Known to this browser and the class server only.
    pub secret: String,
    pub delivery: Delivery,
    /// The starts of the tasks when the work was done. Work on another task is not shown.
    starts: Vec<TaskStart>,
}

/// Whether the class has the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The pupil did not hand in yet.
    #[default]
    Never,
    /// The pupil handed in, and no confirmation arrived. It may have been received.
    Unconfirmed,
    /// The class confirmed it, or a file was saved.
    Delivered {
        /// In seconds since 1970 (UTC).
        at: f64,
        /// Whether the work was changed since.
        is_changed: bool,
    },
}

impl Work {
    pub fn new(assignment: &Assignment, secret: String) -> Work {
        Work {
            version: VERSION,
            pupil: Name::default(),
            secret,
            delivery: Delivery::Never,
            starts: starts(assignment),
        }
    }

    /// Parses a record. `None` if it is damaged or has a later version.
    pub fn read(text: &str) -> Option<Work> {
        let work: Work = from_json(&read(text).ok()?).ok()?;
        (work.version == VERSION).then_some(work)
    }

    /// Whether it belongs to the tasks of an assignment, which may have changed since.
    pub fn is_of(&self, assignment: &Assignment) -> bool {
        self.starts == starts(assignment)
    }

    /// Serializes the record.
    pub fn to_text(&self) -> String {
        // Texts and finite numbers can always be serialized.
        to_json(self).unwrap_or_default().to_compact_text()
    }

    /// A step was taken or removed.
    pub fn change(&mut self) {
        if let Delivery::Delivered { is_changed, .. } = &mut self.delivery {
            *is_changed = true;
        }
    }

    /// The work was sent. Until it is confirmed, it counts as not received.
    pub fn send(&mut self) {
        self.delivery = Delivery::Unconfirmed;
    }

    /// The class confirmed it, or a file was saved. `is_changed` says whether the work was changed since it was sent.
    pub fn confirm(&mut self, at: f64, is_changed: bool) {
        self.delivery = Delivery::Delivered { at, is_changed };
    }
}

fn starts(assignment: &Assignment) -> Vec<TaskStart> {
    let tasks = assignment.tasks.iter();
    tasks.map(|task| task.start.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assignment::AssignedTask;

    fn assignment(environment: &str) -> Assignment {
        Assignment {
            id: "a".into(),
            title: "A".into(),
            tasks: vec![AssignedTask {
                title: "T".into(),
                start: TaskStart::Named {
                    environment: environment.into(),
                    task: None,
                    seed: 0,
                },
            }],
            ..Assignment::default()
        }
    }

    #[test]
    fn a_record_reads_back_and_belongs_to_its_tasks() {
        let made = assignment("calculator");
        let mut work = Work::new(&made, "s".into());
        work.pupil = "Ada".into();
        for change in [
            Work::send,
            |work: &mut Work| work.confirm(5.0, false),
            Work::change,
        ] {
            change(&mut work);
            assert_eq!(Work::read(&work.to_text()), Some(work.clone()));
        }
        let delivered = Delivery::Delivered {
            at: 5.0,
            is_changed: true,
        };
        assert_eq!(work.delivery, delivered);
        assert!(work.is_of(&made));
        assert!(!work.is_of(&assignment("dummy")));
        let later = work.to_text().replace("\"version\":1", "\"version\":2");
        for text in ["{", &later] {
            assert_eq!(Work::read(text), None, "{text}");
        }
    }
}
