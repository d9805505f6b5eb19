//! The messages between the embedded view and the surrounding page. Each is an object whose member `volary` names its
//! kind.
//!
//! Invariants: unknown kinds and unknown members are ignored, so that pages written for a later version still work; a
//! known kind with a member of the wrong type is an error that names the kind.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text, from_json};

use super::notes::Note;

/// The version of the messages.
pub const VERSION: u32 = 1;

/// A message of the surrounding page.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// Asks whether the view is ready.
    Hello,
    /// Shows something.
    Load(Load),
    /// Selects a step; 0 is the reset. Later steps than the last one select the last one.
    Step(usize),
    Theme(EmbedTheme),
    /// Shows these notes in place of others, and lets the reader change them.
    Notes(Vec<Note>),
}

/// What to show. Exactly one of `episode`, `link` and `task` is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Load {
    /// An episode in any format that Review imports: JSON, or the text of a file.
    #[serde(default)]
    pub episode: Option<Json>,
    /// The name of that file, if it has one.
    #[serde(default)]
    pub name: Option<Text>,
    /// A shared link to an episode or a task.
    #[serde(default)]
    pub link: Option<Text>,
    #[serde(default)]
    pub task: Option<TaskOfLoad>,
    /// The step to select.
    #[serde(default)]
    pub step: Option<usize>,
}

/// A task of a built-in environment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TaskOfLoad {
    pub environment: Text,
    /// The id of the task; without it and without a configuration, the first one.
    #[serde(default, rename = "task")]
    pub id: Option<Text>,
    /// A configuration in place of a task.
    #[serde(default)]
    pub configuration: Option<Json>,
    #[serde(default)]
    pub seed: u64,
}

/// The colours of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedTheme {
    Light,
    Dark,
    /// As the browser says.
    System,
}

/// A message to the surrounding page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "volary", rename_all = "lowercase")]
pub enum Outgoing {
    /// Messages are received now.
    Ready { version: u32 },
    /// An episode or a task is shown.
    Loaded {
        title: Text,
        /// The number of steps so far.
        steps: usize,
        environment: Option<Text>,
    },
    /// A message could not be handled.
    Error {
        /// The kind of that message.
        about: Text,
        message: Text,
    },
    /// Another step is selected, or a step was taken.
    Step {
        /// 0 is the reset.
        step: usize,
        steps: usize,
    },
    /// The end is shown: of a recording, or of a task that was played.
    Done {
        steps: usize,
        /// The total reward, if known.
        reward: Option<f64>,
        /// `done`, `truncated`, `crashed`, or `open` for a recording that does not say how it ended.
        ending: &'static str,
    },
    /// The reader selected text of a step.
    Selection { step: usize, text: Text },
    /// The reader wrote a note, or deleted one.
    Note {
        id: Text,
        /// The step that it is about; 0 is the start.
        step: usize,
        text: Text,
        /// Empty for none.
        label: Text,
        deleted: bool,
    },
}

/// A message as far as it was understood.
#[derive(Clone, Debug, PartialEq)]
pub enum ReceivedMessage {
    /// It is not for the view, or of a later version.
    Unknown,
    /// It is of a known kind, but cannot be read.
    Malformed {
        about: Text,
        reason: Text,
    },
    Message(Incoming),
}

#[derive(Deserialize)]
struct StepMessage {
    step: usize,
}

#[derive(Deserialize)]
struct NotesMessage {
    notes: Vec<Note>,
}

#[derive(Deserialize)]
struct ThemeMessage {
    theme: EmbedTheme,
}

/// Reads a message.
pub fn read(data: &Json) -> ReceivedMessage {
    let Some(kind) = data.get("volary").and_then(Json::as_text) else {
        return ReceivedMessage::Unknown;
    };
    let message = match &**kind {
        "hello" => Ok(Incoming::Hello),
        "load" => from_json(data).map(Incoming::Load),
        "step" => from_json(data).map(|StepMessage { step }| Incoming::Step(step)),
        "theme" => from_json(data).map(|ThemeMessage { theme }| Incoming::Theme(theme)),
        "notes" => from_json(data).map(|NotesMessage { notes }| Incoming::Notes(notes)),
        _ => return ReceivedMessage::Unknown,
    };
    match message {
        Ok(message) => ReceivedMessage::Message(message),
        Err(error) => ReceivedMessage::Malformed {
            about: kind.clone(),
            reason: format!("The message \"{kind}\" cannot be read: {error}.").into(),
        },
    }
}
