//! **Test connection**: whether the model of a connection answers, and whether it calls tools, as policies need.
//!
//! Invariants: nothing is sent for a connection that cannot work. A result belongs to the last test: once the connection
//! was edited or another test started, earlier results change nothing.

pub mod report;

use volary_agent::model::Connection;
use volary_agent::model::diagnosis::{Diagnosis, ModelProblem};

use crate::notice::Notice;

/// Identifies a test. Numbers count up.
pub type TestNumber = u32;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Tests a connection.
    Start {
        connection: Connection,
        has_key: bool,
    },
    /// The connection was edited or left, or the user cancels.
    Forget,
    /// The response to [`Effect::Ask`].
    Ended { test: TestNumber, ended: TestEnd },
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TestEnd {
    /// The model answered. The facts, one sentence each.
    Answered(Vec<String>),
    Failed(Box<Diagnosis>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask the model, and report [`Event::Ended`].
    Ask(TestNumber),
    /// Cancel what the last [`Effect::Ask`] started.
    Cancel,
    /// List the server's models, because it has none of this name.
    ListModels,
}

/// The state of the test of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionTest {
    outcome: TestOutcome,
    last: TestNumber,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum TestOutcome {
    /// Not tested since the last change.
    #[default]
    NotYet,
    Running,
    /// The facts, one sentence each.
    Works(Vec<String>),
    Failed(Notice),
}

impl ConnectionTest {
    pub fn outcome(&self) -> &TestOutcome {
        &self.outcome
    }

    pub fn is_running(&self) -> bool {
        self.outcome == TestOutcome::Running
    }

    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Start {
                connection,
                has_key,
            } => {
                let mut effects = self.forget();
                match obstacle(&connection, has_key) {
                    Some(notice) => self.outcome = TestOutcome::Failed(notice),
                    None => {
                        self.last += 1;
                        self.outcome = TestOutcome::Running;
                        effects.push(Effect::Ask(self.last));
                    }
                }
                effects
            }
            Event::Forget => self.forget(),
            Event::Ended { test, ended } if self.is_running() && test == self.last => match ended {
                TestEnd::Answered(facts) => {
                    self.outcome = TestOutcome::Works(facts);
                    Vec::new()
                }
                TestEnd::Failed(found) => {
                    self.outcome =
                        TestOutcome::Failed(Notice::new(found.what, found.why, found.remedy));
                    match found.problem {
                        ModelProblem::WrongModel => vec![Effect::ListModels],
                        _ => Vec::new(),
                    }
                }
            },
            Event::Ended { .. } => Vec::new(),
        }
    }

    fn forget(&mut self) -> Vec<Effect> {
        let was_running = self.is_running();
        self.outcome = TestOutcome::NotYet;
        if was_running {
            vec![Effect::Cancel]
        } else {
            Vec::new()
        }
    }
}

/// Why a connection is not tested: its form is incomplete, or its provider requires a key.
fn obstacle(connection: &Connection, has_key: bool) -> Option<Notice> {
    if let Err(error) = connection.check() {
        let what = "Fill in the marked fields first.";
        return Some(Notice::new(what, "", error.to_string()));
    }
    let preset = connection.preset()?;
    let is_missing = preset.key_url.is_some() && !has_key;
    is_missing.then(|| {
        Notice::new(
            "The API key is missing.",
            format!(
                "{} does not respond without one. Nothing was sent.",
                preset.name
            ),
            "Enter a key, then test again.",
        )
    })
}

#[cfg(test)]
mod tests;
