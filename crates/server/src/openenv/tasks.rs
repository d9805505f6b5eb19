//! OpenEnv's Task API. An endless dataset has none: 501.

use std::sync::Arc;

use axum::extract::{Path, State};
use volary_core::fields::FieldError;
use volary_core::json;
use volary_core::json::Json;
use volary_openenv::task_api::{self, TaskRange};
use volary_remote::body::BodyProblem;

use super::ok;
use crate::error::ApiError;
use crate::extract::{Authorized, JsonBody};
use crate::handlers::Reply;
use crate::seat::check_split;
use crate::server::Server;

/// `GET /list_environments`
pub async fn environments(State(server): State<Arc<Server>>, _: Authorized) -> Reply {
    ok(&json!([(server.shared.options.name.as_str())]))
}

/// `GET /{environment}/splits`
pub async fn splits(
    State(server): State<Arc<Server>>,
    Path(environment): Path<String>,
    _: Authorized,
) -> Reply {
    numbered(&server, &environment, "list_splits").await?;
    ok(&task_api::splits())
}

/// `POST /{environment}/tasks`
pub async fn all(
    State(server): State<Arc<Server>>,
    Path(environment): Path<String>,
    body: JsonBody,
) -> Reply {
    let length = numbered(&server, &environment, "list_tasks").await?;
    check_split(&task_api::read_split(body.json()).map_err(unfit)?)?;
    let tasks = listed(&server, 0..length).await?;
    let name = server.shared.options.name.as_str();
    ok(&json!({"tasks": tasks, "env_name": name}))
}

/// `POST /{environment}/num_tasks`
pub async fn count(
    State(server): State<Arc<Server>>,
    Path(environment): Path<String>,
    body: JsonBody,
) -> Reply {
    let length = numbered(&server, &environment, "num_tasks").await?;
    check_split(&task_api::read_split(body.json()).map_err(unfit)?)?;
    ok(&json!({"num_tasks": (i64::try_from(length).unwrap_or(i64::MAX))}))
}

/// `POST /{environment}/task`
pub async fn one(
    State(server): State<Arc<Server>>,
    Path(environment): Path<String>,
    body: JsonBody,
) -> Reply {
    let length = numbered(&server, &environment, "get_task").await?;
    let (split, index) = task_api::read_task(body.json()).map_err(unfit)?;
    check_split(&split)?;
    let place = usize::try_from(index).ok().filter(|place| *place < length);
    let place = place.ok_or_else(|| {
        let reason = format!("There is no task {index}; there are {length}, from 0.");
        ApiError::NoTask(reason.into())
    })?;
    let task = listed(&server, place..place + 1).await?.into_iter().next();
    ok(&json!({"task": (task.unwrap_or_default())}))
}

/// `POST /{environment}/task_range`
pub async fn range(
    State(server): State<Arc<Server>>,
    Path(environment): Path<String>,
    body: JsonBody,
) -> Reply {
    let length = numbered(&server, &environment, "get_task_range").await?;
    let range: TaskRange = task_api::read_range(body.json()).map_err(unfit)?;
    check_split(&range.split)?;
    let tasks = listed(&server, range.places(length)).await?;
    ok(&json!({"tasks": tasks}))
}

/// The number of tasks. Fails for another environment, and if the tasks are not numbered.
async fn numbered(server: &Server, environment: &str, method: &str) -> Result<usize, ApiError> {
    let name = &server.shared.options.name;
    if !environment.eq_ignore_ascii_case(name) {
        let reason = format!("unknown environment {environment:?}; this server has {name:?}");
        return Err(ApiError::Unknown(reason.into()));
    }
    let length = server.task_count().await?;
    length.ok_or_else(|| {
        let reason = format!("{method} is not supported for this environment: it is endless");
        ApiError::NotSupported(reason.into())
    })
}

async fn listed(server: &Server, places: std::ops::Range<usize>) -> Result<Vec<Json>, ApiError> {
    let first = places.start;
    let tasks = server.tasks(places).await?;
    let tasks = tasks.iter().enumerate();
    let tasks = tasks.map(|(place, task)| task_api::task_to_json(first + place, task.as_ref()));
    Ok(tasks.collect())
}

fn unfit(error: FieldError) -> ApiError {
    ApiError::Unprocessable(vec![BodyProblem {
        place: vec![error.path.into()],
        ..BodyProblem::whole("value_error", &error.reason, &Json::Null)
    }])
}
