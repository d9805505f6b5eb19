//! One handler for each path of a class. `docs/classroom.md` describes them.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use volary_classroom::HandIn;
use volary_classroom::wire::{ClassInfo, Rows, Submission, to_text};
use volary_episode::native;
use volary_remote::body;

use super::store::{NewHandIn, StoreError};
use super::{Admission, Class, ClassState};
use crate::error::ApiError;
use crate::extract::{PARSED_INLINE, collect_up_to};
use crate::handlers::Reply;
use crate::time::unix_seconds;

const JSON: &str = "application/json";

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => ApiError::StorageFull(
                "The disk of the class server is full. Nothing was stored, and nothing that was stored before is lost. \
                 Tell your teacher; then hand in again, or save your work as a file."
                    .into(),
            ),
            StoreError::TooMany { limit } => ApiError::StorageFull(
                format!(
                    "The class has its maximum of {limit} hand-ins, so nothing was stored. Tell your teacher; then \
                     hand in again, or save your work as a file."
                )
                .into(),
            ),
            StoreError::Closed => ApiError::Busy("The class server is stopping; try again.".into()),
            error => ApiError::Failed(format!("The class could not be read or changed: {error}").into()),
        }
    }
}

/// `GET /class`, for the teacher: the name of the class, the code for pupils, and the assignments with hand-ins.
pub async fn info(State(state): State<ClassState>, headers: HeaderMap) -> Reply {
    state.authorize(&headers, Admission::Teacher).await?;
    let class = &state.class;
    let assignments = class.writer.read(|store| store.summaries()).await?;
    let info = ClassInfo {
        name: class.name.clone(),
        code: class.code.clone(),
        assignments,
    };
    Ok(json(StatusCode::OK, to_text(&info)))
}

/// `POST /class/hand-ins`, for pupils: stores a hand-in. The reply comes after it is on the disk.
pub async fn hand_in(State(state): State<ClassState>, request: Request) -> Reply {
    let (head, body) = request.into_parts();
    state.authorize(&head.headers, Admission::Pupil).await?;
    let limit = state.class.max_hand_in;
    let timeout = state.server.shared.options.read_timeout;
    let collected = collect_up_to(&state.server, body, limit, ApiError::TooLarge(limit));
    let collected = tokio::time::timeout(timeout, collected).await;
    // The permit for its memory is held until the hand-in is stored.
    let (bytes, _memory) = collected.unwrap_or(Err(ApiError::BodyTimeout))?;
    let received = unix_seconds();
    let new = if bytes.len() <= PARSED_INLINE {
        new_hand_in(&bytes, received, limit)
    } else {
        let read = tokio::task::spawn_blocking(move || new_hand_in(&bytes, received, limit));
        read.await
            .unwrap_or_else(|_| Err(ApiError::Failed("Reading the hand-in failed.".into())))
    };
    let receipt = state.class.writer.put(new?).await?;
    let status = if receipt.replaced {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    Ok(json(status, to_text(&receipt)))
}

/// Reads a hand-in. What is stored counts against the limit: it may be larger than what was sent.
fn new_hand_in(bytes: &[u8], received: f64, limit: usize) -> Result<NewHandIn, ApiError> {
    let value = body::read(bytes)?.unwrap_or_default();
    let read = Submission::from_json(&value);
    let Submission { secret, hand_in } =
        read.map_err(|error| ApiError::BadHandIn(error.to_string().into()))?;
    let body = hand_in.to_text();
    if body.len() > limit {
        return Err(ApiError::HandInTooLarge(limit));
    }
    let row = hand_in.row(String::new(), received, 1);
    Ok(NewHandIn {
        body,
        assignment: row.assignment,
        title: row.title,
        pupil: row.pupil,
        tasks: row.tasks,
        secret,
        received,
    })
}

/// `GET /class/hand-ins?assignment=…`, for the teacher: the rows of the board.
pub async fn board(State(state): State<ClassState>, uri: Uri, headers: HeaderMap) -> Reply {
    state.authorize(&headers, Admission::Teacher).await?;
    let rows = rows(&state.class, &uri).await?;
    Ok(json(StatusCode::OK, to_text(&rows)))
}

/// `GET /class/hand-ins/<id>`, for the teacher: a whole hand-in.
pub async fn one(
    State(state): State<ClassState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Reply {
    state.authorize(&headers, Admission::Teacher).await?;
    match state
        .class
        .writer
        .read(move |store| store.body(&id))
        .await?
    {
        Some(body) => Ok(json(StatusCode::OK, body)),
        None => Err(ApiError::NotFound),
    }
}

/// `GET /class/export?assignment=…`, for the teacher: the episodes of all hand-ins as JSON Lines. Each hand-in is read
/// when it is sent, so a large class needs no more memory than a small one.
pub async fn export(State(state): State<ClassState>, uri: Uri, headers: HeaderMap) -> Reply {
    state.authorize(&headers, Admission::Teacher).await?;
    let rows = rows(&state.class, &uri).await?.rows;
    let ids = rows.into_iter().map(|row| row.id);
    let class = Arc::clone(&state.class);
    let lines = stream::unfold((ids, class), |(mut ids, class)| async {
        let id = ids.next()?;
        let lines = lines(&class, id).await;
        // An error breaks the connection, so that the client does not take a part for the whole.
        Some((lines, (ids, class)))
    });
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"class.jsonl\"",
        ),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

async fn lines(class: &Class, id: String) -> Result<Bytes, StoreError> {
    let of = id.clone();
    let body = class.writer.read(move |store| store.body(&of)).await?;
    // It may have been deleted by another program meanwhile.
    let hand_in = body.and_then(|body| HandIn::read(&body).ok());
    let mut lines = String::new();
    let episodes = hand_in.map(|hand_in| hand_in.into_episodes(&id));
    for episode in episodes.into_iter().flatten().flatten() {
        native::write_text(&mut lines, &episode);
        lines.push('\n');
    }
    Ok(lines.into())
}

async fn rows(class: &Class, uri: &Uri) -> Result<Rows, StoreError> {
    let parameters = uri.query().unwrap_or_default().split('&');
    let mut parameters = parameters.filter_map(|parameter| parameter.split_once('='));
    let assignment = parameters.find(|(name, _)| *name == "assignment");
    // Ids of assignments need no escapes.
    let assignment = assignment.map(|(_, id)| id.to_owned());
    let rows = class
        .writer
        .read(move |store| store.rows(assignment.as_deref()))
        .await?;
    Ok(Rows { rows })
}

fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
}
