//! What the board shows of hand-ins: the assignment, its tasks, and the texts of cells. Pure.
//!
//! Invariant: a board shows the hand-ins of one assignment, each task of it in a column of its own.

use std::collections::BTreeMap;

use volary_classroom::board::shown_names;
use volary_classroom::{Assignment, BoardRow, Name, Standing, TaskState};
use volary_core::quantity::plural;
use volary_view::summary::reward_text;

/// The hand-ins for one assignment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardRows {
    /// The id of the assignment; `None` if none was chosen and there is no hand-in.
    pub assignment: Option<String>,
    /// The title of the assignment.
    pub title: String,
    /// The titles of its tasks.
    pub tasks: Vec<String>,
    /// In the order of all hand-ins.
    pub rows: Vec<BoardRow>,
}

/// A row of the board whose episodes are exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRow {
    /// The id of the hand-in.
    pub id: String,
    /// The name to write for the pupil, if it is not the pupil's own.
    pub pupil: Option<Name>,
}

impl BoardRows {
    /// The hand-ins for the chosen assignment, or for that of the first hand-in. `given` is the assignment that the
    /// address names: its tasks have columns before the first pupil hands in.
    pub fn of(all: &[BoardRow], chosen: Option<&str>, given: Option<&Assignment>) -> BoardRows {
        let first = || all.first().map(|row| row.assignment.as_str());
        let Some(id) = chosen.or_else(first) else {
            return BoardRows {
                title: "Board".to_owned(),
                ..BoardRows::default()
            };
        };
        let rows: Vec<_> = all
            .iter()
            .filter(|row| row.assignment == id)
            .cloned()
            .collect();
        let given = given.filter(|given| given.id == id);
        // A hand-in of an earlier form of the assignment may have fewer tasks.
        let longest = rows.iter().max_by_key(|row| row.tasks.len());
        let tasks = match (given, longest) {
            (Some(given), _) => given
                .tasks
                .iter()
                .map(|task| task.title.to_string())
                .collect(),
            (None, Some(row)) => row
                .tasks
                .iter()
                .map(|task| task.title.to_string())
                .collect(),
            (None, None) => Vec::new(),
        };
        let title = rows
            .first()
            .map(|row| &row.title)
            .filter(|title| !title.is_empty())
            .or(given.map(|given| &given.title));
        BoardRows {
            assignment: Some(id.to_owned()),
            title: title.map_or_else(|| "Board".to_owned(), ToString::to_string),
            tasks,
            rows,
        }
    }

    pub fn ids(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.id.clone()).collect()
    }

    /// What an export of the episodes needs of each row.
    pub fn exported(&self, are_hidden: bool) -> Vec<ExportedRow> {
        let names = shown_names(&self.rows, are_hidden);
        let rows = self.rows.iter().zip(names);
        rows.map(|(row, name)| ExportedRow {
            id: row.id.clone(),
            pupil: are_hidden.then(|| Name::new(&name)),
        })
        .collect()
    }

    /// How many pupils solved a task: `2 of 3 solved`.
    pub fn solved(&self, place: usize) -> String {
        let tasks = self.rows.iter().filter_map(|row| row.tasks.get(place));
        let solved = tasks.filter(|task| task.is_solved()).count();
        format!("{solved} of {} solved", self.rows.len())
    }
}

/// The assignments of hand-ins, by id, with their titles.
pub fn assignments(all: &[BoardRow]) -> BTreeMap<String, String> {
    let titles = all.iter();
    let titles = titles.map(|row| (row.assignment.clone(), row.title.to_string()));
    titles.collect()
}

/// The texts of a cell: what a pupil reached in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellTexts {
    /// The reward of a solved task, or the state.
    pub reached: String,
    pub is_solved: bool,
    /// The number of steps.
    pub steps: String,
    /// The name of the button that opens it in Review.
    pub open: String,
    /// The name of the button that lets a model play the task.
    pub challenge: String,
}

