//! Customers: a person, a script, or a model that plays one.
//!
//! A customer does no I/O: it returns the question and its recipient ([`CustomerStep`]), and continues with the
//! answer ([`Customer::completed`]).

mod prompts;
mod simulator;

use std::collections::VecDeque;

use volary_core::json::Text;
use volary_core::message::Role;

pub use prompts::Prompts;
pub use simulator::{Simulator, Strategy};

/// A simulated or human customer.
#[derive(Clone, Debug)]
pub enum Customer {
    /// Sends one text after the other, whatever it receives.
    Scripted(VecDeque<Text>),
    /// A person, who sees the instruction and the agent's messages.
    Human,
    /// A model.
    Simulated(Simulator),
}

/// A message in a request to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: Role,
    /// The text.
    pub content: Text,
}

/// The customer's next request, or its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomerStep {
    /// Ask a model to complete these messages.
    Ask(Vec<ChatMessage>),
    /// Ask a person to read this and to type a line.
    Show(Text),
    /// The customer's message.
    Say(Text),
}

/// Why a customer has no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomerError {
    /// The script has ended.
    #[error("The scripted customer has nothing more to say.")]
    ScriptOver,
    /// An answer arrived without a question.
    #[error("Nothing was asked of the customer's model.")]
    NothingAsked,
    /// The model's answer has the wrong format.
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

    /// Starts a conversation with the customer's instruction.
    ///
    /// # Errors
    ///
    /// The script has ended.
    pub fn reset(&mut self, instruction: Option<&str>) -> Result<CustomerStep, CustomerError> {
        match self {
            Customer::Scripted(texts) => next(texts),
            Customer::Human => Ok(shown(instruction.unwrap_or("None"))),
            Customer::Simulated(simulator) => Ok(CustomerStep::Ask(simulator.reset(instruction))),
        }
    }

    /// Sends the agent's message to the customer.
    ///
    /// # Errors
    ///
    /// The script has ended.
    pub fn step(&mut self, content: &str) -> Result<CustomerStep, CustomerError> {
        match self {
            Customer::Scripted(texts) => next(texts),
            Customer::Human => Ok(shown(content)),
            Customer::Simulated(simulator) => Ok(CustomerStep::Ask(simulator.step(content))),
        }
    }

    /// Continues with the customer's message from a recorded conversation.
    pub fn recall(&mut self, said: &str) {
        if let Customer::Simulated(simulator) = self {
            simulator.recall(said);
        }
    }

    /// Continues with the answer of the model or the person.
    ///
    /// # Errors
    ///
    /// There was no question, or the answer has the wrong format.
    pub fn completed(&mut self, completion: &str) -> Result<CustomerStep, CustomerError> {
        match self {
            Customer::Scripted(_) => Err(CustomerError::NothingAsked),
            Customer::Human => Ok(CustomerStep::Say(completion.into())),
            Customer::Simulated(simulator) => simulator.completed(completion),
        }
    }
}

fn next(texts: &mut VecDeque<Text>) -> Result<CustomerStep, CustomerError> {
    let text = texts.pop_front().ok_or(CustomerError::ScriptOver)?;
    Ok(CustomerStep::Say(text))
}

fn shown(text: &str) -> CustomerStep {
    CustomerStep::Show(format!("{text}\n").into())
}
