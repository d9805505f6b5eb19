//! The assignments that were made in this browser, so that a teacher finds their links and boards again. All tabs share
//! them.

use leptos::prelude::*;
use volary_classroom::Assignment;

use volary_browser::shared::{Shared, Unsaved};

/// The maximum number of assignments.
const MOST: usize = 50;

thread_local! {
    static GIVEN: Shared<Vec<Assignment>> =
        Shared::new("class.given", |text| Some(read(text)), |all| to_text(all), |_| {});
}

/// The assignments that were made here, the latest first.
#[derive(Clone, Copy)]
pub struct Given {
    pub all: RwSignal<Vec<Assignment>>,
}

impl Given {
    pub fn of_browser() -> Given {
        Given {
            all: GIVEN.with(Shared::signal).into(),
        }
    }

    /// Whether changes of the list are only in memory.
    pub fn unsaved() -> Unsaved {
        GIVEN.with(Shared::unsaved)
    }

    /// Adds an assignment, or replaces the one with the same id.
    pub fn add(self, assignment: Assignment) {
        GIVEN.with(|given| given.change(|all| add(all, assignment)));
    }

    /// Puts the code that a class server has now into the links of its assignments.
    pub fn update_code(self, url: &str, code: &str) {
        if self
            .all
            .with_untracked(|all| has_other_code(all, url, code))
        {
            GIVEN.with(|given| given.change(|all| update_code(all, url, code)));
        }
    }

    pub fn remove(self, id: &str) {
        GIVEN.with(|given| given.change(|all| all.retain(|known| known.id != id)));
    }
}

fn add(all: &mut Vec<Assignment>, assignment: Assignment) {
    all.retain(|known| known.id != assignment.id);
    all.insert(0, assignment);
    all.truncate(MOST);
}

fn has_other_code(all: &[Assignment], url: &str, code: &str) -> bool {
    let mut classes = all.iter().filter_map(|given| given.class.as_ref());
    classes.any(|class| class.url == url && class.code != code)
}

fn update_code(all: &mut [Assignment], url: &str, code: &str) {
    let classes = all.iter_mut().filter_map(|given| given.class.as_mut());
    for class in classes.filter(|class| class.url == url) {
        class.code = code.to_owned();
    }
}

/// Reads the stored text: an assignment in each line. Damaged ones are skipped.
fn read(text: &str) -> Vec<Assignment> {
    let all = text.lines().filter_map(|line| Assignment::read(line).ok());
    all.collect()
}

fn to_text(all: &[Assignment]) -> String {
    let lines = all.iter().map(Assignment::to_text);
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use volary_classroom::{AssignedTask, Class, Name, TaskStart};

    use super::*;

    fn assignment(id: &str, title: &str) -> Assignment {
        Assignment {
            id: id.to_owned(),
            title: Name::new(title),
            tasks: vec![AssignedTask {
                title: Name::new("Bread"),
                start: TaskStart::Named {
                    environment: "calculator".to_owned(),
                    task: None,
                    seed: 0,
                },
            }],
            ..Assignment::default()
        }
    }

    fn titles(all: &[Assignment]) -> Vec<&str> {
        all.iter().map(|one| one.title.as_str()).collect()
    }

    #[test]
    fn the_latest_is_first_and_replaces_itself() {
        let mut all = Vec::new();
        add(&mut all, assignment("one", "First"));
        add(&mut all, assignment("two", "Second"));
        add(&mut all, assignment("one", "First, again"));
        assert_eq!(titles(&all), ["First, again", "Second"]);
    }

    #[test]
    fn a_renewed_code_reaches_the_links_of_its_class_only() {
        let of_class = |id: &str, url: &str| Assignment {
            class: Some(Class {
                url: url.to_owned(),
                code: "old".to_owned(),
            }),
            ..assignment(id, id)
        };
        let mut all = [
            of_class("one", "http://a"),
            of_class("two", "http://b"),
            assignment("three", "By file"),
        ];
        assert!(has_other_code(&all, "http://a", "new"));
        update_code(&mut all, "http://a", "new");
        let codes = all
            .iter()
            .map(|given| given.class.as_ref().map(|class| class.code.as_str()));
        assert_eq!(codes.collect::<Vec<_>>(), [Some("new"), Some("old"), None]);
        assert!(!has_other_code(&all, "http://a", "new"));
        assert!(!has_other_code(&all, "http://c", "new"));
    }

    #[test]
    fn the_oldest_go_at_the_limit() {
        let mut all = Vec::new();
        for number in 0..=MOST {
            add(
                &mut all,
                assignment(&number.to_string(), &number.to_string()),
            );
        }
        assert_eq!(all.len(), MOST);
        assert_eq!((titles(&all)[0], titles(&all)[MOST - 1]), ("50", "1"));
    }

    #[test]
    fn damaged_lines_do_not_hide_the_others() {
        let all = [assignment("one", "A\nlesson"), assignment("two", "Second")];
        let text = to_text(&all);
        assert_eq!(read(&text), all);
        let damaged = format!("{{\"format\": \"other\"}}\n{text}\n{{");
        assert_eq!(read(&damaged), all);
        assert_eq!(read(""), []);
    }
}
