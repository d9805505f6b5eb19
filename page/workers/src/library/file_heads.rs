//! Opens many files with one request: `volary view` sends their beginnings in one response.
//!
//! Invariant: what the response lacks, because it was interrupted or cannot be read, is left to a request of its own.

use std::iter::repeat_with;
use std::time::Duration;

use volary_core::json;
use volary_core::json::{Json, Text};
use volary_protocol::library::RemoteFile;

use volary_browser::files::ranged_file::{HEAD, RangedFile};
use volary_browser::files::streaming_download::FetchError;
use volary_browser::http::{self, HttpError, Timeouts};
use volary_browser::location;

/// How many files a request names.
const MOST_PATHS: usize = 512;

/// A file that was opened, or why it cannot be; `None` if it must be asked for by itself.
pub(super) type OpenedHead = Option<Result<RangedFile, FetchError>>;

/// Opens files through the address of the beginnings. The result has an item for each of them.
pub(super) async fn open(heads: &str, files: &[RemoteFile]) -> Vec<OpenedHead> {
    let mut opened = Vec::with_capacity(files.len());
    for files in files.chunks(MOST_PATHS) {
        let mut records = Records::default();
        let mut read: Vec<Record> = Vec::with_capacity(files.len());
        // The rest is asked for by itself, and has errors of its own.
        let _ = fetch(heads, files, |piece| read.extend(records.take(piece))).await;
        let read = read.into_iter().map(Some).chain(repeat_with(|| None));
        let of_file = |(file, record): (&RemoteFile, Option<Record>)| match record? {
            Record::Read { size, etag, bytes } => {
                let version = Some(etag.to_string());
                Some(Ok(RangedFile::begun(
                    &file.name, &file.url, size, version, bytes,
                )))
            }
            Record::Unread { status } => Some(Err(FetchError::Status { status })),
        };
        opened.extend(files.iter().zip(read).map(of_file));
    }
    opened
}

async fn fetch(
    heads: &str,
    files: &[RemoteFile],
    mut each: impl FnMut(&[u8]),
) -> Result<(), HttpError> {
    let paths = files.iter().map(|file| {
        let path = location::within(heads, &file.url).unwrap_or_default();
        Json::from(Text::from(path))
    });
    let body = json!({"paths": (Json::List(paths.collect())), "bytes": (HEAD as i64)});
    let request = http::Request {
        method: "POST",
        url: heads.to_owned(),
        headers: vec![("Content-Type", "application/json".to_owned())],
        body: Some(body.to_compact_text()),
        own_cookies: true,
    };
    let mut response = http::send(&request, Timeouts::of(Duration::from_secs(60))).await?;
    if response.status() != 200 {
        return Ok(());
    }
    while let Some(piece) = response.piece().await? {
        each(&piece);
    }
    Ok(())
}

/// What the response says of a file.
#[derive(Clone, Debug, PartialEq)]
enum Record {
    Read {
        /// Of the whole file, in bytes.
        size: u64,
        etag: Text,
        /// The first bytes.
        bytes: Vec<u8>,
    },
    Unread {
        /// The HTTP status that a request for the file would have.
        status: u16,
    },
}

/// Splits a response into records: each is a line of JSON, and the bytes that it announces.
#[derive(Default)]
struct Records {
    arrived: Vec<u8>,
    /// The record whose bytes are arriving, and how many it has.
    begun: Option<(u64, Text, usize)>,
    /// Nothing can be read after a damaged line.
    is_damaged: bool,
}

impl Records {
    /// The records that a piece completes.
    fn take(&mut self, piece: &[u8]) -> Vec<Record> {
        self.arrived.extend_from_slice(piece);
        let mut records = Vec::new();
        let mut start = 0;
        while !self.is_damaged
            && let Some((record, length)) = self.next(start)
        {
            start += length;
            records.extend(record);
        }
        self.arrived.drain(..start);
        records
    }

    /// The record that is complete, if it is, and how many bytes were read; `None` if more must arrive.
    fn next(&mut self, start: usize) -> Option<(Option<Record>, usize)> {
        let arrived = &self.arrived[start..];
        if let Some((size, etag, length)) = self.begun.take() {
            let Some(bytes) = arrived.get(..length) else {
                self.begun = Some((size, etag, length));
                return None;
            };
            let bytes = bytes.to_vec();
            return Some((Some(Record::Read { size, etag, bytes }), length));
        }
        let end = arrived.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&arrived[..end]).ok();
        let json = line.and_then(|line| Json::parse(line).ok());
        let number = |key: &str| json.as_ref()?.get(key)?.as_i64()?.try_into().ok();
        let etag = json
            .as_ref()
            .and_then(|json| json.get("etag")?.as_text().cloned());
        let status = number("status").and_then(|status: u64| u16::try_from(status).ok());
        let record = match (number("size"), etag, number("length"), status) {
            (Some(size), Some(etag), Some(length), _) => {
                self.begun = Some((size, etag, length as usize));
                None
            }
            (_, _, _, Some(status)) => Some(Record::Unread { status }),
            _ => {
                self.is_damaged = true;
                None
            }
        };
        Some((record, end + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Record {
        Record::Read {
            size: 100,
            etag: "\"a-1\"".into(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    fn line(length: usize) -> String {
        format!("{{\"size\":100,\"etag\":\"\\\"a-1\\\"\",\"length\":{length}}}\n")
    }

    #[test]
    fn records_may_arrive_in_any_pieces() {
        let text = format!(
            "{}{{\"a\": 1}}\n{{\"status\":404}}\n{}{}ü\n",
            line(9),
            line(0),
            line(3)
        );
        let expected = [
            record("{\"a\": 1}\n"),
            Record::Unread { status: 404 },
            record(""),
            record("ü\n"),
        ];
        for size in 1..=text.len() {
            let mut records = Records::default();
            let pieces = text.as_bytes().chunks(size);
            let read: Vec<Record> = pieces.flat_map(|piece| records.take(piece)).collect();
            assert_eq!(read, expected, "{size}");
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_left_out() {
        let mut records = Records::default();
        let cut = format!("{}abc{}ab", line(3), line(3));
        assert_eq!(records.take(cut.as_bytes()), [record("abc")]);
        for damage in [
            "<html>",
            "{}",
            "{\"size\":-1,\"etag\":\"\",\"length\":0}",
            "{\"status\":70000}",
        ] {
            let mut records = Records::default();
            let text = format!("{}abc{damage}\n{}abc", line(3), line(3));
            assert_eq!(records.take(text.as_bytes()), [record("abc")], "{damage}");
            assert!(records.take(line(0).as_bytes()).is_empty(), "{damage}");
        }
    }
}
