//! Full-duplex conversations: every tick contains the fragment of speech of each side, its calls, and their results.
//! Consecutive fragments form a message.

use volary_core::json::{Json, Object, Text};
use volary_core::object;

use crate::import::members::text_at;

/// One side of a conversation: its role, and its members in a tick.
struct Side {
    role: &'static str,
    chunk: &'static str,
    calls: &'static str,
    results: &'static str,
}

const SIDES: [Side; 2] = [
    Side {
        role: "user",
        chunk: "user_chunk",
        calls: "user_tool_calls",
        results: "user_tool_results",
    },
    Side {
        role: "assistant",
        chunk: "agent_chunk",
        calls: "agent_tool_calls",
        results: "agent_tool_results",
    },
];

/// The last message of a side.
#[derive(Clone, Copy, Default)]
struct Open {
    /// The index of the message, while further fragments may be appended.
    index: Option<usize>,
    /// Whether the side spoke in the previous tick.
    speaking: bool,
}

/// A message, and its text so far.
type Message = (Object, String);

/// Joins ticks into messages, in the order of their starts.
pub(super) fn messages(ticks: &[Json]) -> Vec<Json> {
    let mut messages: Vec<Message> = Vec::new();
    let mut open = [Open::default(); 2];
    for tick in ticks {
        for (side, open) in SIDES.iter().zip(&mut open) {
            let said = text_at(tick, &[side.chunk, "content"]).filter(|text| !text.is_empty());
            // After a pause a side continues the same message, unless the other side spoke in between.
            let is_last = open.index.is_some_and(|index| index + 1 == messages.len());
            let goes_on = open.index.filter(|_| is_last || open.speaking);
            open.speaking = said.is_some();
            if let Some(said) = said {
                open.index = Some(say(goes_on, said, side, tick, &mut messages));
            }
            if let Some(calls) = calls(tick, side) {
                let index = open.index.filter(|index| index + 1 == messages.len());
                let index = index.unwrap_or_else(|| begin(side, tick, &mut messages));
                if let Some((message, _)) = messages.get_mut(index) {
                    message.insert("tool_calls", calls.to_vec());
                }
                *open = Open::default();
            }
        }
        for side in &SIDES {
            let results = tick.get(side.results).and_then(Json::as_list);
            let results = results.unwrap_or_default().iter();
            let results = results.filter_map(Json::as_object);
            messages.extend(results.map(|result| (result.clone(), String::new())));
        }
    }
    let whole = |(mut message, said): Message| {
        if !said.is_empty() {
            message.insert("content", said);
        }
        Json::Object(message)
    };
    messages.into_iter().map(whole).collect()
}

/// Appends a fragment to the message at an index, or starts a new one.
fn say(
    index: Option<usize>,
    said: Text,
    side: &Side,
    tick: &Json,
    messages: &mut Vec<Message>,
) -> usize {
    let index = index.unwrap_or_else(|| begin(side, tick, messages));
    if let Some((_, before)) = messages.get_mut(index) {
        before.push_str(&said);
    }
    index
}

fn begin(side: &Side, tick: &Json, messages: &mut Vec<Message>) -> usize {
    let time = text_at(tick, &[side.chunk, "timestamp"]);
    let time = time.or_else(|| text_at(tick, &["timestamp"]));
    let mut message = object!({ "role": (side.role) });
    if let Some(time) = time {
        message.insert("timestamp", time);
    }
    messages.push((message, String::new()));
    messages.len() - 1
}

/// The calls of a side: in a separate member, or within its message.
fn calls<'a>(tick: &'a Json, side: &Side) -> Option<&'a [Json]> {
    let apart = tick.get(side.calls);
    let within = || tick.get(side.chunk)?.get("tool_calls");
    let found = |calls: &'a Json| calls.as_list().filter(|calls| !calls.is_empty());
    apart.and_then(found).or_else(|| within().and_then(found))
}
