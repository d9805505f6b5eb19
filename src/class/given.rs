//! The assignments that were made in this browser, so that a teacher finds their links and boards again. All tabs share
//! them.

use leptos::prelude::*;
use volary_classroom::Assignment;

use crate::shared::Shared;

/// The maximum number of assignments.
const MOST: usize = 50;

thread_local! {
    static STATE: Shared<Vec<Assignment>> = Shared::new(
        "class.given",
        |text| Some(read(text)),
        |all| to_text(all),
        |_| {},
    );
}

/// The assignments that were made here, the latest first.
#[derive(Clone, Copy)]
pub struct Given {
    pub all: Signal<Vec<Assignment>>,
}

impl Given {
    pub fn of_browser() -> Given {
        Given {
            all: STATE.with(Shared::signal).into(),
        }
    }

    /// Adds an assignment, or replaces the one with the same id.
    pub fn add(self, assignment: Assignment) {
        STATE.with(|state| state.change(|all| add(all, assignment)));
    }

    pub fn remove(self, id: &str) {
        STATE.with(|state| state.change(|all| all.retain(|known| known.id != id)));
    }
}

/// Reads a stored text: one assignment in each line. Damaged ones are skipped.
fn read(text: &str) -> Vec<Assignment> {
    let all = text.lines();
    all.filter_map(|line| Assignment::read(line).ok()).collect()
}

fn to_text(all: &[Assignment]) -> String {
    let lines = all.iter().map(Assignment::to_text);
    lines.collect::<Vec<_>>().join("\n")
}

fn add(all: &mut Vec<Assignment>, assignment: Assignment) {
    all.retain(|known| known.id != assignment.id);
    all.insert(0, assignment);
    all.truncate(MOST);
}

#[cfg(test)]
mod tests {
    use volary_classroom::{AssignedTask, Name, TaskStart};

    use super::*;

    fn assignment(id: &str, title: &str) -> Assignment {
        Assignment {
            id: id.to_owned(),
            title: Name::new(title),
            tasks: vec![AssignedTask {
                title: Name::new("Count"),
                start: TaskStart::Named {
                    environment: "counter".to_owned(),
                    task: None,
                    seed: 0,
                },
            }],
            ..Assignment::default()
        }
    }

    fn ids(all: &[Assignment]) -> Vec<&str> {
        all.iter().map(|assignment| &*assignment.id).collect()
    }

    #[test]
    fn the_latest_assignment_is_first_and_replaces_its_former_version() {
        let mut all = Vec::new();
        add(&mut all, assignment("a", "First"));
        add(&mut all, assignment("b", "Second"));
        add(&mut all, assignment("a", "Changed"));
        assert_eq!(ids(&all), ["a", "b"]);
        assert_eq!(all[0].title.as_str(), "Changed");
    }

    #[test]
    fn the_oldest_assignments_leave_a_full_list() {
        let mut all = Vec::new();
        for number in 0..=MOST {
            add(&mut all, assignment(&number.to_string(), "One"));
        }
        assert_eq!(all.len(), MOST);
        assert_eq!((&*all[0].id, &*all[MOST - 1].id), ("50", "1"));
    }

    #[test]
    fn a_damaged_line_hides_no_other_assignment() {
        let all = [
            assignment("a", "A title\nin two lines"),
            assignment("b", "B"),
        ];
        let text = to_text(&all);
        assert_eq!(text.lines().count(), 2);
        assert_eq!(read(&text), all);
        let damaged = format!("{{\n{text}\n{{\"format\": \"other\"}}\n");
        assert_eq!(ids(&read(&damaged)), ["a", "b"]);
        assert_eq!(read(""), []);
    }
}
