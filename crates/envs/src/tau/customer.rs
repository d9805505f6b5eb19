//! Customers: a person, a script, or a model that plays one.
//!
//! A customer does no I/O: it returns the question and its recipient ([`Progress`]), and continues with the
//! answer ([`Customer::completed`]).

mod prompts;
mod simulator;

use std::collections::VecDeque;

use volary_core::json::Text;
use volary_core::message::Role;

pub use prompts::Prompts;
pub use simulator::{Simulator, Strategy};

/// A customer.
#[derive(Clone, Debug)]
pub enum Customer {
    /// Says one text after the other, whatever it receives.
    Scripted(VecDeque<Text>),
    /// A person: the instruction and the agent's messages are shown.
    Human,
    /// A model.
    Simulated(Simulator),
}

/// A message of a request to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Whose it is.
    pub role: Role,
    /// What it says.
    pub content: Text,
}

/// What a customer needs next, or says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A model has to complete these messages.
    Ask(Vec<ChatMessage>),
    /// A person has to read this and type a line.
    Show(Text),
    /// The customer says this.
    Say(Text),
}

/// Why a customer says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomerError {
    /// The script is over.
    #[error("The scripted customer has nothing more to say.")]
    ScriptOver,
    /// An answer came, but nothing was asked.
    #[error("Nothing was asked of the customer's model.")]
    NothingAsked,
    /// The model's answer has not the form that it has to have.
    #[error("Invalid response format: {completion}")]
    InvalidFormat {
        /// The answer.
        completion: Text,
    },
}

impl ChatMessage {
    /// A message.
    pub fn new(role: Role, content: impl Into<Text>) -> Self {
        ChatMessage {
            role,
            content: content.into(),
        }
    }
}

impl Customer {
    /// A customer with a script.
    pub fn scripted<T: Into<Text>>(texts: impl IntoIterator<Item = T>) -> Self {
        Customer::Scripted(texts.into_iter().map(Into::into).collect())
    }

    /// Begins a conversation with what the customer knows and wants.
    ///
    /// # Errors
    ///
    /// The script is over.
    pub fn reset(&mut self, instruction: Option<&str>) -> Result<Progress, CustomerError> {
        match self {
            Customer::Scripted(texts) => next(texts),
            Customer::Human => Ok(shown(instruction.unwrap_or("None"))),
            Customer::Simulated(simulator) => Ok(Progress::Ask(simulator.reset(instruction))),
        }
    }

    /// Tells the customer what the agent says.
    ///
    /// # Errors
    ///
    /// The script is over.
    pub fn step(&mut self, content: &str) -> Result<Progress, CustomerError> {
        match self {
            Customer::Scripted(texts) => next(texts),
            Customer::Human => Ok(shown(content)),
            Customer::Simulated(simulator) => Ok(Progress::Ask(simulator.step(content))),
        }
    }

    /// Goes on with what the customer said when the conversation was held before.
    pub fn recall(&mut self, said: &str) {
        if let Customer::Simulated(simulator) = self {
            simulator.recall(said);
        }
    }

    /// Goes on with what the model or the person answered.
    ///
    /// # Errors
    ///
    /// Nothing was asked, or the answer has not the form that it has to have.
    pub fn completed(&mut self, completion: &str) -> Result<Progress, CustomerError> {
        match self {
            Customer::Scripted(_) => Err(CustomerError::NothingAsked),
            Customer::Human => Ok(Progress::Say(completion.into())),
            Customer::Simulated(simulator) => simulator.completed(completion),
        }
    }
}

fn next(texts: &mut VecDeque<Text>) -> Result<Progress, CustomerError> {
    let text = texts.pop_front().ok_or(CustomerError::ScriptOver)?;
    Ok(Progress::Say(text))
}

fn shown(text: &str) -> Progress {
    Progress::Show(format!("{text}\n").into())
}
