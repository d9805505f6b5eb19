//! An assignment: a list of tasks, a text about the deadline, and where to hand in. It is a link or a file.
//!
//! As a file it is JSON; a link contains the same JSON, packed as [`share::pack`] does:
//!
//! ```text
//! {"format": "volary-assignment", "version": 1, "id", "title", "deadline",
//!  "tasks": [{"title", "environment", "task", "seed"} or {"title", "recipe"}],
//!  "class": {"url", "code"}}
//! ```
//!
//! A task is named by its environment, its id and its seed. A task with a configuration of its own has a `recipe`
//! instead: the text of a playground link without actions. Without `class`, pupils hand in files.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, from_json, read, to_json};
use volary_episode::share::{self, ShareError};

use crate::name::Name;

/// The value of `format`.
pub const FORMAT: &str = "volary-assignment";
/// The version that is written, and the newest one that can be read.
pub const VERSION: u64 = 1;
/// The maximum number of tasks.
pub const MOST_TASKS: usize = 30;
/// The maximum length of an id, a code or an address, in bytes.
const LONGEST_WORD: usize = 300;

/// A list of tasks for pupils.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Random. Hand-ins of the same id belong together.
    pub id: String,
    pub title: Name,
    /// When to hand in, in the teacher's words. May be empty; nothing enforces it.
    #[serde(default)]
    pub deadline: Name,
    pub tasks: Vec<AssignedTask>,
    /// The class to hand in to; without one, pupils hand in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
}

/// A class on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// The base address of the server, without a slash at its end.
    pub url: String,
    /// Admits hand-ins to this class, and nothing else.
    pub code: String,
}

/// A task of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedTask {
    pub title: Name,
    #[serde(flatten)]
    pub start: TaskStart,
}

/// How a task begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TaskStart {
    /// The text of a link without actions, for a task with a configuration of its own.
    Packed { recipe: String },
    /// A task that every page has. It contains no answer.
    Named {
        environment: String,
        /// `None` for the only or the first task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        #[serde(default, skip_serializing_if = "is_zero")]
        seed: u64,
    },
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

/// Why an assignment cannot be made or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssignmentError {
    #[error("The assignment has no title. Enter one, so that pupils know what it is.")]
    NoTitle,
    #[error("The assignment has no task. Add at least one.")]
    NoTask,
    #[error(
        "The assignment has {count} tasks; {MOST_TASKS} is the maximum. Split them into two assignments."
    )]
    TooManyTasks { count: usize },
    #[error(
        "The address of the class must start with http:// or https://, and contain no user name."
    )]
    BadAddress,
    #[error(
        "The assignment is too long for a link: {length} characters of at most {limit}. Give it as a file, or leave \
         out tasks with a configuration of their own."
    )]
    TooLong { length: usize, limit: usize },
    #[error("The link is incomplete: its end is missing. Copy the whole link again.")]
    Cut,
    #[error("This is not an assignment, or it was altered. Ask for the link or the file again.")]
    Damaged,
    #[error(
        "The assignment was made by a newer Volary, which this version cannot read. Reload the page, or use the newer one."
    )]
    Newer,
    #[error("The assignment cannot be used: {reason}.")]
    Misfit { reason: String },
}

impl Assignment {
    /// Checks what a person may have forgotten, and the bounds of all parts.
    pub fn check(&self) -> Result<(), AssignmentError> {
        let misfit = |reason: &str| {
            Err(AssignmentError::Misfit {
                reason: reason.to_owned(),
            })
        };
        if self.title.is_empty() {
            return Err(AssignmentError::NoTitle);
        }
        match self.tasks.len() {
            0 => return Err(AssignmentError::NoTask),
            count if count > MOST_TASKS => return Err(AssignmentError::TooManyTasks { count }),
            _ => {}
        }
        if !is_word(&self.id) {
            return misfit("its id is not made of letters and digits");
        }
        for task in &self.tasks {
            let texts = match &task.start {
                // `unpack` checks it.
                TaskStart::Packed { recipe } if recipe.len() <= share::LIMIT => continue,
                TaskStart::Packed { .. } => return misfit("a recipe is too long"),
                TaskStart::Named {
                    environment, task, ..
                } => [Some(environment), task.as_ref()],
            };
            let mut texts = texts.into_iter().flatten();
            if texts.any(|text| text.is_empty() || text.len() > LONGEST_WORD) {
                return misfit("a task has no proper name");
            }
        }
        match &self.class {
            Some(class) if !is_address(&class.url) => Err(AssignmentError::BadAddress),
            Some(class) if !is_word(&class.code) => {
                misfit("the code of the class is not made of letters and digits")
            }
            _ => Ok(()),
        }
    }

    /// The contents of a file.
    pub fn to_text(&self) -> String {
        self.to_json().to_compact_text()
    }

    /// The text for a link.
    pub fn to_link(&self) -> Result<String, AssignmentError> {
        Ok(share::pack(&self.to_text())?)
    }

    /// Reads a file.
    pub fn read(text: &str) -> Result<Assignment, AssignmentError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = read(text).map_err(|_| AssignmentError::Damaged)?;
        let format = value.get("format").and_then(Json::as_text);
        if format.is_none_or(|format| **format != *FORMAT) {
            return Err(AssignmentError::Damaged);
        }
        match value.get("version").and_then(Json::as_i64) {
            Some(version) if version > VERSION.cast_signed() => return Err(AssignmentError::Newer),
            Some(_) => {}
            None => return Err(AssignmentError::Damaged),
        }
        let assignment: Assignment =
            from_json(&value).map_err(|error| AssignmentError::Misfit {
                reason: error.to_string(),
            })?;
        assignment.check()?;
        Ok(assignment)
    }

    /// Reads the text of a link.
    pub fn read_link(text: &str) -> Result<Assignment, AssignmentError> {
        Assignment::read(&share::unpack(text)?)
    }

    fn to_json(&self) -> Json {
        // Texts and numbers can always be serialized.
        let mut value = to_json(self).unwrap_or_default();
        if let Json::Object(object) = &mut value {
            object.insert("format", FORMAT);
            object.insert("version", VERSION.cast_signed());
        }
        value
    }
}

impl From<ShareError> for AssignmentError {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::TooLong { length, limit } => AssignmentError::TooLong { length, limit },
            ShareError::Cut => AssignmentError::Cut,
            ShareError::Newer { .. } => AssignmentError::Newer,
            _ => AssignmentError::Damaged,
        }
    }
}

/// Whether a text is short and made of letters, digits, `-` and `_`.
pub fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !text.is_empty() && text.len() <= LONGEST_WORD && text.bytes().all(fits)
}

/// Whether a text looks like the address of a server. The page's own rules decide what is requested.
fn is_address(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    url.len() <= LONGEST_WORD
        && authority.is_some_and(|authority| !authority.is_empty() && !authority.contains('@'))
}

/// The form of an address in an [`Assignment`]: without white space and slashes at its end.
pub fn address(text: &str) -> String {
    text.trim().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests;
