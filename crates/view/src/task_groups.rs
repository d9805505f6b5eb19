//! Lists of tasks for choosing one: a list by its short name, its tasks in groups by level, and what a task says. Pure.
//!
//! Invariant: each task of a list is in one group, in the list's order.

use volary_core::dataset::Task;
use volary_core::json::Json;

/// The longest level in a title, such as `Level 1`.
const LONGEST_LEVEL: usize = 12;

/// Tasks of one level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGroup {
    /// The level; empty if titles have none.
    pub level: String,
    /// The index of each task in its list, and its name.
    pub tasks: Vec<(usize, String)>,
}

/// The short name of a list of tasks, in plain words for the built-in ones that have terms of the field in their names,
/// otherwise from that of its dataset: `word_problems` is *Word problems*.
pub fn list_name(dataset: &str) -> String {
    match dataset {
        "two_hop_questions" => "Questions that need two look-ups".to_owned(),
        "slow_calls" => "Tools that take their time".to_owned(),
        _ => capitalized(&dataset.replace('_', " ")),
    }
}

/// The tasks of a list in groups, by the level in their titles.
pub fn groups<'a>(titles: impl Iterator<Item = &'a str>) -> Vec<TaskGroup> {
    let mut groups: Vec<TaskGroup> = Vec::new();
    for (place, title) in titles.enumerate() {
        let (level, name) = match title.split_once(": ") {
            Some((level, name)) if level.len() <= LONGEST_LEVEL => (capitalized(level), name),
            _ => (String::new(), title),
        };
        let task = (place, name.to_owned());
        match groups.iter_mut().find(|group| group.level == level) {
            Some(group) => group.tasks.push(task),
            None => groups.push(TaskGroup {
                level,
                tasks: vec![task],
            }),
        }
    }
    groups
}

/// The text that a task sets, if its configuration contains one.
pub fn task_text(task: &Task) -> Option<&str> {
    let mut texts = ["problem", "question"]
        .into_iter()
        .filter_map(|key| task.configuration.get(key).and_then(Json::as_text));
    texts.next().map(|text| &**text)
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn lists_have_short_names() {
        assert_eq!(list_name("word_problems"), "Word problems");
        assert_eq!(list_name("slow_calls"), "Tools that take their time");
        assert_eq!(list_name("odd_tasks"), "Odd tasks");
        assert_eq!(list_name(""), "");
    }

    #[test]
    fn tasks_are_grouped_by_level_in_order() {
        let titles = [
            "Level 1: Ferry",
            "Level 2: Taxi",
            "Level 1: Plums",
            "easy: Why?",
            "Renew it",
        ];
        let found = groups(titles.into_iter());
        let shown: Vec<(&str, Vec<usize>)> = found
            .iter()
            .map(|group| {
                let places = group.tasks.iter().map(|(place, _)| *place);
                (&*group.level, places.collect())
            })
            .collect();
        let expected = [
            ("Level 1", vec![0, 2]),
            ("Level 2", vec![1]),
            ("Easy", vec![3]),
            ("", vec![4]),
        ];
        assert_eq!(shown, expected);
        assert_eq!(found[0].tasks[1].1, "Plums");
        // A colon in a sentence is no level.
        let sentence = groups(["What does he say next: yes or no?"].into_iter());
        assert_eq!(sentence[0].tasks[0].1, "What does he say next: yes or no?");
    }

    #[test]
    fn a_task_says_what_it_asks() {
        let task = |configuration| Task {
            id: "1".into(),
            title: "1".into(),
            environment: "calculator",
            configuration,
        };
        assert_eq!(
            task_text(&task(object!({"problem": "2 + 2?"}))),
            Some("2 + 2?")
        );
        assert_eq!(
            task_text(&task(object!({"question": "Who?"}))),
            Some("Who?")
        );
        assert_eq!(task_text(&task(object!({"level": 1}))), None);
    }
}
