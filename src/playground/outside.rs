//! Questions of an environment to the world outside: pages, models, a person.
//!
//! Invariants: a host is reached, and a model is asked, only after the user allowed it for this visit; keys stay in the
//! page. A question is answered once; a declined one is an error that the environment reports.

use std::collections::BTreeSet;
use std::time::Duration;

use leptos::prelude::*;
use volary_agent::model::ModelRequest;
use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_core::json::Text;
use volary_core::message::{Message, Role};
use volary_protocol::environments::{Line, Question, QuestionId, Request};

use super::state::Playground;
use crate::browser::http::{self, Patience};
use crate::browser::{self, network};
use crate::models::{self, Ask, Saved, connections};

/// The largest page, in bytes.
const LARGEST_PAGE: usize = 4 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);
const DECLINED: &str = "The user declined.";

/// What the user is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Whether pages of a host may be fetched.
    Host(Elsewhere),
    /// Whether a model may be asked.
    Model {
        /// The role of the model, such as `customer`.
        purpose: Text,
        /// The name of the connection.
        connection: Text,
        /// The address that is called.
        base_url: Text,
    },
    /// A text, in the place of the customer.
    Person {
        /// What the user reads.
        shown: Text,
    },
}

/// A question that waits for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    id: QuestionId,
    question: Question,
    /// What the user is asked.
    pub asked: Asked,
}

/// What the user allowed, and what waits.
#[derive(Clone, Copy, Default)]
pub struct Outside {
    /// The file with Python code that the address names, while the user is asked whether to fetch it.
    pub linked_code: RwSignal<Option<Elsewhere>>,
    /// The questions that wait, oldest first.
    pub waiting: RwSignal<Vec<Waiting>>,
    /// Counts the workers. A reply to a question of an earlier worker must not reach a later one, which uses the same
    /// ids.
    worker: StoredValue<u32>,
    /// Hosts that may be fetched from, and purposes for which the model may be asked.
    allowed: StoredValue<BTreeSet<String>>,
}

impl Outside {
    /// The questions of the playground.
    pub fn of(playground: Playground) -> Outside {
        *playground.outside.get_or_init(Outside::default)
    }

    /// Takes the oldest question that waits.
    fn next(self) -> Option<Waiting> {
        let is_empty = self.waiting.with_untracked(Vec::is_empty);
        if is_empty {
            return None;
        }
        self.waiting.try_update(|waiting| waiting.remove(0))
    }

    /// Gives up all questions: their worker is gone.
    pub fn clear(self) {
        self.worker.update_value(|worker| *worker += 1);
        if !self.waiting.with_untracked(Vec::is_empty) {
            self.waiting.set(Vec::new());
        }
    }
}

/// Answers a question of the environment, or asks the user first.
pub fn hear(playground: Playground, id: QuestionId, question: Question) {
    let asked = match &question {
        Question::Page { url } => match LinkedFile::of(url, &network::page().origin) {
            LinkedFile::Elsewhere(file) => Asked::Host(file),
            LinkedFile::SameOrigin { .. } => return carry_out(playground, id, question),
            LinkedFile::Refused(why) => return answer(playground, id, Err(why.to_string())),
        },
        Question::Model { purpose, .. } => match model() {
            Some(saved) => Asked::Model {
                purpose: purpose.clone(),
                connection: saved.connection.name,
                base_url: saved.connection.base_url,
            },
            None => {
                let why = format!(
                    "A model is needed as the {purpose}, but none is connected. Connect one in the settings."
                );
                return answer(playground, id, Err(why));
            }
        },
        Question::Person { shown } => Asked::Person {
            shown: shown.clone(),
        },
    };
    let is_allowed = key_of(&asked).is_some_and(|key| {
        let allowed = Outside::of(playground).allowed;
        allowed.with_value(|allowed| allowed.contains(&key))
    });
    if is_allowed {
        return carry_out(playground, id, question);
    }
    let waiting = Waiting {
        id,
        question,
        asked,
    };
    Outside::of(playground)
        .waiting
        .update(|all| all.push(waiting));
}

/// What is remembered if the user allows it; a person answers every time.
fn key_of(asked: &Asked) -> Option<String> {
    match asked {
        Asked::Host(file) => Some(format!("host {}", file.host)),
        Asked::Model {
            purpose, base_url, ..
        } => Some(format!("{purpose} {base_url}")),
        Asked::Person { .. } => None,
    }
}

/// The user allowed the oldest question.
pub fn allow(playground: Playground) {
    if let Some(waiting) = Outside::of(playground).next() {
        if let Some(key) = key_of(&waiting.asked) {
            let allowed = Outside::of(playground).allowed;
            allowed.update_value(|allowed| {
                allowed.insert(key);
            });
        }
        carry_out(playground, waiting.id, waiting.question);
    }
}

/// The user declined the oldest question.
pub fn decline(playground: Playground) {
    if let Some(waiting) = Outside::of(playground).next() {
        answer(playground, waiting.id, Err(DECLINED.to_owned()));
    }
}

/// The user answered the oldest question in person.
pub fn reply(playground: Playground, text: String) {
    if let Some(waiting) = Outside::of(playground).next() {
        answer(playground, waiting.id, Ok(text));
    }
}

fn carry_out(playground: Playground, id: QuestionId, question: Question) {
    let worker = Outside::of(playground).worker.get_value();
    browser::spawn(async move {
        let result = match question {
            Question::Page { url } => page(&url).await,
            Question::Model { messages, .. } => complete(messages).await,
            Question::Person { .. } => return,
        };
        if Outside::of(playground).worker.get_value() == worker {
            answer(playground, id, result);
        }
    });
}

fn answer(playground: Playground, question: QuestionId, answer: Result<String, String>) {
    let answer = answer.map(Text::from).map_err(Text::from);
    playground.send_request(&Request::Answer { question, answer });
}

async fn page(url: &str) -> Result<String, String> {
    let request = http::Request {
        method: "GET",
        url: url.to_owned(),
        ..http::Request::default()
    };
    let reply = http::fetch(&request, Patience::of(TIMEOUT), LARGEST_PAGE).await;
    match reply {
        Ok(reply) if (200..300).contains(&reply.status) => Ok(reply.body),
        Ok(reply) => Err(format!("{url} responded with {}.", reply.status)),
        Err(error) => Err(format!("{url} could not be fetched: {error}")),
    }
}

/// The connection that is used for roles other than the agent's: the default one.
fn model() -> Option<Saved> {
    untrack(|| connections::read(|connections| connections.default_one().cloned()))
}

async fn complete(lines: Vec<Line>) -> Result<String, String> {
    let saved = model().ok_or("No model is connected.")?;
    let messages = lines.into_iter().map(|line| {
        let role = Role::from_name(&line.role).unwrap_or(Role::User);
        Message::new(role, line.content).into()
    });
    let mut request = ModelRequest {
        model: saved.connection.model.clone(),
        messages: messages.collect(),
        ..ModelRequest::default()
    };
    let asked = models::ask(&Ask::of(&saved), &mut request, &mut |_| {}).await;
    match asked {
        Ok(asked) => {
            let text = asked.answer.text.filter(|text| !text.trim().is_empty());
            text.ok_or_else(|| "The model replied without text.".to_owned())
        }
        Err(unanswered) => Err(format!("{}: {}", saved.connection.name, unanswered.error)),
    }
}
