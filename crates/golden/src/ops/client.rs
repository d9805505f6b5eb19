//! The client, with a server scripted by the case.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_core::message::DumpOptions;
use volary_core::{AnyMessage, Json, Object, Text, json};
use volary_remote::request::Start;
use volary_remote::transport::{Method, Transport, TransportError, WireReply, WireRequest};
use volary_remote::{ClientOptions, TaskDatasetClient, TaskEnvironmentClient};

use super::input::{World, flag, given, list, required, text, told};

const SERVER: &str = "http://server.example";

/// Returns the replies of a case in order, and records the requests.
struct Scripted {
    server_url: String,
    replies: RefCell<VecDeque<Json>>,
    requests: RefCell<Vec<Json>>,
}

impl Transport for Scripted {
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Result<WireReply, TransportError>> {
        let path = request.url.strip_prefix(&self.server_url);
        let body = request.body.as_deref().map(volary_core::json::read);
        self.requests.borrow_mut().push(json!({
            "method": (match request.method {
                Method::Get => "GET",
                Method::Post => "POST",
            }),
            "path": (path.unwrap_or(&request.url)),
            "api_key": (request.api_key),
            "json": (body.and_then(Result::ok))
        }));
        let reply = self.replies.borrow_mut().pop_front();
        Box::pin(std::future::ready(reply.map_or_else(
            || {
                Err(TransportError::Unreachable {
                    reason: "the case has no more replies".into(),
                })
            },
            |reply| scripted(&reply),
        )))
    }

    fn pause(&self, _: f64) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn scripted(reply: &Json) -> Result<WireReply, TransportError> {
    if given(reply, "timeout").is_some() {
        return Err(TransportError::Timeout);
    }
    let status = reply.get("status").and_then(Json::as_i64);
    let body = match (reply.get("json"), reply.get("raw").and_then(Json::as_text)) {
        (Some(value), _) => value.to_python_text(),
        (None, raw) => raw.map_or_else(String::new, |raw| raw.to_string()),
    };
    Ok(WireReply {
        status: status
            .and_then(|status| u16::try_from(status).ok())
            .unwrap_or(200),
        body,
    })
}

pub(super) fn client_http(input: &Json) -> Result<Json, String> {
    let world = World::new();
    let server_url = match given(input, "server_url") {
        Some(_) => text(input, "server_url")?,
        None => Text::from(SERVER),
    };
    let transport = Rc::new(Scripted {
        server_url: server_url.trim_end_matches('/').to_owned(),
        replies: RefCell::new(list(input, "replies")?.iter().cloned().collect()),
        requests: RefCell::default(),
    });
    let options = ClientOptions {
        api_key: given(input, "api_key").and_then(Json::as_text).cloned(),
        catch_http_errors: flag(input, "catch_http_errors", false)?,
        ..ClientOptions::new(server_url)
    };
    let dataset = world.run(TaskDatasetClient::connect(options, transport.clone()))?;
    let mut clients = Vec::new();
    let mut results = Vec::new();
    for step in list(input, "steps")? {
        let result = play(&world, &dataset, &mut clients, step);
        results.push(result.unwrap_or_else(|error| json!({"error": error})));
    }
    let requests = transport.requests.take();
    Ok(json!({"requests": requests, "results": results}))
}

fn play(
    world: &World,
    dataset: &TaskDatasetClient,
    clients: &mut Vec<TaskEnvironmentClient>,
    step: &Json,
) -> Result<Json, String> {
    if let Some(index) = step.get("new") {
        let start = index.as_i64().map_or(Start::Any, Start::Index);
        clients.push(dataset.environment(start));
        return Ok("ok".into());
    }
    if step.get("len").is_some() {
        let length = dataset.length().map_err(told)?;
        return Ok(Json::from(i64::try_from(length).map_err(told)?));
    }
    if let Some(index) = step.get("reset") {
        let reset = world.run(chosen(clients, index)?.try_reset())?;
        let names: Vec<Text> = reset
            .tools
            .iter()
            .map(|tool| tool.info.name.clone())
            .collect();
        return Ok(json!({"messages": (dumps(&reset.messages)?), "tools": names}));
    }
    if let Some(index) = step.get("step") {
        let action = AnyMessage::read(required(step, "action")?).map_err(told)?;
        let step = world.run(chosen(clients, index)?.try_step(&action))?;
        return Ok(json!({
            "messages": (dumps(&step.messages)?),
            "reward": (step.reward),
            "done": (step.done),
            "truncated": (step.truncated)
        }));
    }
    world.run(chosen(clients, required(step, "close")?)?.try_close())
}

fn chosen<'a>(
    clients: &'a mut [TaskEnvironmentClient],
    index: &Json,
) -> Result<&'a mut TaskEnvironmentClient, String> {
    let index = index.as_i64().and_then(|index| usize::try_from(index).ok());
    let client = index.and_then(|index| clients.get_mut(index));
    client.ok_or_else(|| "there is no such client".to_owned())
}

fn dumps(messages: &[AnyMessage]) -> Result<Json, String> {
    let dumps: Result<Vec<Object>, String> = messages
        .iter()
        .map(|message| message.dump(&DumpOptions::with_info()).map_err(told))
        .collect();
    dumps.map(Json::from)
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn replies_are_taken_verbatim() {
        let reply = |value: Json| scripted(&value).map(|reply| (reply.status, reply.body));
        let status = object!({"status": 404, "raw": "gone"});
        assert_eq!(reply(Json::Object(status)), Ok((404, "gone".to_owned())));
        assert_eq!(
            reply(json!({"timeout": true})),
            Err(TransportError::Timeout)
        );
    }
}
