//! What each path does: take the request in, read its fields, ask the server.
//!
//! The order of checks is the original's: JSON syntax, key, fields, environment.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use volary_core::json;
use volary_core::json::Json;
use volary_remote::reply::env_id_to_json;
use volary_remote::request::{Start, StepRequest, read_env_id, read_last_used, read_steps};

use crate::error::ApiError;
use crate::executor::Work;
use crate::extract::{allowed, arrived};
use crate::metrics;
use crate::server::Server;
use crate::watchdog::Watchdog;

/// What handlers give.
pub type Answer = Result<Response, ApiError>;

const JSON: &str = "application/json";

/// Most replies are shorter.
const USUAL_LENGTH: usize = 512;

/// A reply of a JSON body.
pub fn json_response(status: StatusCode, body: &Json) -> Response {
    let mut text = String::with_capacity(USUAL_LENGTH);
    body.write_compact_text(&mut text);
    (status, [(header::CONTENT_TYPE, JSON)], text).into_response()
}

fn ok(body: &Json) -> Answer {
    Ok(json_response(StatusCode::OK, body))
}

/// `POST /start`
pub async fn start(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    let start = Start::read(arrived.body.as_ref()).map_err(ApiError::Unprocessable)?;
    let id = server.start(start).await?;
    ok(&env_id_to_json(&id.to_string()))
}

/// `POST /reset`
pub async fn reset(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    let env_id = read_env_id(arrived.body.as_ref()).map_err(ApiError::Unprocessable)?;
    ok(&server.work(&env_id, Work::Reset).await?)
}

/// `POST /step`
pub async fn step(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    ok(&one_step(&server, arrived.body.as_ref()).await?)
}

async fn one_step(server: &Server, body: Option<&Json>) -> Result<Json, ApiError> {
    let step = StepRequest::read(body).map_err(ApiError::Unprocessable)?;
    server.work(&step.env_id, Work::Step(step.action)).await
}

/// `POST /steps`, an extension: `{"steps": [body of /step, …]}` gives `[{"status", "body"}, …]` in
/// the same order. Steps of different environments run beside each other.
pub async fn steps(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    let steps = read_steps(arrived.body.as_ref()).map_err(ApiError::Unprocessable)?;
    let outcomes = join_all(steps.iter().map(|step| one_step(&server, Some(step)))).await;
    let replies = outcomes.into_iter().map(|outcome| {
        let (status, body) = match outcome {
            Ok(body) => (StatusCode::OK, body),
            Err(refusal) => (refusal.status(), refusal.body()),
        };
        json!({"status": (i64::from(status.as_u16())), "body": body})
    });
    ok(&Json::List(replies.collect()))
}

/// `POST /frame`, an extension: the frame of an environment. Looking at it is no use of it.
pub async fn frame(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    let env_id = read_env_id(arrived.body.as_ref()).map_err(ApiError::Unprocessable)?;
    ok(&server.work(&env_id, Work::Frame).await?)
}

/// `POST /close`
pub async fn close(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    let env_id = read_env_id(arrived.body.as_ref()).map_err(ApiError::Unprocessable)?;
    server.work(&env_id, Work::Close).await?;
    ok(&env_id_to_json(&env_id))
}

/// `POST /close_old_envs`
pub async fn close_old_envs(State(server): State<Arc<Server>>, request: Request) -> Answer {
    let arrived = arrived(&server, request).await?;
    let last_used = read_last_used(arrived.body.as_ref()).map_err(ApiError::Unprocessable)?;
    let closed = server.close_old(last_used).await;
    ok(&json!({"closed_env_ids": closed}))
}

/// `GET /info`
pub async fn info(State(server): State<Arc<Server>>, headers: HeaderMap) -> Answer {
    allowed(&server, &headers)?;
    ok(&server.info().await.to_json())
}

/// `GET /healthz`, an extension: whether all workers answer. Needs no key.
pub async fn healthz(State(server): State<Arc<Server>>) -> Result<&'static str, ApiError> {
    if server.pulses().any(Watchdog::is_stuck) {
        let reason = "A worker hangs in the code of an environment.";
        return Err(ApiError::Busy(reason.into()));
    }
    Ok("ok")
}

/// `GET /metrics`, an extension: counts for Prometheus.
pub async fn metrics(State(server): State<Arc<Server>>, headers: HeaderMap) -> Answer {
    allowed(&server, &headers)?;
    let headers = [(header::CONTENT_TYPE, metrics::CONTENT_TYPE)];
    Ok((headers, server.metrics.to_text(&server)).into_response())
}

/// `GET /openapi.json`, an extension: the protocol in machine-readable form. Needs no key.
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, JSON)], include_str!("openapi.json")).into_response()
}
