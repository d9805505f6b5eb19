//! The choices of tasks in the setup: which lists are offered, and the values of their options. Pure.
//!
//! Invariant: the option of the chosen task exists, so the select always shows it.

use volary_app::playground::tasks::{TaskPlace, TaskSource};

/// The tasks of a longer list are chosen by number.
const TASKS_IN_A_LIST: usize = 300;

/// Marks the option of a long list in its value.
const BY_NUMBER: &str = "#";

/// Whether the tasks of a list are too many for options of their own.
pub fn is_long(list: &TaskSource) -> bool {
    list.tasks.len() > TASKS_IN_A_LIST
}

/// The lists that have tasks of an environment, with their indices.
pub fn lists<'a>(
    sources: &'a [TaskSource],
    environment: &'a str,
) -> impl Iterator<Item = (usize, &'a TaskSource)> {
    let suits = move |list: &TaskSource| {
        let first = list.tasks.first();
        first.is_some_and(|task| *task.environment == *environment)
    };
    sources
        .iter()
        .enumerate()
        .filter(move |(_, list)| suits(list))
}

/// The value of the option that shows a task; empty for a custom configuration.
pub fn value_of(sources: &[TaskSource], place: Option<TaskPlace>) -> String {
    let Some(TaskPlace { source, task }) = place else {
        return String::new();
    };
    if sources.get(source).is_some_and(is_long) {
        format!("{source}.{BY_NUMBER}")
    } else {
        format!("{source}.{task}")
    }
}

/// Parses the value of an option; `None` is a custom configuration. A long list begins with its first task.
pub fn place_of(value: &str) -> Option<TaskPlace> {
    let (source, task) = value.split_once('.')?;
    Some(TaskPlace {
        source: source.parse().ok()?,
        task: match task {
            BY_NUMBER => 0,
            task => task.parse().ok()?,
        },
    })
}

/// Parses the number of a task in a list of `count` tasks. A number outside of the list is that of the nearest task.
pub fn task_of_number(text: &str, count: usize) -> Option<usize> {
    let number: f64 = text.trim().parse().ok()?;
    let last = count.checked_sub(1)?;
    // Saturates, and NaN becomes 0.
    Some((number as usize).saturating_sub(1).min(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::dataset::Task;
    use volary_core::object;

    use super::*;

    fn list(environment: &'static str, count: usize) -> TaskSource {
        let task = |number: usize| Task {
            id: number.to_string().into(),
            title: number.to_string().into(),
            environment,
            configuration: object!({}),
        };
        TaskSource {
            dataset: "d".into(),
            title: "d".into(),
            tasks: (0..count).map(task).collect(),
            file: None,
        }
    }

    #[test]
    fn only_lists_of_the_environment_are_offered() {
        let sources = [
            list("maze", 2),
            list("sums", 1),
            list("sums", 0),
            list("maze", 1),
        ];
        let offered = |environment| -> Vec<usize> {
            lists(&sources, environment)
                .map(|(place, _)| place)
                .collect()
        };
        assert_eq!(offered("maze"), [0, 3]);
        assert_eq!(offered("sums"), [1]);
        assert!(offered("counter").is_empty());
    }

    #[test]
    fn a_task_of_a_long_list_is_shown_as_that_list() {
        let sources = [
            list("sums", TASKS_IN_A_LIST),
            list("sums", TASKS_IN_A_LIST + 1),
        ];
        let value = |source, task| value_of(&sources, Some(TaskPlace { source, task }));
        assert_eq!(value(0, 17), "0.17");
        assert_eq!(value(1, 17), "1.#");
        assert_eq!(value_of(&sources, None), "");
    }

    #[test]
    fn what_is_no_option_chooses_no_task() {
        for value in ["", "1", ".", "x.1", "1.x", "-1.0", "1.-1"] {
            assert_eq!(place_of(value), None, "{value}");
        }
    }

    #[test]
    fn a_number_chooses_the_nearest_task() {
        for (text, task) in [
            ("1", Some(0)),
            (" 20 ", Some(19)),
            ("0", Some(0)),
            ("-4", Some(0)),
            ("21", Some(19)),
            ("1e9", Some(19)),
            ("99999999999999999999999", Some(19)),
            ("3.7", Some(2)),
            ("", None),
            ("many", None),
        ] {
            assert_eq!(task_of_number(text, 20), task, "{text}");
        }
        assert_eq!(task_of_number("1", 0), None);
    }

    proptest! {
        /// The value of a task is that of an option, and choosing that option shows the same.
        #[test]
        fn the_chosen_task_has_an_option(source in 0..2usize, task in 0..400usize) {
            let sources = [list("sums", 3), list("sums", 400)];
            let count = sources[source].tasks.len();
            let place = TaskPlace { source, task: task % count };
            let value = value_of(&sources, Some(place));
            let chosen = place_of(&value).expect("an option");
            prop_assert_eq!(chosen.source, source);
            prop_assert_eq!(value_of(&sources, Some(chosen)), value);
            if source == 0 {
                prop_assert_eq!(chosen, place);
            }
        }
    }
}
