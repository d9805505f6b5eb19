//! A tool call in Review: in full, collapsed to one line, or as JSON.

use leptos::prelude::*;
use volary_core::json::Object;
use volary_core::{Json, ToolCall};
use volary_episode::passages::{TextPart, TextPosition};
use volary_view::content::is_short;
use volary_view::highlight::holder_id;
use volary_view::pretty::one_line;

use super::call::{arguments, part_of, tool_name, unknown_tool};
use super::context::TranscriptContext;
use super::reading::{ReadingOptions, Spot};
use crate::json_text::json_text;
use crate::text::inert;
use crate::transient_memo::transient_memo;

/// Maximum number of characters shown of a collapsed call.
const LINE: usize = 120;

/// Renders a call of a step, with a link to its result.
pub(super) fn read_call(
    context: TranscriptContext,
    reading: ReadingOptions,
    (step, number): (usize, usize),
    call: &ToolCall,
    to_result: AnyView,
) -> AnyView {
    let is_short = call.function.arguments.values().all(is_short);
    let own = reading.own(step, Spot::Call(number));
    let state = transient_memo(move |_| reading.call_state(own.get()));
    let is_raw = transient_memo(move |_| own.get().raw);
    let body = call_content(context, state, (step, number), call, is_short);
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
    view! {
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
    .into_any()
}

/// The arguments of a call in Review: collapsed to a line, as JSON, or in full.
fn call_content(
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

fn call_json(call: &ToolCall) -> Json {
    let mut object = Object::default();
    object.insert("id", Json::from(call.id.clone()));
    object.insert("name", Json::from(call.function.name.clone()));
    object.insert("arguments", Json::from(call.function.arguments.clone()));
    Json::from(object)
}
