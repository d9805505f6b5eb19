//! What a pupil hands in: a name, and an episode of each task that was played.
//!
//! ```text
//! {"format": "volary-hand-in", "version": 1, "assignment", "title", "pupil", "handed_in",
//!  "tasks": [{"title", "episode": index or null}], "episodes": [native episode]}
//! ```
//!
//! Every reader of Volary episodes can open the file, because of its `episodes`. Each of them has the pupil as its
//! policy, and pupil, task and assignment in its metadata, so that Review can group them.
//!
//! Invariants: no two tasks have the same episode, so what is read is not many times larger than its text. The labels of
//! an episode are those of its hand-in, whatever the file says.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, from_json, read, to_json};
use volary_core::object;
use volary_episode::Episode;
use volary_episode::native::{episode_from_json, episode_to_json};

use crate::assignment::{Assignment, MOST_TASKS, is_word};
use crate::board::{BoardRow, Standing};
use crate::name::Name;

/// The value of `format`.
pub const FORMAT: &str = "volary-hand-in";
/// The version that is written, and the newest one that can be read.
pub const VERSION: i64 = 1;

/// The work of a pupil on an assignment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandIn {
    /// The id of the assignment.
    pub assignment: String,
    /// The title of the assignment.
    pub title: Name,
    pub pupil: Name,
    /// By the pupil's clock, in seconds since 1970 (UTC).
    pub handed_in: f64,
    /// One for each task of the assignment.
    pub tasks: Vec<HandedTask>,
}

/// The work on a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandedTask {
    pub title: Name,
    /// `None` if the pupil did not start it.
    pub episode: Option<Episode>,
}

/// All of a hand-in except its episodes.
#[derive(Serialize, Deserialize)]
struct Head {
    assignment: String,
    title: Name,
    pupil: Name,
    handed_in: f64,
    tasks: Vec<TaskHead>,
}

#[derive(Serialize, Deserialize)]
struct TaskHead {
    title: Name,
    /// Its index among the episodes.
    episode: Option<usize>,
}

/// Why a hand-in cannot be made or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandInError {
    #[error("The name is missing. Enter your name, then hand in again.")]
    NoName,
    #[error("This is not a hand-in of Volary, or it was altered.")]
    Damaged,
    #[error("The hand-in was made by a newer Volary. Update this one to read it.")]
    Newer,
    #[error("The hand-in cannot be used: {reason}.")]
    Misfit { reason: String },
}

impl HandIn {
    /// The work of a pupil: an episode for each task of an assignment, in its order.
    pub fn new(
        assignment: &Assignment,
        pupil: Name,
        handed_in: f64,
        episodes: impl IntoIterator<Item = Option<Episode>>,
    ) -> Result<HandIn, HandInError> {
        if pupil.is_empty() {
            return Err(HandInError::NoName);
        }
        let tasks = assignment.tasks.iter().zip(episodes).enumerate();
        let tasks = tasks.map(|(place, (task, episode))| HandedTask {
            title: task.title.clone(),
            episode: episode
                .map(|episode| labelled(episode, &assignment.title, &pupil, place, &task.title)),
        });
        Ok(HandIn {
            assignment: assignment.id.clone(),
            title: assignment.title.clone(),
            tasks: tasks.collect(),
            pupil,
            handed_in,
        })
    }

    /// The same work under another name, such as "Pupil 1".
    pub fn under_name(mut self, pupil: Name) -> HandIn {
        for task in &mut self.tasks {
            if let Some(episode) = &mut task.episode {
                name_pupil(episode, &pupil, &task.title);
            }
        }
        self.pupil = pupil;
        self
    }

    /// The number of tasks with at least one step.
    pub fn played(&self) -> usize {
        let tasks = self.tasks.iter();
        tasks.filter(|task| task.episode.is_some()).count()
    }

    /// The episodes, with ids that the hand-in's own id determines: opened again, they replace themselves.
    pub fn into_episodes(self, id: &str) -> Vec<Option<Episode>> {
        let tasks = self.tasks.into_iter().enumerate();
        tasks
            .map(|(place, task)| {
                let mut episode = task.episode?;
                episode.id = format!("class-{id}-{}", place + 1).into();
                Some(episode)
            })
            .collect()
    }

    /// The row of the board.
    pub fn row(&self, id: String, received: f64, times: u32) -> BoardRow {
        let tasks = self.tasks.iter();
        BoardRow {
            id,
            assignment: self.assignment.clone(),
            title: self.title.clone(),
            pupil: self.pupil.clone(),
            received,
            times,
            tasks: tasks
                .map(|task| Standing::of(task.title.clone(), task.episode.as_ref()))
                .collect(),
        }
    }

