//! A tool call: the tool's name and arguments, with a link to its result.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::{Json, ToolCall};
use volary_view::content::is_short;
use volary_view::pretty::scalar;
use volary_view::transcript::is_unknown_tool;

use super::context::{FoldKey, ToResult, TranscriptContext};
use crate::json_text::{json_text, token_class};
use crate::text::{folded_text, inert};

/// Renders a call of a step. `answer` is the index of the message with its result.
pub(super) fn call_view(
    context: TranscriptContext,
    (step, number): (usize, usize),
    call: &ToolCall,
    answer: Option<usize>,
) -> AnyView {
    let is_short = call.function.arguments.values().all(is_short);
    let to_result = answer.map(|message| view! { <ToResult message/> });
    if let Some(reading) = context.reading {
        return (reading.views.call)(context, reading, (step, number), call, to_result.into_any());
    }
    let class = if is_short { "call short" } else { "call" };
    view! {
        <div class=class data-call=number.to_string()>
            {tool_name(&call.function.name)}
            {unknown_tool(context, call)}
            {arguments(context, (step, number), call, is_short)}
            {to_result}
        </div>
    }
    .into_any()
}

pub(super) fn tool_name(name: &str) -> impl IntoView + use<> {
    view! {
        <span class="tool-name" dir="auto">
            {inert(name)}
        </span>
    }
}

/// A badge for a call of a tool that the episode does not have.
pub(super) fn unknown_tool(
    context: TranscriptContext,
    call: &ToolCall,
) -> Option<impl IntoView + use<>> {
    let name = &call.function.name;
    let is_unknown = context
        .episode
        .with_untracked(|episode| is_unknown_tool(episode, name));
    is_unknown.then(|| {
        view! {
            {" "}
            <span class="badge bad">"unknown tool"</span>
        }
    })
}

/// A call that aviary names `INVALID`: the reason, with the raw text of the model if it is known.
pub(super) fn invalid_call_view(
    context: TranscriptContext,
    (step, number): (usize, usize),
    written: Option<(Text, Text)>,
    answer: Option<usize>,
) -> AnyView {
    let (name, arguments) = written.unzip();
    let reason = match &name {
        Some(name) if name.is_empty() => "the call has no tool name",
        _ => "arguments are not valid JSON",
    };
    let name = name.as_deref().filter(|name| !name.is_empty());
    let place = (step, 0, part_of(number, 0));
    let raw = arguments.filter(|text| !text.is_empty()).map(|text| {
        view! { <div class="invalid-arguments">{folded_text(text, context.fold(place))}</div> }
    });
    view! {
        <div data-call=number.to_string() class="call">
            {tool_name(name.unwrap_or("Tool call"))}
            {" "}
            <span class="badge bad">{reason}</span>
            {raw}
            {answer.map(|message| view! { <ToResult message/> })}
        </div>
    }
    .into_any()
}

/// The part number of an argument of a call. Smaller numbers are parts of the body, which never has that many.
pub(super) fn part_of(call: usize, argument: usize) -> usize {
    1_000_000 + call * 1_000 + argument
}

/// The arguments, below the tool's name or on the same line.
pub(super) fn arguments(
    context: TranscriptContext,
    (step, number): (usize, usize),
    call: &ToolCall,
    in_line: bool,
) -> AnyView {
    let arguments = call.function.arguments.iter().enumerate();
    let arguments = arguments.map(|(place, (name, value))| {
        let class = if is_short(value) {
            "argument short"
        } else {
            "argument"
        };
        let pair = view! {
            <dt class="argument-name" dir="auto">
                {inert(name)}
            </dt>
            {argument_value(context, (step, 0, part_of(number, place)), value)}
        };
        if in_line {
            // Allows a line break before each argument.
            (" ", pair).into_any()
        } else {
            view! { <div class=class>{pair}</div> }.into_any()
        }
    });
    view! { <dl class="arguments">{arguments.collect_view()}</dl> }.into_any()
}

fn argument_value(context: TranscriptContext, place: FoldKey, value: &Json) -> AnyView {
    match value {
        // Multi-line strings are shown unescaped.
        Json::Text(text) if !is_short(value) => {
            view! { <dd>{folded_text(text.clone(), context.fold(place))}</dd> }.into_any()
        }
        Json::List(_) | Json::Object(_) => {
            view! { <dd>{json_text(value, context.fold(place))}</dd> }.into_any()
        }
        other => {
            let (kind, text) = scalar(other);
            view! {
                <dd class=token_class(kind) dir="auto">
                    {inert(&text)}
                </dd>
            }
            .into_any()
        }
    }
}