impl CellTexts {
    /// The cell of a pupil and a task; `None` if the pupil did not start it.
    pub fn of(row: &BoardRow, pupil: &str, place: usize) -> Option<CellTexts> {
        let task = row.tasks.get(place);
        let task = task.filter(|task| task.state != TaskState::Untouched)?;
        let is_solved = task.is_solved();
        let number = place + 1;
        Some(CellTexts {
            reached: match (is_solved, task.reward) {
                (true, Some(reward)) => reward_text(reward),
                (_, Some(reward)) => format!("{} · {}", task.state.words(), reward_text(reward)),
                (_, None) => task.state.words().to_owned(),
            },
            is_solved,
            steps: plural(task.steps, "step"),
            open: format!(
                "{pupil}, task {number}: {}. Open in Review",
                standing_words(task)
            ),
            challenge: format!("{pupil}, task {number}: play against a model"),
        })
    }
}

/// How often a pupil handed in, after the time of the last: nothing, or ` · 3 times`.
pub fn times(row: &BoardRow) -> String {
    match row.times {
        0 | 1 => String::new(),
        times => format!(" · {times} times"),
    }
}

/// The state of a task in words, with its reward.
pub fn standing_words(standing: &Standing) -> String {
    match (standing.state, standing.reward) {
        (TaskState::Untouched, _) => TaskState::Untouched.words().to_owned(),
        (_, Some(reward)) if standing.is_solved() => {
            format!("Solved, reward {}", reward_text(reward))
        }
        (state, Some(reward)) => format!("{}, reward {}", state.words(), reward_text(reward)),
        (state, None) => state.words().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use volary_classroom::{AssignedTask, Name, TaskStart};

    use super::*;

    fn standing(state: TaskState, reward: Option<f64>) -> Standing {
        Standing {
            title: Name::new("Bread"),
            state,
            steps: 2,
            reward,
        }
    }

    fn row(assignment: &str, pupil: &str, tasks: Vec<Standing>) -> BoardRow {
        BoardRow {
            id: format!("{assignment}-{pupil}"),
            assignment: assignment.to_owned(),
            title: Name::new(&format!("Title of {assignment}")),
            pupil: Name::new(pupil),
            received: 1.0,
            times: 1,
            tasks,
        }
    }

    fn assignment(id: &str, tasks: &[&str]) -> Assignment {
        let task = |title: &&str| AssignedTask {
            title: Name::new(title),
            start: TaskStart::Named {
                environment: "calculator".to_owned(),
                task: None,
                seed: 0,
            },
        };
        Assignment {
            id: id.to_owned(),
            title: Name::new("Given"),
            tasks: tasks.iter().map(task).collect(),
            ..Assignment::default()
        }
    }

    #[test]
    fn nothing_is_known_before_the_first_hand_in() {
        let board = BoardRows::of(&[], None, None);
        assert_eq!(board.assignment, None);
        assert_eq!(board.title, "Board");
        assert!(board.tasks.is_empty() && board.rows.is_empty());
    }

    #[test]
    fn the_assignment_of_the_address_has_columns_before_the_first_hand_in() {
        let given = assignment("a", &["Bread", "Cake"]);
        let board = BoardRows::of(&[], Some("a"), Some(&given));
        assert_eq!(board.title, "Given");
        assert_eq!(board.tasks, ["Bread", "Cake"]);
        assert_eq!(board.solved(0), "0 of 0 solved");
    }

    #[test]
    fn only_hand_ins_for_the_chosen_assignment_are_shown() {
        let all = [
            row("a", "Ada", Vec::new()),
            row("b", "Ben", vec![standing(TaskState::Done, Some(1.0))]),
            row("a", "Cem", Vec::new()),
        ];
        let first = BoardRows::of(&all, None, None);
        assert_eq!(first.ids(), ["a-Ada", "a-Cem"]);
        assert_eq!(first.title, "Title of a");

        let chosen = BoardRows::of(&all, Some("b"), None);
        assert_eq!(chosen.ids(), ["b-Ben"]);
        assert_eq!(chosen.tasks, ["Bread"]);

        let unknown = BoardRows::of(&all, Some("c"), None);
        assert_eq!(unknown.ids(), [""; 0]);
        assert_eq!(unknown.title, "Board");
        assert_eq!(
            assignments(&all).into_iter().collect::<Vec<_>>(),
            [
                ("a".to_owned(), "Title of a".to_owned()),
                ("b".to_owned(), "Title of b".to_owned())
            ]
        );
    }

    #[test]
    fn another_assignment_does_not_get_the_tasks_of_the_address() {
        let given = assignment("a", &["Bread", "Cake"]);
        let all = [row("b", "Ben", vec![standing(TaskState::Done, None)])];
        let board = BoardRows::of(&all, Some("b"), Some(&given));
        assert_eq!(board.tasks, ["Bread"]);
        assert_eq!(board.title, "Title of b");
    }

    #[test]
    fn the_longest_hand_in_decides_the_columns() {
        let one = vec![standing(TaskState::Done, None)];
        let two = vec![standing(TaskState::Done, None); 2];
        let board = BoardRows::of(&[row("a", "Ada", one), row("a", "Ben", two)], None, None);
        assert_eq!(board.tasks.len(), 2);
        assert_eq!(board.solved(1), "0 of 2 solved");
    }

    #[test]
    fn hidden_names_are_not_exported() {
        let all = [row("a", "Ada", Vec::new()), row("a", "Ben", Vec::new())];
        let board = BoardRows::of(&all, None, None);
        let names = |are_hidden| {
            let rows = board.exported(are_hidden).into_iter();
            rows.map(|row| (row.id, row.pupil)).collect::<Vec<_>>()
        };
        assert_eq!(
            names(false),
            [("a-Ada".to_owned(), None), ("a-Ben".to_owned(), None)]
        );
        let shown = |number| Some(Name::new(number));
        assert_eq!(
            names(true),
            [
                ("a-Ada".to_owned(), shown("Pupil 1")),
                ("a-Ben".to_owned(), shown("Pupil 2"))
            ]
        );
    }

    #[test]
    fn solved_tasks_are_counted() {
        let all = [
            row("a", "Ada", vec![standing(TaskState::Done, Some(1.0))]),
            row("a", "Ben", vec![standing(TaskState::Done, Some(0.5))]),
            row("a", "Cem", Vec::new()),
        ];
        assert_eq!(BoardRows::of(&all, None, None).solved(0), "1 of 3 solved");
    }

    #[test]
    fn a_cell_says_what_was_reached() {
        let cases = [
            (
                TaskState::Done,
                Some(1.0),
                "1.0",
                "Solved, reward 1.0",
                true,
            ),
            // A reward counts, even if the episode goes on.
            (
                TaskState::Started,
                Some(1.0),
                "1.0",
                "Solved, reward 1.0",
                true,
            ),
            (
                TaskState::Done,
                Some(0.25),
                "Done · 0.25",
                "Done, reward 0.25",
                false,
            ),
            (TaskState::Truncated, None, "Truncated", "Truncated", false),
            (
                TaskState::Crashed,
                Some(0.0),
                "Crashed · 0.0",
                "Crashed, reward 0.0",
                false,
            ),
        ];
        for (state, reward, reached, words, is_solved) in cases {
            let row = row("a", "Ada", vec![standing(state, reward)]);
            let cell = CellTexts::of(&row, "Pupil 1", 0).expect("it was started");
            assert_eq!(cell.reached, reached);
            assert_eq!(cell.is_solved, is_solved);
            assert_eq!(cell.steps, "2 steps");
            assert_eq!(
                cell.open,
                format!("Pupil 1, task 1: {words}. Open in Review")
            );
            assert_eq!(cell.challenge, "Pupil 1, task 1: play against a model");
            assert!(!cell.open.contains("Ada"), "the name may be hidden");
        }
    }

    #[test]
    fn a_task_that_was_not_started_has_no_cell() {
        let row = row("a", "Ada", vec![standing(TaskState::Untouched, None)]);
        assert_eq!(CellTexts::of(&row, "Ada", 0), None);
        assert_eq!(
            CellTexts::of(&row, "Ada", 1),
            None,
            "an earlier form of the assignment"
        );
        assert_eq!(standing_words(&row.tasks[0]), "Not started");
    }

    #[test]
    fn only_repeated_hand_ins_are_counted() {
        let mut row = row("a", "Ada", Vec::new());
        for (count, text) in [(0, ""), (1, ""), (2, " · 2 times")] {
            row.times = count;
            assert_eq!(times(&row), text);
        }
    }
}
