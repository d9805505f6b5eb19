//! Observations of our environments in OpenEnv's form: aviary's messages, and what OpenEnv's clients of tools read.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::message::DumpOptions;
use volary_core::message::error::MessageError;
use volary_core::{AnyMessage, Reset, Step, Tool, object};

use crate::server_message::Observed;
use crate::tool_spec;

/// The observation of a reset.
pub fn of_reset(reset: &Reset) -> Result<Observed, MessageError> {
    Ok(Observed {
        observation: object!({
            "messages": (dump(&reset.messages)?),
            "prompt": (text_of(&reset.messages)),
            // `tools` alone would make OpenEnv's client take this for the reply to `list_tools`.
            "available_tools": (openenv_tools(&reset.tools)),
            "metadata": {}
        }),
        ..Observed::default()
    })
}

/// The observation of a step. `tool` is the one that was called, if it was only one.
pub fn of_step(step: &Step, tool: Option<&Text>) -> Result<Observed, MessageError> {
    let mut observation = match tool {
        Some(tool) => object!({
            "tool_name": (tool.clone()),
            "result": (text_of(&step.messages)),
            "error": null
        }),
        None => Object::new(),
    };
    observation.insert("messages", dump(&step.messages)?);
    observation.insert("metadata", Object::new());
    Ok(Observed {
        observation,
        reward: Some(step.reward),
        done: step.done || step.truncated,
        metadata: if step.truncated {
            object!({"truncated": true})
        } else {
            Object::new()
        },
    })
}

/// The observation of `list_tools`.
pub fn of_tools(tools: &[Arc<Tool>]) -> Observed {
    Observed {
        observation: object!({"tools": (openenv_tools(tools)), "metadata": {}}),
        ..Observed::default()
    }
}

/// The contents of messages, one after the other.
pub fn text_of(messages: &[AnyMessage]) -> String {
    let contents = messages
        .iter()
        .map(|message| message.body().content_or_empty());
    contents.collect::<Vec<_>>().join("\n")
}

fn dump(messages: &[AnyMessage]) -> Result<Json, MessageError> {
    let dumped = messages.iter().map(|message| {
        let object = message.dump(&DumpOptions::with_info())?;
        Ok(Json::Object(object))
    });
    dumped.collect::<Result<Vec<_>, _>>().map(Json::List)
}

fn openenv_tools(tools: &[Arc<Tool>]) -> Json {
    Json::List(
        tools
            .iter()
            .map(|tool| tool_spec::to_openenv(tool))
            .collect(),
    )
}
