//! Serves the beginnings of many files in one response: a folder of small files is read at the speed of the disk, not
//! of requests.
//!
//! The response has a record for each path, in the order of the request: a line of JSON, and the bytes that it
//! announces.
//!
//! Invariants: the bytes of a record are of a single version of the file. What cannot be read is a record that says so;
//! the others follow.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use serde::{Deserialize, Serialize};

use super::beneath::Status;
use super::failure::Failure;
use super::files::{failure, tag_of};
use super::served::View;

/// The maximum size of a request, in bytes.
pub const LARGEST: usize = 8 << 20;
/// The maximum number of paths in a request.
const MOST_PATHS: usize = 1024;
/// The maximum number of bytes per file.
const MOST_BYTES: u64 = 256 << 10;
/// How many files of a request are read at the same time: network disks answer late, but several at once.
const CONCURRENT_READS: usize = 8;
/// How many records are sent together, if they are there.
const TOGETHER: usize = 64;
/// How often a file is read again that changes while it is read.
const TRIES: usize = 3;

#[derive(Deserialize)]
struct Asked {
    /// As in the list of files.
    paths: Vec<String>,
    /// How many bytes of each file.
    bytes: u64,
}

/// The line before the bytes of a file.
#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Read {
        /// Of the whole file, in bytes.
        size: u64,
        /// The version of the file, as in the header `ETag`.
        etag: String,
        /// How many bytes follow.
        length: usize,
    },
    Unread {
        /// The status that a request for the file would have.
        status: u16,
    },
}

/// `POST /api/heads`
pub async fn heads(State(view): State<View>, body: Bytes) -> Result<Response, Failure> {
    let asked: Asked = serde_json::from_slice(&body)
        .map_err(|_| Failure::Wrong("The body must be an object with `paths` and `bytes`."))?;
    if asked.paths.len() > MOST_PATHS {
        return Err(Failure::Wrong("A request may have at most 1024 paths."));
    }
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    let body = Body::from_stream(records(view, asked).map(io::Result::Ok));
    Ok((kind, body).into_response())
}

fn records(view: View, asked: Asked) -> impl Stream<Item = Bytes> {
    let most = asked.bytes.min(MOST_BYTES);
    let records = stream::iter(asked.paths).map(move |path| record(Arc::clone(&view), path, most));
    let records = records.buffered(CONCURRENT_READS).ready_chunks(TOGETHER);
    records.map(|records| records.concat().into())
}

async fn record(view: View, path: String, most: u64) -> Vec<u8> {
    let (line, bytes) = match head(view, path, most).await {
        Ok((status, bytes)) => {
            let line = Line::Read {
                size: status.bytes,
                etag: tag_of(&status),
                length: bytes.len(),
            };
            (line, bytes)
        }
        Err(failure) => {
            let status = failure.into_response().status().as_u16();
            (Line::Unread { status }, Vec::new())
        }
    };
    let mut record = serde_json::to_vec(&line).unwrap_or_default();
    record.push(b'\n');
    record.extend(bytes);
    record
}

/// The status of a file and its first bytes.
async fn head(view: View, path: String, most: u64) -> Result<(Status, Vec<u8>), Failure> {
    let roots = Arc::clone(&view.roots);
    let read = view.disk.run(move || {
        let address = path.strip_prefix("file/");
        let file = roots.open(address.ok_or(io::ErrorKind::NotFound)?)?;
        (0..TRIES)
            .find_map(|_| unchanged(&file, most).transpose())
            .unwrap_or_else(|| Err(io::ErrorKind::ResourceBusy.into()))
    });
    read.await.map_err(|error| failure(&error))
}

/// The first bytes; `None` if they were changed while they were read. Appending does not change them.
fn unchanged(file: &File, most: u64) -> io::Result<Option<(Status, Vec<u8>)>> {
    use std::io::Seek;
    let was = Status::of(file)?;
    let mut file = file;
    file.rewind()?;
    let mut bytes = Vec::with_capacity(was.bytes.min(most) as usize);
    file.take(was.bytes.min(most)).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() as u64 == was.bytes.min(most);
    Ok((is_whole && !Status::of(file)?.is_other_than(&was)).then_some((was, bytes)))
}
