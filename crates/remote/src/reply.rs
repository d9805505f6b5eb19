//! Reply bodies.

use std::sync::Arc;

use volary_core::fields::FieldError;
use volary_core::json::{Json, Text};
use volary_core::message::dump::DumpOptions;
use volary_core::message::error::MessageError;
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, Reset, Step, Tool, json};

/// The reply to `/info`.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The number of tasks in the dataset; `None` if it is endless.
    pub dataset_size: Option<u64>,
    /// The running environments, in order of start.
    pub running_env_ids: Vec<Text>,
}

/// Why a reply is malformed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// It has an unexpected structure.
    #[error("The reply to {endpoint} should be {expected}.")]
    Shape {
        endpoint: &'static str,
        /// The expected structure.
        expected: &'static str,
    },
    /// One of its messages is malformed.
    #[error("The reply to {endpoint} has a message that cannot be read: {error}")]
    Message {
        endpoint: &'static str,
        /// The error of the message.
        error: MessageError,
    },
    /// One of its tools is malformed.
    #[error("The reply to /reset has a tool that cannot be read: {error}.")]
    Tool {
        /// The error of the tool.
        error: FieldError,
    },
}

impl ReplyError {
    /// The endpoint of the reply.
    pub fn endpoint(&self) -> Option<&'static str> {
        match self {
            ReplyError::Shape { endpoint, .. } | ReplyError::Message { endpoint, .. } => {
                Some(endpoint)
            }
            ReplyError::Tool { .. } => Some("/reset"),
        }
    }
}

/// The response of `/reset`. Fails if flagged content is not valid JSON.
pub fn reset_to_json(reset: &Reset) -> Result<Json, MessageError> {
    let tools = reset
        .tools
        .iter()
        .map(|tool| tool.dump(ToolDumpOptions::WIRE));
    Ok(Json::List(vec![
        messages_to_json(&reset.messages)?,
        Json::List(tools.map(Json::Object).collect()),
    ]))
}

/// The response of `/step`. Fails if flagged content is not valid JSON.
pub fn step_to_json(step: &Step) -> Result<Json, MessageError> {
    Ok(Json::List(vec![
        messages_to_json(&step.messages)?,
        step.reward.into(),
        step.done.into(),
        step.truncated.into(),
    ]))
}

fn messages_to_json(messages: &[AnyMessage]) -> Result<Json, MessageError> {
    let dumps: Result<Vec<Json>, MessageError> = messages
        .iter()
        .map(|message| message.dump(&DumpOptions::with_info()).map(Json::Object))
        .collect();
    dumps.map(Json::List)
}

/// The reply to `/start` and `/close`.
pub fn env_id_to_json(env_id: &str) -> Json {
    json!({"env_id": (env_id)})
}

impl Info {
    /// The reply to `/info`.
    pub fn to_json(&self) -> Json {
        let size = self
            .dataset_size
            .map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        json!({"dataset_size": (size), "running_env_ids": (self.running_env_ids.clone())})
    }

    /// Reads the reply to `/info`.
    pub fn read(body: &Json) -> Result<Self, ReplyError> {
        let shape = ReplyError::Shape {
            endpoint: "/info",
            expected: "an object with `dataset_size` and `running_env_ids`",
        };
        let dataset_size = match body.get("dataset_size") {
            Some(Json::Null) => None,
            Some(size) => match size.as_i64().map(u64::try_from) {
                Some(Ok(size)) => Some(size),
                _ => return Err(shape),
            },
            None => return Err(shape),
        };
        let ids = body
            .get("running_env_ids")
            .and_then(Json::as_list)
            .unwrap_or(&[]);
        Ok(Info {
            dataset_size,
            running_env_ids: ids.iter().filter_map(Json::as_text).cloned().collect(),
        })
    }
}

/// Reads the reply to `/start`.
pub fn read_env_id(body: &Json) -> Result<Text, ReplyError> {
    let id = body.get("env_id").and_then(Json::as_text).cloned();
    id.ok_or(ReplyError::Shape {
        endpoint: "/start",
        expected: "an object with the text `env_id`",
    })
}

/// Reads the reply to `/reset`.
pub fn read_reset(body: &Json) -> Result<Reset, ReplyError> {
    let shape = ReplyError::Shape {
        endpoint: "/reset",
        expected: "a list of messages and tools",
    };
    let Some([messages, Json::List(tools)]) = body.as_list() else {
        return Err(shape);
    };
    let tools: Result<Vec<Arc<Tool>>, FieldError> = tools
        .iter()
        .map(|tool| Tool::read(tool).map(Arc::new))
        .collect();
    Ok(Reset {
        messages: read_messages("/reset", messages)?,
        tools: tools.map_err(|error| ReplyError::Tool { error })?,
    })
}

/// Reads the reply to `/step`.
pub fn read_step(body: &Json) -> Result<Step, ReplyError> {
    let shape = ReplyError::Shape {
        endpoint: "/step",
        expected: "a list of messages, reward, done and truncated",
    };
    let Some([messages, reward, done, truncated]) = body.as_list() else {
        return Err(shape);
    };
    let (Some(reward), Some(done), Some(truncated)) =
        (reward_of(reward), done.as_bool(), truncated.as_bool())
    else {
        return Err(shape);
    };
    Ok(Step {
        messages: read_messages("/step", messages)?,
        reward,
        done,
        truncated,
    })
}

/// A reward; null represents a number that JSON cannot represent.
fn reward_of(value: &Json) -> Option<f64> {
    match value {
        Json::Null => Some(f64::NAN),
        Json::Bool(flag) => Some(f64::from(u8::from(*flag))),
        value => value.as_f64(),
    }
}

fn read_messages(endpoint: &'static str, value: &Json) -> Result<Vec<AnyMessage>, ReplyError> {
    let list = value.as_list().ok_or(ReplyError::Shape {
        endpoint,
        expected: "a list that begins with a list of messages",
    })?;
    list.iter()
        .map(|message| {
            AnyMessage::read(message).map_err(|error| ReplyError::Message { endpoint, error })
        })
        .collect()
}
