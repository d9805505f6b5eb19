//! OpenEnv's protocol: the socket, and the paths that describe the environment and its tasks.
//!
//! - `socket`: `/ws`. `tasks`: the Task API.

mod socket;
mod tasks;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use volary_core::json;
use volary_core::json::Json;
use volary_openenv::schema;

use crate::error::ApiError;
use crate::extract::Authorized;
use crate::handlers::Reply;
use crate::response::json_response;
use crate::seat;
use crate::server::Server;

/// The socket, what describes the environment, and the Task API.
pub fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/ws", get(socket::open))
        .route("/health", get(health))
        .route("/metadata", get(metadata))
        .route("/schema", get(schemas))
        .route("/list_environments", get(tasks::environments))
        .route("/{environment}/splits", get(tasks::splits))
        .route("/{environment}/tasks", post(tasks::all))
        .route("/{environment}/num_tasks", post(tasks::count))
        .route("/{environment}/task", post(tasks::one))
        .route("/{environment}/task_range", post(tasks::range))
}

fn ok(body: &Json) -> Reply {
    Ok(json_response(StatusCode::OK, body))
}

/// `GET /health`. Needs no key.
async fn health(State(server): State<Arc<Server>>) -> Response {
    let (status, health) = match server.stuck_workers() {
        0 => (StatusCode::OK, "healthy"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "unhealthy"),
    };
    json_response(status, &json!({"status": health}))
}

/// `GET /metadata`
async fn metadata(State(server): State<Arc<Server>>, _: Authorized) -> Reply {
    let options = &server.shared.options;
    ok(&json!({
        "name": (options.name.as_str()),
        "description": (options.description.as_str()),
        "readme_content": null,
        "version": (env!("CARGO_PKG_VERSION")),
        "author": null,
        "documentation_url": null
    }))
}

/// `GET /schema`: with the tools of the first task.
async fn schemas(State(server): State<Arc<Server>>, _: Authorized) -> Result<Response, ApiError> {
    ok(&schema::of_tools(&seat::first_tools(&server).await?))
}
