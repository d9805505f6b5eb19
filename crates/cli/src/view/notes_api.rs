//! The routes of the notes. Other errors of the disk than those named here mean that the file cannot be written.

use std::io;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use volary_analysis::annotations::sidecar;

use super::failure::Failure;
use super::notes::NotesFile;
use super::served::View;

/// The maximum size of a request, in bytes.
pub const LARGEST: usize = 16 << 20;

/// `GET /api/notes`
pub async fn read_all(State(view): State<View>) -> Result<Response, Failure> {
    let notes = blocking(&view, |file| file.read()).await?;
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((kind, sidecar::to_text(&notes)).into_response())
}

/// `POST /api/notes`
pub async fn append_all(State(view): State<View>, body: Bytes) -> Result<StatusCode, Failure> {
    let text = std::str::from_utf8(&body).map_err(|_| Failure::Wrong("This is not a text."))?;
    let reading = sidecar::read(text)
        .map_err(|_| Failure::Wrong("The body must be a file of annotations."))?;
    if !reading.faults.is_empty() {
        return Err(Failure::Wrong("Not every note could be read."));
    }
    blocking(&view, |file| file.append(reading.annotations)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Works with the file on a thread that may block.
async fn blocking<T: Send + 'static>(
    view: &View,
    work: impl FnOnce(&NotesFile) -> io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let file = view.notes.clone().ok_or(Failure::NotFound)?;
    let done = view.disk.run(move || work(&file)).await;
    done.map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Failure::Full
        }
        io::ErrorKind::TimedOut => Failure::Slow,
        io::ErrorKind::ResourceBusy => Failure::Busy,
        _ => Failure::Unwritable,
    })
}
