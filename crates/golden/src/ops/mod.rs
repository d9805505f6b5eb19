//! The operations: each takes the input of a case and does with Volary what was recorded of aviary.
//!
//! - [`messages`], [`calls`], [`tools`]: values and their texts.
//! - [`environments`]: whole episodes; [`story`] is an environment of the harness's own.
//! - [`frames`], [`datasets`].
//! - [`exec`], [`concurrency`]: running tool calls.

mod calls;
mod concurrency;
mod datasets;
mod environments;
mod exec;
mod frames;
mod input;
mod messages;
mod story;
mod tools;

use volary_core::Json;

/// An operation.
pub enum Op {
    /// It can be run.
    Runs(Run),
    /// Its part of Volary is still to come.
    Pending,
}

/// How an operation is run.
pub struct Run {
    /// From the input of a case to the result, or the text of the failure.
    pub run: fn(&Json) -> Result<Json, String>,
    /// Whether only the value of the result's numbers counts.
    pub loose: bool,
}

/// The operation of a name.
pub fn find(name: &str) -> Option<Op> {
    let run: fn(&Json) -> Result<Json, String> = match name {
        "message_dump" => messages::dump,
        "message_parse" => messages::parse,
        "message_text_ops" => messages::text_ops,
        "message_str" => messages::show,
        "message_join" => messages::join,
        "message_create" => messages::create,
        "tool_call_parse" => calls::parse,
        "tool_call_display" => calls::display,
        "tool_call_from_tool" => calls::from_tool,
        "tool_response_from_request" => calls::responses,
        "tool_dump" => tools::dump,
        "function_info_describe" => tools::describe,
        "env_from_name" => environments::from_name,
        "env_episode" => environments::episode,
        "calculator_eval" => environments::calculator_eval,
        "calculator_submit" => environments::calculator_submit,
        "frame_dump" => frames::dump,
        "renderer_build" => frames::render,
        "exec_tool_calls" => exec::exec_tool_calls,
        "exec_concurrency" => concurrency::exec_concurrency,
        "gsm8k_answer_parse" => datasets::gsm8k_answer,
        "gsm8k_split" => datasets::gsm8k_split,
        "task_batches" => datasets::batches,
        "task_config" => datasets::task_config,
        "selector_request" | "selector_response" | "selector_ledger" | "server_http"
        | "client_http" => return Some(Op::Pending),
        _ => return None,
    };
    let loose = name == "gsm8k_answer_parse";
    Some(Op::Runs(Run { run, loose }))
}
