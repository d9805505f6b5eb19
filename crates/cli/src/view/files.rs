//! Serves files, or ranges of them.
//!
//! Invariant: a response contains bytes of a single version of a file. If the file is replaced or truncated meanwhile,
//! the connection ends before the announced length, which browsers report as an error.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::beneath::Status;
use super::failure::Failure;
use super::served::View;

/// How long a file may have a new time and its old size, because bytes are being appended to it.
const APPEND: Duration = Duration::from_millis(10);

/// The number of bytes per read.
const PIECE: u64 = 256 << 10;

/// `GET /api/file/{*address}`
pub async fn file(
    State(view): State<View>,
    Path(address): Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let roots = Arc::clone(&view.roots);
    let opened = view.disk.run(move || {
        let file = roots.open(&address)?;
        let status = Status::of(&file)?;
        Ok((file, status))
    });
    let (file, status) = opened.await.map_err(|error| failure(&error))?;
    let tag = tag_of(&status);
    let range = match wanted(&method, &headers, &tag, status.bytes) {
        Wanted::Whole => None,
        Wanted::Unchanged => {
            return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
        }
        Wanted::Part(range) => Some(range),
        Wanted::Nothing => {
            let range = format!("bytes */{}", status.bytes);
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            return Ok((status, [(header::CONTENT_RANGE, range)]).into_response());
        }
    };
    let sent = range.clone().unwrap_or(0..status.bytes);
    let mut response = Response::new(match method {
        Method::HEAD => Body::empty(),
        _ => body(view, file, status, sent.clone()),
    });
    let mut set = |name, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    };
    set(header::CONTENT_LENGTH, (sent.end - sent.start).to_string());
    set(header::ETAG, tag);
    set(header::ACCEPT_RANGES, "bytes".to_owned());
    // Whatever the file contains, the browser must not execute it.
    set(header::CONTENT_TYPE, "application/octet-stream".to_owned());
    if range.is_some() {
        let last = sent.end - 1;
        let value = format!("bytes {}-{last}/{}", sent.start, status.bytes);
        set(header::CONTENT_RANGE, value);
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// The version of a file, for the header `ETag`. Clocks jump, and programs such as `cp -p` set the time of the
/// modification, so it alone tells no versions apart.
pub(super) fn tag_of(status: &Status) -> String {
    let mut version = DefaultHasher::new();
    (status.modified, status.changed, status.number).hash(&mut version);
    format!("\"{:x}-{:x}\"", status.bytes, version.finish())
}

pub(super) fn failure(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Failure::Unreadable("Permission denied."),
        io::ErrorKind::TimedOut => Failure::Slow,
        io::ErrorKind::ResourceBusy => Failure::Busy,
        _ => Failure::NotFound,
    }
}

fn body(view: View, file: File, was: Status, range: Range<u64>) -> Body {
    let state = (view, file, range);
    Body::from_stream(stream::try_unfold(
        state,
        move |(view, file, range)| async move {
            if range.is_empty() {
                return Ok(None);
            }
            let piece = range.start..range.end.min(range.start + PIECE);
            let next = piece.end;
            let read = view.disk.run(move || {
                let bytes = read(&file, piece)?;
                // The next bytes may belong to another version.
                let is_other = || Ok::<_, io::Error>(Status::of(&file)?.is_other_than(&was));
                if is_other()? {
                    // An append changes the time before the size.
                    std::thread::sleep(APPEND);
                    if is_other()? {
                        return Err(io::Error::other("the file was changed"));
                    }
                }
                Ok((file, bytes))
            });
            let (file, bytes) = read.await?;
            io::Result::Ok(Some((bytes, (view, file, next..range.end))))
        },
    ))
}

/// Reads bytes of a file; fails if the file has become shorter.
fn read(file: &File, range: Range<u64>) -> io::Result<Bytes> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = vec![0; usize::try_from(range.end - range.start).map_err(io::Error::other)?];
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// The requested part of a file.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Whole,
    Part(Range<u64>),
    /// The client has the current version.
    Unchanged,
    /// The range is outside of the file.
    Nothing,
}

/// Parses the requested part of a file with a size and a version tag. A request for several ranges gets the whole file.
fn wanted(method: &Method, headers: &HeaderMap, tag: &str, size: u64) -> Wanted {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let known = known.filter_map(|known| known.to_str().ok());
    // The comparison is weak: proxies may weaken a tag.
    let is_known = |known: &str| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag;
    if known
        .flat_map(|known| known.split(','))
        .any(|known| is_known(known.trim()))
    {
        return Wanted::Unchanged;
    }
    // Only `GET` has ranges.
    let range = text(header::RANGE).filter(|_| *method != Method::HEAD);
    let range = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((start, end)) = range else {
        return Wanted::Whole;
    };
    if text(header::IF_RANGE).is_some_and(|known| known != tag) {
        return Wanted::Whole;
    }
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // Larger than any file.
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    let (start, end) = (start.trim(), end.trim());
    let part = match (number(start), number(end)) {
        (Some(start), Some(last)) if start <= last => start..last.saturating_add(1).min(size),
        (Some(start), None) if end.is_empty() => start..size,
        (None, Some(length)) if start.is_empty() => size.saturating_sub(length)..size,
        // Invalid ranges must be ignored.
        _ => return Wanted::Whole,
    };
    if part.start < part.end {
        Wanted::Part(part)
    } else {
        Wanted::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let ask = |range: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_static(range));
            wanted(&Method::GET, &headers, "\"t\"", 10)
        };
        for (range, expected) in [
            ("bytes=0-0", Wanted::Part(0..1)),
            ("bytes=2-4", Wanted::Part(2..5)),
            ("bytes=2-99", Wanted::Part(2..10)),
            ("bytes=2-", Wanted::Part(2..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-99", Wanted::Part(0..10)),
            ("bytes=0-18446744073709551615", Wanted::Part(0..10)),
            ("bytes=0-99999999999999999999999", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=99-100", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=4-2", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=0-1,4-5", Wanted::Whole),
            ("bytes=+1-2", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
        ] {
            assert_eq!(ask(range), expected, "{range}");
        }
    }

    #[test]
    fn a_range_of_another_version_is_the_whole_file() {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_static("bytes=0-0"));
        let get = |headers: &HeaderMap, tag| wanted(&Method::GET, headers, tag, 10);
        assert_eq!(wanted(&Method::HEAD, &headers, "\"t\"", 10), Wanted::Whole);
        headers.insert(header::IF_RANGE, HeaderValue::from_static("\"old\""));
        assert_eq!(get(&headers, "\"new\""), Wanted::Whole);
        assert_eq!(get(&headers, "\"old\""), Wanted::Part(0..1));
        // Ranges need the very same bytes.
        headers.insert(header::IF_RANGE, HeaderValue::from_static("W/\"old\""));
        assert_eq!(get(&headers, "\"old\""), Wanted::Whole);
    }

    #[test]
    fn a_version_that_is_known_is_not_sent() {
        for (known, tag, is_known) in [
            ("\"a\", \"old\"", "\"old\"", true),
            ("W/\"old\"", "\"old\"", true),
            ("*", "\"old\"", true),
            ("\"old\"", "\"new\"", false),
            ("", "\"old\"", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static("\"other\""));
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(known));
            let found = wanted(&Method::HEAD, &headers, tag, 10);
            assert_eq!(found == Wanted::Unchanged, is_known, "{known}");
        }
    }
}
