//! One handler for each path.
//!
//! The order of checks is the original's: JSON syntax, key, fields, environment. The extractors do the
//! first two.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use volary_core::json;
use volary_core::json::Json;
use volary_remote::reply::env_id_to_json;
use volary_remote::request::{Start, StepRequest, read_env_id, read_last_used, read_steps};

use crate::error::ApiError;
use crate::executor::Operation;
use crate::extract::{Authorized, JsonBody};
use crate::metrics;
use crate::response::{JSON, json_response};
use crate::server::Server;

/// The result of a handler.
pub type Reply = Result<Response, ApiError>;

fn ok(body: &Json) -> Reply {
    Ok(json_response(StatusCode::OK, body))
}

/// `POST /start`
pub async fn start(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    let start = Start::read(body.json()).map_err(ApiError::Unprocessable)?;
    let id = server.start_environment(start.into()).await?;
    ok(&env_id_to_json(&id.to_string()))
}

/// `POST /reset`
pub async fn reset(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    let env_id = read_env_id(body.json()).map_err(ApiError::Unprocessable)?;
    ok(&server.perform(&env_id, Operation::Reset).await?)
}

/// `POST /step`
pub async fn step(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    ok(&one_step(&server, body.json()).await?)
}

async fn one_step(server: &Server, body: Option<&Json>) -> Result<Json, ApiError> {
    let step = StepRequest::read(body).map_err(ApiError::Unprocessable)?;
    let operation = Operation::Step(step.action);
    server.perform(&step.env_id, operation).await
}

/// `POST /steps`, an extension: `{"steps": [body of /step, …]}` returns `[{"status", "body"}, …]` in
/// the same order. Steps of different environments run concurrently.
pub async fn steps(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    let steps = read_steps(body.json()).map_err(ApiError::Unprocessable)?;
    let results = join_all(steps.iter().map(|step| one_step(&server, Some(step)))).await;
    let replies = results.into_iter().map(|result| {
        let (status, body) = match result {
            Ok(body) => (StatusCode::OK, body),
            Err(error) => (error.status(), error.body()),
        };
        json!({"status": (i64::from(status.as_u16())), "body": body})
    });
    ok(&Json::List(replies.collect()))
}

/// `POST /frame`, an extension: the frame of an environment. It does not count as a use.
pub async fn frame(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    let env_id = read_env_id(body.json()).map_err(ApiError::Unprocessable)?;
    ok(&server.perform(&env_id, Operation::Frame).await?)
}

/// `POST /close`
pub async fn close(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    let env_id = read_env_id(body.json()).map_err(ApiError::Unprocessable)?;
    server.perform(&env_id, Operation::Close).await?;
    ok(&env_id_to_json(&env_id))
}

/// `POST /close_old_envs`
pub async fn close_old_envs(State(server): State<Arc<Server>>, body: JsonBody) -> Reply {
    let last_used = read_last_used(body.json()).map_err(ApiError::Unprocessable)?;
    let closed = server.close_unused(last_used).await;
    ok(&json!({"closed_env_ids": closed}))
}

/// `GET /info`
pub async fn info(State(server): State<Arc<Server>>, _: Authorized) -> Reply {
    ok(&server.info().await.to_json())
}

/// `GET /healthz`, an extension: checks that all workers respond. Needs no key.
pub async fn healthz(State(server): State<Arc<Server>>) -> Result<&'static str, ApiError> {
    if server.stuck_workers() > 0 {
        let reason = "A worker is stuck in the code of an environment.";
        return Err(ApiError::Busy(reason.into()));
    }
    Ok("ok")
}

/// `GET /metrics`, an extension: metrics for Prometheus.
pub async fn metrics(State(server): State<Arc<Server>>, _: Authorized) -> Reply {
    let headers = [(header::CONTENT_TYPE, metrics::CONTENT_TYPE)];
    let shared = &server.shared;
    let (running, started) = (shared.running(), shared.started());
    let text = shared
        .metrics
        .to_text(running, started, server.stuck_workers());
    Ok((headers, text).into_response())
}

/// `GET /openapi.json`, an extension: the protocol in machine-readable form. Needs no key.
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, JSON)], include_str!("openapi.json")).into_response()
}
