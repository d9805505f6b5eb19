//! The form in which a teacher makes an assignment.
//!
//! Invariants: an assignment is made of what the form contained when the teacher asked for it, also if the class server
//! answers later. Only the answer to the last question counts, and none after the teacher chose another server or way to
//! hand in. A key is stored only once its server has accepted it. What was made passes [`Assignment::check`].

use volary_classroom::{AssignedTask, Assignment, Class, Name};

use super::board::ClassServer;
use crate::notice::Notice;

/// How pupils hand in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HandInChoice {
    /// As a file, which they give to the teacher.
    #[default]
    File,
    /// To a class on a server.
    Server,
}

/// Identifies a question to a class server. Numbers count up.
pub type QuestionNumber = u32;

/// Identifies a task of the form, wherever it is in the list. Numbers count up.
pub type TaskNumber = u32;

/// A task of the form.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenTask {
    pub number: TaskNumber,
    pub task: AssignedTask,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Titled(String),
    Dated(String),
    /// Adds a task, or tells why it cannot be given to pupils.
    Add(Result<AssignedTask, String>),
    Rename {
        number: TaskNumber,
        title: Name,
    },
    Remove(TaskNumber),
    HandInBy(HandInChoice),
    /// The address of the class server.
    Address(String),
    /// The teacher's key for the class server.
    Key(String),
    /// Makes the assignment.
    Make {
        /// A random id of letters and digits.
        id: String,
        /// The server of the address and its key; the reason if the address cannot be used.
        server: Result<ClassServer, String>,
    },
    /// The response to [`Effect::AskForCode`]: the code that admits hand-ins.
    Answered {
        question: QuestionNumber,
        code: Result<String, Notice>,
    },
    /// Shows an assignment that was made earlier.
    ShowMade(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the server for the code of its class, and report [`Event::Answered`].
    AskForCode {
        question: QuestionNumber,
        server: ClassServer,
    },
    /// Store the key for the server's origin.
    StoreKey(ClassServer),
    /// Add the assignment to those that were made.
    Give(Assignment),
}

/// The state of the form.
#[derive(Clone, Debug, Default)]
pub struct AssignmentForm {
    title: String,
    deadline: String,
    tasks: Vec<ChosenTask>,
    last_task: TaskNumber,
    hand_in: HandInChoice,
    address: String,
    key: String,
    problem: Option<Notice>,
    question: Option<Question>,
    last_question: QuestionNumber,
    made: Option<String>,
}

/// A question that a class server has not yet answered.
#[derive(Clone, Debug)]
struct Question {
    number: QuestionNumber,
    server: ClassServer,
    /// The assignment, without its class.
    assignment: Assignment,
}

const NOT_MADE: &str = "The assignment was not made.";

impl AssignmentForm {
    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn deadline(&self) -> &str {
        &self.deadline
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> &[ChosenTask] {
        &self.tasks
    }

    /// The place of a task in the list, from 1; 0 if it was removed.
    pub fn place(&self, number: TaskNumber) -> usize {
        let place = self.tasks.iter().position(|task| task.number == number);
        place.map_or(0, |place| place + 1)
    }

    pub fn hand_in(&self) -> HandInChoice {
        self.hand_in
    }

    /// The address of the class server, as typed.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The key as typed; empty once its server has accepted it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Why the last attempt to add a task or to make the assignment failed.
    pub fn problem(&self) -> Option<&Notice> {
        self.problem.as_ref()
    }

    /// Whether a class server was asked and has not answered.
    pub fn is_asking(&self) -> bool {
        self.question.is_some()
    }

    /// The id of the assignment to show.
    pub fn made(&self) -> Option<&str> {
        self.made.as_deref()
    }

    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Titled(title) => self.title = title,
            Event::Dated(deadline) => self.deadline = deadline,
            Event::Add(Ok(task)) => {
                self.last_task += 1;
                let number = self.last_task;
                self.tasks.push(ChosenTask { number, task });
                self.problem = None;
            }
            Event::Add(Err(why)) => self.refuse("The task was not added.", why, ""),
            Event::Rename { number, title } => {
                let chosen = self.tasks.iter_mut().find(|task| task.number == number);
                if let Some(chosen) = chosen {
                    chosen.task.title = title;
                }
            }
            Event::Remove(number) => self.tasks.retain(|task| task.number != number),
            Event::HandInBy(choice) => {
                self.hand_in = choice;
                self.question = None;
            }
            Event::Address(address) => {
                self.address = address;
                self.question = None;
            }
            Event::Key(key) => {
                self.key = key;
                self.question = None;
            }
            Event::Make { id, server } => return self.make(id, server),
            Event::Answered { question, code } => return self.answered(question, code),
            Event::ShowMade(id) => self.made = Some(id),
        }
        Vec::new()
    }

    fn make(&mut self, id: String, server: Result<ClassServer, String>) -> Vec<Effect> {
        if self.question.is_some() {
            return Vec::new();
        }
        self.problem = None;
        let assignment = Assignment {
            id,
            title: Name::new(&self.title),
            deadline: Name::new(&self.deadline),
            tasks: self
                .tasks
                .iter()
                .map(|chosen| chosen.task.clone())
                .collect(),
            class: None,
        };
        if self.hand_in == HandInChoice::File {
            return self.finish(assignment);
        }
        // Before the server is asked, everything else should be right.
        if let Err(error) = assignment.check() {
            self.refuse(NOT_MADE, error.to_string(), "");
            return Vec::new();
        }
        let server = match server {
            Ok(server) => server,
            Err(why) => {
                self.refuse(NOT_MADE, why, "Check the address of the class.");
                return Vec::new();
            }
        };
        self.last_question += 1;
        let number = self.last_question;
        self.question = Some(Question {
            number,
            server: server.clone(),
            assignment,
        });
        vec![Effect::AskForCode {
            question: number,
            server,
        }]
    }

    fn answered(&mut self, number: QuestionNumber, code: Result<String, Notice>) -> Vec<Effect> {
        let Some(question) = self.question.take_if(|question| question.number == number) else {
            return Vec::new();
        };
        match code {
            Ok(code) => {
                self.key.clear();
                let url = question.server.url.clone();
                let mut assignment = question.assignment;
                assignment.class = Some(Class { url, code });
                let mut effects = vec![Effect::StoreKey(question.server)];
                effects.extend(self.finish(assignment));
                effects
            }
            Err(notice) => {
                self.problem = Some(notice);
                Vec::new()
            }
        }
    }

    fn finish(&mut self, assignment: Assignment) -> Vec<Effect> {
        if let Err(error) = assignment.check() {
            self.refuse(NOT_MADE, error.to_string(), "");
            return Vec::new();
        }
        self.made = Some(assignment.id.clone());
        vec![Effect::Give(assignment)]
    }

    fn refuse(&mut self, what: &str, why: String, advice: &str) {
        self.problem = Some(Notice::new(what, why, advice));
    }
}

#[cfg(test)]
mod tests;
