//! The messages shown to the user of Cline: `{ts, type: "say" | "ask", say | ask, text, …}`, with the tokens and cost
//! of each request.
//!
//! What is shown between two requests to the model is one response, hence one step. The output of a command is shown in
//! pieces.

use volary_core::json::{Json, Object, Text};
use volary_core::{Role, ToolCall, object};
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

/// What a model answered to a request, as far as it was shown.
#[derive(Default)]
struct Response {
    request: Request,
    started: Option<f64>,
    model: Option<Text>,
    texts: Vec<Text>,
    thoughts: Vec<Text>,
    calls: Vec<ShownCall>,
}

/// A call, and the pieces of its result with the time of the last one.
struct ShownCall {
    call: ToolCall,
    result: Option<(Vec<Text>, Option<f64>)>,
}

impl Response {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.calls.is_empty()
    }

    /// Begins with the first text or call.
    fn begin(&mut self, when: Option<f64>, model: Option<&Text>) {
        if self.is_empty() {
            self.started = when;
            self.model = model.cloned();
        }
    }

    /// Adds it as a step, with the results of its calls. Thoughts without a text or call wait for one.
    fn end(&mut self, transcript: &mut Transcript) {
        if self.is_empty() {
            return;
        }
        let response = std::mem::take(self);
        let (calls, results): (Vec<_>, Vec<_>) = response
            .calls
            .into_iter()
            .map(|shown| (shown.call, shown.result))
            .unzip();
        let text = response.texts.join("\n\n");
        let content = if text.is_empty() {
            Json::Null
        } else {
            text.into()
        };
        let mut said = chat::acted(content, calls);
        let thoughts = response.thoughts;
        said.details.started = response.started;
        said.details.usage = response.request.usage;
        said.details.errors = response.request.errors;
        said.details.model = response.model;
        said.details.reasoning = (!thoughts.is_empty()).then(|| thoughts.join("\n\n").into());
        transcript.push(said);
        let made: Vec<(Text, Text)> = transcript
            .requests_from(transcript.len().saturating_sub(1))
            .map(|(_, call)| (call.id.clone(), call.function.name.clone()))
            .collect();
        for ((id, name), result) in made.into_iter().zip(results) {
            if let Some((pieces, when)) = result {
                let pieces: Vec<&str> = pieces
                    .iter()
                    .map(|piece| &**piece)
                    .filter(|piece| !piece.is_empty())
                    .collect();
                let mut answer = chat::answer(id, name, pieces.join("\n").into());
                answer.details.started = when;
                transcript.push(answer);
            }
        }
    }
}

/// Reads a task from the shown messages alone. Returns those that are neither messages nor actions.
pub(super) fn read(
    screen: Vec<Json>,
    transcript: &mut Transcript,
    episode: &mut Episode,
) -> Vec<Json> {
    let mut others = Vec::new();
    let mut response = Response::default();
    // Without a known request, each text and each call is a response.
    let mut is_asked = false;
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
        let is_first = transcript.len() == 0 && response.is_empty() && episode.started.is_none();
        let call = match &*kind {
            "task" | "user_feedback" | "user_feedback_diff" => None,
            "text" if is_first => None,
            "reasoning" => {
                if !is_asked {
                    response.end(transcript);
                }
                response.thoughts.push(text);
                continue;
            }
            "api_req_started" => {
                response.end(transcript);
                response.request = request(&value);
                is_asked = true;
                continue;
            }
            // An empty one asks whether the task is done.
            "completion_result" | "text" if text.is_empty() => continue,
            "text" | "completion_result" | "followup" | "plan_mode_respond" => {
                if !is_asked {
                    response.end(transcript);
                }
                response.begin(when, model.as_ref());
                response.texts.push(text);
                episode.started = episode.started.or(when);
                continue;
            }
            "command" => {
                let command = text.strip_suffix(WAITS).unwrap_or(&text);
                Some(ToolCall::new(
                    "",
                    "execute_command",
                    object!({ "command": command }),
                ))
            }
            "tool" | "use_mcp_server" | "browser_action" | "use_subagents" => {
                Some(call(&kind, &text))
            }
            "command_output" | "mcp_server_response" | "browser_action_result"
                if let Some(shown) = response.calls.last_mut() =>
            {
                let (pieces, last) = shown.result.get_or_insert_default();
                pieces.push(text);
                *last = when.or(*last);
                continue;
            }
            "error" | "diff_error" | "api_req_failed" | "clineignore_error" | "rooignore_error" => {
                let error = StepError {
                    call: None,
                    message: text,
                };
                match transcript.last_mut() {
                    _ if !response.is_empty() => response.request.errors.push(error),
                    Some(step) => step.details.errors.push(error),
                    None => episode.errors.push(error.message),
                }
                continue;
            }
            _ => {
                others.push(value);
                continue;
            }
        };
        episode.started = episode.started.or(when);
        match call {
            Some(call) => {
                if !is_asked {
                    response.end(transcript);
                }
                response.begin(when, model.as_ref());
                response.calls.push(ShownCall { call, result: None });
            }
            None => {
                response.end(transcript);
                is_asked = false;
                let mut said = chat::plain(Role::User, chat::body(text.into()));
                said.details.started = when;
                transcript.push(said);
            }
        }
    }
    response.end(transcript);
    others
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