    /// The contents of a file.
    pub fn to_text(&self) -> String {
        self.to_json().to_python_text()
    }

    pub fn to_json(&self) -> Json {
        let mut episodes = Vec::new();
        let tasks = self.tasks.iter().map(|task| TaskHead {
            title: task.title.clone(),
            episode: task.episode.as_ref().map(|episode| {
                episodes.push(episode_to_json(episode));
                episodes.len() - 1
            }),
        });
        let head = Head {
            assignment: self.assignment.clone(),
            title: self.title.clone(),
            pupil: self.pupil.clone(),
            handed_in: self.handed_in,
            tasks: tasks.collect(),
        };
        let mut value = object!({ "format": FORMAT, "version": VERSION });
        // Texts and numbers can always be serialized.
        if let Ok(Json::Object(head)) = to_json(&head) {
            for (key, member) in head {
                value.insert(key, member);
            }
        }
        value.insert("episodes", Json::List(episodes));
        value.into()
    }

    /// Reads a file.
    pub fn read(text: &str) -> Result<HandIn, HandInError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        HandIn::from_json(&read(text).map_err(|_| HandInError::Damaged)?)
    }

    pub fn from_json(value: &Json) -> Result<HandIn, HandInError> {
        let misfit = |reason: String| HandInError::Misfit { reason };
        let format = value.get("format").and_then(Json::as_text);
        if format.is_none_or(|format| **format != *FORMAT) {
            return Err(HandInError::Damaged);
        }
        match value.get("version").and_then(Json::as_i64) {
            Some(version) if version > VERSION => return Err(HandInError::Newer),
            Some(_) => {}
            None => return Err(HandInError::Damaged),
        }
        let head: Head = from_json(value).map_err(|error| misfit(error.to_string()))?;
        if head.pupil.is_empty() {
            return Err(HandInError::NoName);
        }
        if !is_word(&head.assignment) {
            return Err(misfit("its assignment has no proper id".into()));
        }
        if head.tasks.len() > MOST_TASKS || head.tasks.is_empty() {
            return Err(misfit(format!("it has {} tasks", head.tasks.len())));
        }
        let episodes = value.get("episodes").and_then(Json::as_list);
        let episodes = episodes.unwrap_or_default();
        let mut used = HashSet::new();
        if let Some(twice) = indices(&head.tasks).find(|index| !used.insert(*index)) {
            return Err(misfit(format!("two of its tasks have episode {twice}")));
        }
        let tasks = head.tasks.into_iter().enumerate().map(|(place, task)| {
            let episode = match task.episode {
                None => None,
                Some(index) => {
                    let value = episodes.get(index).ok_or(HandInError::Damaged)?;
                    let read = episode_from_json(value);
                    let episode = read.map_err(|error| misfit(error.to_string()))?;
                    Some(labelled(
                        episode,
                        &head.title,
                        &head.pupil,
                        place,
                        &task.title,
                    ))
                }
            };
            Ok(HandedTask {
                title: task.title,
                episode,
            })
        });
        let tasks = tasks.collect::<Result<_, HandInError>>()?;
        Ok(HandIn {
            assignment: head.assignment,
            title: head.title,
            pupil: head.pupil,
            handed_in: head.handed_in,
            tasks,
        })
    }
}

/// The indices of the episodes of tasks.
fn indices(tasks: &[TaskHead]) -> impl Iterator<Item = usize> {
    tasks.iter().filter_map(|task| task.episode)
}

/// The episode with the labels by which Review groups it.
fn labelled(
    mut episode: Episode,
    assignment: &Name,
    pupil: &Name,
    place: usize,
    title: &Name,
) -> Episode {
    name_pupil(&mut episode, pupil, title);
    for (key, value) in [
        ("assignment", assignment.to_string()),
        ("task", format!("{} {title}", place + 1)),
    ] {
        episode.metadata.insert(key, Json::from(value));
    }
    episode
}

/// Names the pupil wherever an episode of a hand-in does.
fn name_pupil(episode: &mut Episode, pupil: &Name, title: &Name) {
    episode.name = format!("{pupil} · {title}").into();
    episode.policy = Some(pupil.as_str().into());
    episode.metadata.insert("pupil", pupil.to_string());
}

#[cfg(test)]
mod tests;
