//! The outside of an environment: pages, models, a person, and data provided by the user.
//!
//! An environment that needs one of them awaits it here; the program that runs the environment decides what
//! is accessible. The replies of pages, models and persons are recorded in the episode
//! ([`Environment::recorded`](crate::Environment::recorded)), so that a replay needs no access to the outside.

use std::any::Any;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::json::{Json, Text};
use crate::message::Role;

/// The future of a reply.
pub type Answer = LocalBoxFuture<'static, Result<Text, OutsideError>>;

/// The future of data. Only the environment that requests it knows its type.
pub type Data = LocalBoxFuture<'static, Result<Rc<dyn Any>, OutsideError>>;

/// Access to the outside.
pub trait Outside {
    /// The body of a page, by its address.
    fn fetch(&self, address: &str) -> Answer;

    /// A model's completion of a conversation.
    fn complete(&self, request: ModelRequest) -> Answer;

    /// A person's reply to this text.
    fn ask(&self, shown: &str) -> Answer;

    /// Data provided by the user, by name.
    fn data(&self, name: &str) -> Data {
        let message = format!("The data of {name} is not available here.").into();
        Box::pin(std::future::ready(Err(OutsideError { message })))
    }
}

/// A conversation for a model to complete.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The purpose, by which the user assigns the model and its budget: `customer`, `judge`.
    pub purpose: &'static str,
    /// The model and the temperature that the environment requests; null for the default.
    pub model: Json,
    /// The requested temperature; null for the default.
    pub temperature: Json,
    pub messages: Vec<(Role, Text)>,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OutsideError {
    /// What failed and why.
    pub message: Text,
}

/// No access: every request fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closed;

impl Outside for Closed {
    fn fetch(&self, address: &str) -> Answer {
        closed(format!(
            "{address} was not fetched: nothing outside can be reached from here."
        ))
    }

    fn complete(&self, request: ModelRequest) -> Answer {
        let purpose = request.purpose;
        closed(format!("There is no model here to be the {purpose}."))
    }

    fn ask(&self, _: &str) -> Answer {
        closed("There is no person here to answer.".to_owned())
    }
}

fn closed(message: String) -> Answer {
    let error = OutsideError {
        message: message.into(),
    };
    Box::pin(std::future::ready(Err(error)))
}
