//! The messages shown to the user of Cline: `{ts, type: "say" | "ask", say | ask, text, …}`, with the tokens and cost
//! of each request.
//!
//! What is shown between two requests to the model is one response, hence one step. The output of a command is shown in
//! pieces.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Role, ToolCall, object};
use volary_episode::episode::{Episode, StepError, Usage};

use crate::import::chat;
use crate::import::members::{Members, count, moment, number, text_at};
use crate::import::transcript::Transcript;

/// What Cline appends to a command that waits for approval.
const WAITS: &str = "REQ_APP";

/// A request to the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub usage: Option<Usage>,
    pub started: Option<f64>,
    pub errors: Vec<StepError>,
}

/// Whether a value is a shown message.
pub(super) fn is_shown(value: &Json) -> bool {
    let kind = text_at(value, &["type"]);
    let has_time = value.get("ts").is_some_and(|ts| ts.as_f64().is_some());
    let named = kind.is_some_and(|kind| match &*kind {
        "say" | "ask" => text_at(value, &[&*kind]).is_some(),
        _ => false,
    });
    has_time && named
}

/// The requests to the model, in order.
pub(super) fn requests(screen: &[Json]) -> Vec<Request> {
    let is_request = |value: &&Json| text_at(value, &["say"]).as_deref() == Some("api_req_started");
    screen.iter().filter(is_request).map(request).collect()
}

fn request(value: &Json) -> Request {
    let text = text_at(value, &["text"]).unwrap_or_default();
    let told = Json::parse(&text).unwrap_or_default();
    let tokens = |key| told.get(key).and_then(count);
    let cached = |key| tokens(key).unwrap_or_default();
    let all = |input: u64| {
        input
            .saturating_add(cached("cacheReads"))
            .saturating_add(cached("cacheWrites"))
    };
    let usage = Usage {
        input: tokens("tokensIn").map(all),
        output: tokens("tokensOut"),
        cached: tokens("cacheReads"),
        reasoning: None,
        cost: told.get("cost").and_then(number),
    };
    let failed = ["streamingFailedMessage", "cancelReason"];
    let failed = failed.iter().find_map(|key| text_at(&told, &[key]));
    Request {
        usage: (!usage.is_empty()).then_some(usage),
        started: value.get("ts").and_then(moment),
        errors: failed
            .map(|message| StepError {
                call: None,
                message,
            })
            .into_iter()
            .collect(),
    }
}

/// Reads a task from the shown messages alone. Returns those that are neither messages nor actions.
pub(super) fn read(
    screen: Vec<Json>,
    transcript: &mut Transcript,
    episode: &mut Episode,
) -> Vec<Json> {
    let mut others = Vec::new();
    let mut asked = Request::default();
    // Whether a request is known, and whether its response has begun.
    let (mut is_asked, mut has_begun) = (false, false);
    let mut thoughts: Vec<Text> = Vec::new();
    let mut model: Option<Text> = None;
    for value in screen {
        let kind = text_at(&value, &["say"]).or_else(|| text_at(&value, &["ask"]));
        let is_partial = value.get("partial").and_then(Json::as_bool) == Some(true);
        let Some(kind) = kind.filter(|_| !is_partial) else {
            others.push(value);
            continue;
        };
        model = text_at(&value, &["modelInfo", "modelId"]).or(model);
        let text = text_at(&value, &["text"]).unwrap_or_default();
        let when = value.get("ts").and_then(moment);
        let is_first = transcript.len() == 0 && episode.started.is_none();
        let mut said = match &*kind {
            "task" | "user_feedback" | "user_feedback_diff" => {
                chat::plain(Role::User, chat::body(text.into()))
            }
            "text" if is_first => chat::plain(Role::User, chat::body(text.into())),
            "reasoning" => {
                thoughts.push(text);
                continue;
            }
            "api_req_started" => {
                asked = request(&value);
                (is_asked, has_begun) = (true, false);
                continue;
            }
            // An empty one asks whether the task is done.
            "completion_result" | "text" if text.is_empty() => continue,
            "text" | "completion_result" | "followup" | "plan_mode_respond" => {
                chat::acted(text.into(), Vec::new())
            }
            "command" => {
                let command = text.strip_suffix(WAITS).unwrap_or(&text);
                let call = ToolCall::new("", "execute_command", object!({ "command": command }));
                chat::acted(Json::Null, vec![call])
            }
            "tool" | "use_mcp_server" | "browser_action" | "use_subagents" => {
                chat::acted(Json::Null, vec![call(&kind, &text)])
            }
            "command_output" | "mcp_server_response" | "browser_action_result"
                if let Some((id, name)) = last_call(transcript) =>
            {
                if transcript.answer_on(&id, &text, when) {
                    continue;
                }
                chat::answer(id, name, text.into())
            }
            "error" | "diff_error" | "api_req_failed" | "clineignore_error" | "rooignore_error" => {
                match transcript.last_mut() {
                    Some(step) => step.details.errors.push(StepError {
                        call: None,
                        message: text,
                    }),
                    None => episode.errors.push(text),
                }
                continue;
            }
            _ => {
                others.push(value);
                continue;
            }
        };
        episode.started = episode.started.or(when);
        said.details.started = when;
        if said.message.role() == Role::User {
            is_asked = false;
        }
        if said.message.role() == Role::Assistant && is_asked && has_begun {
            let thoughts = thoughts.drain(..);
            if let Some(step) = transcript.last_mut() {
                let known = step.details.reasoning.take().into_iter();
                let all: Vec<Text> = known.chain(thoughts).collect();
                step.details.reasoning = (!all.is_empty()).then(|| all.join("\n\n").into());
            }
            transcript.act_on(said);
            continue;
        }
        if said.message.role() == Role::Assistant {
            has_begun = true;
            let asked = std::mem::take(&mut asked);
            said.details.usage = asked.usage;
            said.details.errors = asked.errors;
            said.details.model = model.clone();
            let thoughts = std::mem::take(&mut thoughts);
            said.details.reasoning = (!thoughts.is_empty()).then(|| thoughts.join("\n\n").into());
        }
        transcript.push(said);
    }
    others
}

/// The id and name of the last call.
fn last_call(transcript: &mut Transcript) -> Option<(Text, Text)> {
    match &transcript.last_mut()?.action {
        AnyMessage::Request(request) => {
            let call = request.tool_calls.last()?;
            Some((call.id.clone(), call.function.name.clone()))
        }
        _ => None,
    }
}

/// Reads a shown call: JSON whose name is in `tool`, `toolName` or `action`.
fn call(kind: &str, text: &str) -> ToolCall {
    let mut arguments = match Json::parse(text) {
        Ok(Json::Object(object)) => object,
        _ => Object::from_pairs(vec![("text".into(), text.into())]),
    };
    let named = ["tool", "toolName"]
        .iter()
        .find_map(|key| arguments.take_text(key));
    let given = arguments
        .take_text("arguments")
        .map(|text| chat::arguments(text.into()));
    ToolCall::new(
        "",
        named.unwrap_or_else(|| kind.into()),
        given.unwrap_or(arguments),
    )
}
