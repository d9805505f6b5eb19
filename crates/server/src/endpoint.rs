//! What each path does: read the body, check the key, read the fields, ask the shard.
//!
//! The order of checks is the original's: JSON syntax, key, fields, environment.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use subtle::ConstantTimeEq;
use volary_core::json::Json;
use volary_core::{Text, json};
use volary_remote::request::{Start, StepRequest, read_env_id, read_last_used};
use volary_remote::{KEY_HEADER, body, reply};

use crate::refusal::Refusal;
use crate::server::Server;
use crate::slot::Work;

/// What handlers give.
pub type Answer = Result<Response, Refusal>;

/// A reply of a JSON body.
pub fn json_response(status: StatusCode, body: &Json) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (status, headers, body.to_compact_text()).into_response()
}

fn ok(body: &Json) -> Answer {
    Ok(json_response(StatusCode::OK, body))
}

/// `POST /start`
pub async fn start(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    let start = Start::read(body.as_ref()).map_err(Refusal::Unprocessable)?;
    ok(&server.start(start).await?)
}

/// `POST /reset`
pub async fn reset(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    let env_id = read_env_id(body.as_ref()).map_err(Refusal::Unprocessable)?;
    ok(&server.work(&env_id, Work::Reset).await?)
}

/// `POST /step`
pub async fn step(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    ok(&one_step(&server, body.as_ref()).await?)
}

async fn one_step(server: &Server, body: Option<&Json>) -> Result<Json, Refusal> {
    let step = StepRequest::read(body).map_err(Refusal::Unprocessable)?;
    server.work(&step.env_id, Work::Step(step.action)).await
}

/// `POST /steps`, an extension: `{"steps": [body of /step, …]}` gives `[{"status", "body"}, …]` in
/// the same order. Steps of different environments run beside each other.
pub async fn steps(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    let Some(steps) = body
        .as_ref()
        .and_then(|body| body.get("steps"))
        .and_then(Json::as_list)
    else {
        let message = "Input should be a valid list";
        let input = body.unwrap_or_default();
        let problem = body::BodyProblem::field("list_type", "steps", message, &input);
        return Err(Refusal::Unprocessable(vec![problem]));
    };
    let outcomes = join_all(steps.iter().map(|step| one_step(&server, Some(step)))).await;
    let replies = outcomes.into_iter().map(|outcome| {
        let (status, body) = match outcome {
            Ok(body) => (200, body),
            Err(refusal) => refusal.to_json(),
        };
        json!({"status": (i64::from(status)), "body": (body)})
    });
    ok(&Json::List(replies.collect()))
}

/// `POST /frame`, an extension: the frame of an environment. Looking at it is no use of it.
pub async fn frame(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    let env_id = read_env_id(body.as_ref()).map_err(Refusal::Unprocessable)?;
    ok(&server.work(&env_id, Work::Frame).await?)
}

/// `POST /close`
pub async fn close(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    let env_id: Text = read_env_id(body.as_ref()).map_err(Refusal::Unprocessable)?;
    server.work(&env_id, Work::Close).await?;
    ok(&reply::env_id_to_json(&env_id))
}

/// `POST /close_old_envs`
pub async fn close_old_envs(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let body = checked(&server, request).await?;
    let last_used = read_last_used(body.as_ref()).map_err(Refusal::Unprocessable)?;
    let closed = server.close_old(last_used).await?;
    ok(&json!({"closed_env_ids": (closed)}))
}

/// `GET /info`
pub async fn info(State(server): State<Arc<Server>>, headers: HeaderMap) -> Answer {
    allowed(&server, &headers)?;
    ok(&server.info().await?.to_json())
}

/// `GET /healthz`, an extension: that the server answers. Needs no key, says nothing else.
pub async fn healthz() -> &'static str {
    "ok"
}

/// `GET /metrics`, an extension: counts for Prometheus.
pub async fn metrics(State(server): State<Arc<Server>>, headers: HeaderMap) -> Answer {
    allowed(&server, &headers)?;
    let headers = [(header::CONTENT_TYPE, crate::metrics::CONTENT_TYPE)];
    Ok((headers, server.metrics.to_text(&server)).into_response())
}

/// `GET /openapi.json`, an extension: the protocol in machine-readable form.
pub async fn openapi() -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (headers, include_str!("openapi.json")).into_response()
}

/// The body as JSON, once the key is checked.
async fn checked(server: &Server, request: Request) -> Result<Option<Json>, Refusal> {
    let (head, body) = request.into_parts();
    let text = arrived(server, body).await?;
    let body = body::read(&text).map_err(|problem| Refusal::Unprocessable(vec![problem]))?;
    allowed(server, &head.headers)?;
    Ok(body)
}

async fn arrived(server: &Server, body: Body) -> Result<String, Refusal> {
    let limit = server.options.max_body;
    let bytes = tokio::time::timeout(server.options.read_timeout, to_bytes(body, limit))
        .await
        .map_err(|_| Refusal::TooSlow)?
        .map_err(|_| Refusal::TooLarge(limit))?;
    match String::from_utf8(bytes.into()) {
        Ok(text) => Ok(text),
        // Not UTF-8, so no JSON: said as such by the reader, at the place.
        Err(error) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

fn allowed(server: &Server, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(key) = server
        .options
        .api_key
        .as_ref()
        .filter(|key| !key.is_empty())
    else {
        return Ok(());
    };
    let given = headers
        .get(KEY_HEADER)
        .map_or(&[][..], |value| value.as_bytes());
    if bool::from(given.ct_eq(key.as_bytes())) {
        Ok(())
    } else {
        Err(Refusal::Forbidden)
    }
}
