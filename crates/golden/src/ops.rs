//! The operations: each runs the input of a case with Volary, as it was recorded with aviary.
//!
//! - [`messages`], [`calls`], [`tools`]: values and their texts.
//! - [`environments`]: whole episodes; [`story`] is an environment of the harness's own.
//! - [`frames`], [`datasets`].
//! - [`exec`], [`concurrency`]: running tool calls.
//! - [`tokens`]: templates, tokenizers, masks, tool calls in text. [`rollout`]: whole episodes.
//! - [`tau`]: tau-bench. [`hotpotqa`]: HotPotQA, and the evaluation of answers.
//! - [`selector`]: selecting tools by a model. [`server`], [`client`]: environments over HTTP.

mod calls;
mod client;
mod concurrency;
mod datasets;
mod environments;
mod exec;
mod frames;
mod hotpotqa;
mod input;
mod messages;
mod rollout;
mod selector;
mod server;
mod story;
pub(crate) mod tau;
pub(crate) mod tokens;
mod tools;

use volary_core::Json;

use crate::matching::Loose;

/// An operation.
pub struct Run {
    /// Maps the input of a case to its result, or to the text of the error.
    pub run: fn(&Json) -> Result<Json, String>,
    /// Where integers match floats of the same value.
    pub loose: Loose,
    /// The expectation if the original's wording is not available.
    pub without_wording: Option<fn(&Json) -> Json>,
}

/// The operation with this name.
pub fn find(name: &str) -> Option<Run> {
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
        "selector_request" => selector::request,
        "selector_response" => selector::response,
        "selector_ledger" => selector::ledger,
        "server_http" => server::server_http,
        "client_http" => client::client_http,
        "chat_template" => tokens::chat_template,
        "tokenize" => tokens::tokenize,
        "token_delta" => tokens::token_delta,
        "qwen_tool_parse" => tokens::qwen_tool_parse,
        "call_to_action" => tokens::call_to_action,
        "slime_rollout_tau" => rollout::slime_rollout_tau,
        "slime_rollout" => rollout::slime_rollout,
        "tool_instruction" => tokens::tool_instruction,
        "hotpot_episode" => hotpotqa::episode,
        "hotpot_normalize" => hotpotqa::normalize,
        "hotpot_clean_str" => hotpotqa::clean,
        "eval_answer" => hotpotqa::eval_answer,
        "eval_answer_llm" => hotpotqa::eval_answer_llm,
        "tau_env" => tau::env,
        "tau_gold" => tau::gold,
        "tau_data_hash" => tau::hash,
        "tau_calculate" => tau::calculate,
        "tau_user" => tau::user,
        "pass_hat_k" => tau::pass,
        _ => return None,
    };
    let loose = match name {
        "gsm8k_answer_parse" | "eval_answer" => Loose::Whole,
        "server_http" => Loose::StepReward,
        _ => Loose::Named,
    };
    let ours = name == "tau_user" && tau::original_prompts().is_none();
    Some(Run {
        run,
        loose,
        without_wording: ours.then_some(tau::without_wording as fn(&Json) -> Json),
    })
}
