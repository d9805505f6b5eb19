//! A tool call: the tool's name and arguments, with a link to its result.

use leptos::prelude::*;
use volary_core::json::{Object, Text};
use volary_core::{Json, ToolCall};
use volary_episode::passages::{TextPart, TextPosition};
use volary_view::content::is_short;
use volary_view::highlight::holder_id;
use volary_view::pretty::{one_line, scalar};
use volary_view::transcript::is_unknown_tool;

use super::context::{FoldKey, ToResult, TranscriptContext};
use super::reading::Spot;
use crate::json_text::{json_text, token_class};
use crate::text::{folded_text, inert};
use crate::transient_memo::transient_memo;

/// Maximum number of characters shown of a collapsed call.
const LINE: usize = 120;

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
        let own = reading.own(step, Spot::Call(number));
        let state = transient_memo(move |_| reading.call_state(own.get()));
        let is_raw = transient_memo(move |_| own.get().raw);
        let body = read_call(context, state, (step, number), call, is_short);
        let class = move || match state.get() {
            (false, true) => "call folded",
            (false, false) if is_short => "call short",
            _ => "call",
        };
        let id = holder_id(TextPosition {
            step,
            message: 0,
            part: TextPart::Call(number),
        });
        return view! {
            <div class=class data-call=number.to_string() id=id>
                {tool_name(&call.function.name)}
                {unknown_tool(context, call)}
                {body}
                <button
                    type="button"
                    class="quiet small json-toggle"
                    title="Show as JSON"
                    aria-label="JSON of the call"
                    aria-pressed=move || is_raw.get().to_string()
                    on:click=move |_| own.update(|own| own.raw = !own.raw)
                >
                    {"{}"}
                </button>
                {to_result}
            </div>
        }
        .into_any();
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

fn tool_name(name: &str) -> impl IntoView + use<> {
    view! {
        <span class="tool-name" dir="auto">
            {inert(name)}
        </span>
    }
}

/// A badge for a call of a tool that the episode does not have.
fn unknown_tool(context: TranscriptContext, call: &ToolCall) -> Option<impl IntoView + use<>> {
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

/// The arguments of a call in Review: collapsed to a line, as JSON, or in full.
fn read_call(
    context: TranscriptContext,
    state: Memo<(bool, bool)>,
    (step, number): (usize, usize),
    call: &ToolCall,
    is_short: bool,
) -> AnyView {
    let call = call.clone();
    (move || match state.get() {
        (true, _) => {
            let fold = context.fold((step, 0, part_of(number, 999)));
            view! { <div class="call-json">{json_text(&call_json(&call), fold)}</div> }.into_any()
        }
        (false, true) => {
            let line = one_line(&Json::from(call.function.arguments.clone()), LINE);
            view! {
                <span class="call-line" dir="auto">
                    {inert(&line)}
                </span>
            }
            .into_any()
        }
        (false, false) => arguments(context, (step, number), &call, is_short),
    })
    .into_any()
}

/// The part number of an argument of a call. Smaller numbers are parts of the body, which never has that many.
pub(super) fn part_of(call: usize, argument: usize) -> usize {
    1_000_000 + call * 1_000 + argument
}

fn call_json(call: &ToolCall) -> Json {
    let mut object = Object::default();
    object.insert("id", Json::from(call.id.clone()));
    object.insert("name", Json::from(call.function.name.clone()));
    object.insert("arguments", Json::from(call.function.arguments.clone()));
    Json::from(object)
}

/// The arguments, below the tool's name or on the same line.
fn arguments(
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
