//! The faults of the scripted student, with their names in forms, files and lessons.

use serde::{Deserialize, Serialize};

/// A typical fault of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Repeats a call that does not help.
    Loop,
    /// Calls a tool that does not exist or does not fit.
    WrongTool,
    /// Writes a call as text with invalid JSON, so that no call can be parsed.
    MalformedJson,
    /// Stops before the task is solved.
    GivesUp,
    /// Returns a wrong answer and claims to be sure.
    ConfidentlyWrong,
}

impl Fault {
    pub const ALL: [Fault; 5] = [
        Fault::Loop,
        Fault::WrongTool,
        Fault::MalformedJson,
        Fault::GivesUp,
        Fault::ConfidentlyWrong,
    ];

    /// The name in forms and lessons.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Loop => "loop",
            Fault::WrongTool => "wrong tool",
            Fault::MalformedJson => "malformed JSON",
            Fault::GivesUp => "gives up",
            Fault::ConfidentlyWrong => "confident and wrong",
        }
    }

    /// Parses a name, ignoring case.
    pub fn of_name(name: &str) -> Option<Fault> {
        let mut all = Fault::ALL.into_iter();
        all.find(|fault| fault.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The note on a step with this fault.
    pub const fn note(self) -> &'static str {
        match self {
            Fault::Loop => "Fault: loop. The student repeats a call that does not help.",
            Fault::WrongTool => {
                "Fault: wrong tool. The student calls a tool that does not exist or does not fit."
            }
            Fault::MalformedJson => {
                "Fault: malformed JSON. The student wrote a call as text with broken JSON, so no call could be read."
            }
            Fault::GivesUp => "Fault: gives up. The student stops before the task is solved.",
            Fault::ConfidentlyWrong => {
                "Fault: confident and wrong. The student claims to be sure of a wrong answer."
            }
        }
    }
}
