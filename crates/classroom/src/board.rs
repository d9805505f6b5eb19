//! The rows of the board: who has reached what. Also the names that it shows, and its table for spreadsheets.

use serde::{Deserialize, Serialize};
use volary_analysis::csv::push_text;
use volary_episode::{Ending, Episode, time};

use crate::name::Name;

/// The reward from which a task counts as solved: 1, up to rounding.
const SOLVED: f64 = 1.0 - 1e-6;

/// The latest hand-in of a pupil, as the board shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardRow {
    /// The id of the hand-in.
    pub id: String,
    /// The id of the assignment.
    pub assignment: String,
    /// The title of the assignment.
    pub title: Name,
    pub pupil: Name,
    /// When it was received, in seconds since 1970 (UTC).
    pub received: f64,
    /// How often the pupil handed in.
    pub times: u32,
    /// One for each task of the assignment.
    pub tasks: Vec<Standing>,
}

/// What a pupil reached in a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The title of the task.
    pub title: Name,
    pub state: TaskState,
    pub steps: usize,
    /// The sum of all rewards; `None` if nothing was played or it is not a finite number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
}

/// How far a pupil came in a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// No step was taken.
    #[default]
    Untouched,
    /// The episode can continue.
    Started,
    /// The environment ended the episode.
    Done,
    /// The environment, or a limit, cut the episode off.
    Truncated,
    /// The environment crashed.
    Crashed,
}

impl TaskState {
    /// The name on the board.
    pub fn words(self) -> &'static str {
        match self {
            TaskState::Untouched => "Not started",
            TaskState::Started => "Started",
            TaskState::Done => "Done",
            TaskState::Truncated => "Truncated",
            TaskState::Crashed => "Crashed",
        }
    }
}

impl Standing {
    /// What an episode of a task reached; `None` if the pupil did not start it.
    pub fn of(title: Name, episode: Option<&Episode>) -> Standing {
        let Some(episode) = episode.filter(|episode| !episode.steps.is_empty()) else {
            return Standing {
                title,
                ..Standing::default()
            };
        };
        Standing {
            title,
            state: match episode.ending {
                Ending::Open => TaskState::Started,
                Ending::Done => TaskState::Done,
                Ending::Truncated { .. } => TaskState::Truncated,
                Ending::Crashed { .. } => TaskState::Crashed,
            },
            steps: episode.steps.len(),
            reward: episode.reward().filter(|reward| reward.is_finite()),
        }
    }

    /// Whether the reward is at least 1.
    pub fn is_solved(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= SOLVED)
    }
}

impl BoardRow {
    /// The number of solved tasks.
    pub fn solved(&self) -> usize {
        let tasks = self.tasks.iter();
        tasks.filter(|task| task.is_solved()).count()
    }
}

/// Sorts rows by name, and those of one name by their time.
pub fn sort(rows: &mut [BoardRow]) {
    let key = |row: &BoardRow| row.pupil.as_str().to_lowercase();
    rows.sort_by(|one, other| {
        let by_name = key(one).cmp(&key(other));
        by_name
            .then(one.received.total_cmp(&other.received))
            .then(one.id.cmp(&other.id))
    });
}

/// The names that the board shows for sorted rows: equal ones are numbered. Hidden names become "Pupil 1", "Pupil 2".
/// Hidden numbers follow the ids, which are random, so that they do not tell the order of the alphabet.
pub fn shown_names(rows: &[BoardRow], are_hidden: bool) -> Vec<String> {
    if are_hidden {
        let mut ids: Vec<&str> = rows.iter().map(|row| &*row.id).collect();
        ids.sort_unstable();
        let number = |row: &BoardRow| ids.binary_search(&&*row.id).unwrap_or_default() + 1;
        return rows
            .iter()
            .map(|row| format!("Pupil {}", number(row)))
            .collect();
    }
    let mut names = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter().enumerate() {
        let before = rows.iter().take(place);
        let same = before.filter(|other| other.pupil == row.pupil).count();
        names.push(match same {
            0 => row.pupil.to_string(),
            same => format!("{} ({})", row.pupil, same + 1),
        });
    }
    names
}

/// The table for spreadsheets: a line for each pupil and task. RFC 4180; no text is read as a formula.
pub fn csv(rows: &[BoardRow], are_hidden: bool) -> String {
    let mut text =
        String::from("assignment,pupil,received,submissions,number,task,state,reward,steps\r\n");
    for (row, name) in rows.iter().zip(shown_names(rows, are_hidden)) {
        for (place, task) in row.tasks.iter().enumerate() {
            push_text(&mut text, row.title.as_str());
            text.push(',');
            push_text(&mut text, &name);
            let received = time::format(row.received).unwrap_or_default();
            text.push_str(&format!(",{received},{},{},", row.times, place + 1));
            push_text(&mut text, task.title.as_str());
            let reward = task.reward.map(|reward| reward.to_string());
            let state = task.state.words();
            text.push_str(&format!(
                ",{state},{},{}\r\n",
                reward.unwrap_or_default(),
                task.steps
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, pupil: &str, received: f64) -> BoardRow {
        BoardRow {
            id: id.into(),
            assignment: "a".into(),
            title: "Sums, first".into(),
            pupil: pupil.into(),
            received,
            times: 2,
            tasks: vec![
                Standing {
                    title: "=1+1".into(),
                    state: TaskState::Done,
                    steps: 3,
                    reward: Some(1.0),
                },
                Standing {
                    title: "Two".into(),
                    ..Standing::default()
                },
            ],
        }
    }

    #[test]
    fn equal_names_are_made_unique_and_names_can_be_hidden() {
        let mut rows = vec![
            row("9", "Zoe", 0.0),
            row("5", "ada", 2.0),
            row("7", "Ada", 1.0),
            row("1", "Ada", 3.0),
        ];
        sort(&mut rows);
        assert_eq!(shown_names(&rows, false), ["Ada", "ada", "Ada (2)", "Zoe"]);
        assert_eq!(
            shown_names(&rows, true),
            ["Pupil 3", "Pupil 2", "Pupil 1", "Pupil 4"]
        );
        assert_eq!(rows[0].solved(), 1);
    }

    #[test]
    fn the_table_has_a_line_for_each_task_and_no_formula() {
        assert_eq!(
            csv(&[row("1", "Ada", 0.0)], false),
            "assignment,pupil,received,submissions,number,task,state,reward,steps\r\n\
             \"Sums, first\",Ada,1970-01-01T00:00:00Z,2,1,'=1+1,Done,1,3\r\n\
             \"Sums, first\",Ada,1970-01-01T00:00:00Z,2,2,Two,Not started,,0\r\n"
        );
        assert!(!csv(&[row("1", "Ada", 0.0)], true).contains("Ada"));
    }
}
