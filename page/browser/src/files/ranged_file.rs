//! A file on the server of the page, which is read in ranges when they are wanted. Nothing of it is stored.
//!
//! Invariant: bytes of a file that was cut off or deleted since it was opened are an error. One that became longer is read
//! as it was: logs are appended to.
//!
//! A caller that reads a file to its end says so ([`RangedFile::read_through`]). Then one response serves all ranges, and
//! the browser goes on receiving while the worker computes.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::time::Duration;

use futures_util::future::join;
use js_sys::Uint8Array;
use volary_formats::archive::is_archive;
use volary_formats::archive::listing::DIRECTORY_TAIL;

use super::streaming_download::FetchError;
use crate::http::{self, HttpError, Response, Timeouts};

/// How much is read when a file is opened, unless only its beginning is wanted: most files are no longer.
pub const HEAD: u64 = 256 << 10;

/// An open file.
pub struct RangedFile {
    name: String,
    url: String,
    size: u64,
    /// Its version when it was opened.
    version: Option<String>,
    /// Its beginning, until what follows it is read.
    head: RefCell<Vec<u8>>,
    /// Its last bytes, if they were read ahead.
    tail: RefCell<Vec<u8>>,
    /// The start of the next range, if ranges follow each other.
    next: Cell<Option<u64>>,
    /// The response that serves them.
    stream: RefCell<Option<Stream>>,
}

impl RangedFile {
    /// Opens a file: reads its size and its first `head` bytes, which must not be 0. `archive` is the expected size of an
    /// archive, whose directory is read at the same time.
    pub async fn open(
        name: &str,
        url: &str,
        head: u64,
        archive: Option<u64>,
    ) -> Result<RangedFile, FetchError> {
        let tail = archive.and_then(|size| directory_in(size, head));
        let (response, tail) = join(request(url, 0..head), Tail::read(url, tail)).await;
        let response = response?;
        let (size, head) = match response.status() {
            206 => {
                let size = size_of(&response).ok_or(FetchError::Status { status: 206 })?;
                (size, 0..size.min(head))
            }
            // An empty file has no range.
            416 if size_of(&response) == Some(0) => (0, 0..0),
            status => return Err(FetchError::Status { status }),
        };
        let version = response.header("etag");
        let bytes = if head.is_empty() {
            Vec::new()
        } else {
            let mut stream = Stream::of(response, &head);
            stream.read(head.end).await?
        };
        let tail = tail.filter(|tail| tail.size == size && tail.version == version);
        let file = RangedFile::begun(name, url, size, version, bytes);
        file.tail
            .replace(tail.map_or_else(Vec::new, |tail| tail.bytes));
        Ok(file)
    }

    /// A file of which the size in bytes, the version (`ETag`) and the first bytes are known.
    pub fn begun(
        name: &str,
        url: &str,
        size: u64,
        version: Option<String>,
        head: Vec<u8>,
    ) -> RangedFile {
        RangedFile {
            name: name.to_owned(),
            url: url.to_owned(),
            size,
            version,
            head: RefCell::new(head),
            tail: RefCell::default(),
            next: Cell::new(None),
            stream: RefCell::default(),
        }
    }

    /// Its path, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size in bytes, when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads the end of an archive ahead, because its directory is there. If it cannot be read, reading the directory fails
    /// and says why.
    pub async fn read_directory_ahead(&self) {
        let is_archive = is_archive(&self.head.borrow());
        let range = directory_in(self.size, self.head.borrow().len() as u64);
        let Some(range) = range.filter(|_| is_archive && self.tail.borrow().is_empty()) else {
            return;
        };
        if let Ok(bytes) = self.slice(range).await {
            self.tail.replace(bytes);
        }
    }

    /// Says that the file is read from this offset on, in ranges that follow each other, until [`RangedFile::release`].
    /// Other ranges may be read meanwhile.
    pub fn read_through(&self, start: u64) {
        self.next.set(Some(start));
    }

    /// Reads a range.
    pub async fn slice(&self, range: Range<u64>) -> Result<Vec<u8>, String> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let goes_on = self.next.get() == Some(range.start);
        if goes_on {
            self.next.set(Some(range.end));
        }
        let known = self.of_head(&range).or_else(|| self.of_tail(&range));
        if let Some(bytes) = known {
            return Ok(bytes);
        }
        if range.start <= self.head.borrow().len() as u64 {
            self.head.take();
        }
        let stream = if goes_on { self.stream.take() } else { None };
        let mut stream = match stream.filter(|stream| stream.at == range.start) {
            Some(stream) => stream,
            None if goes_on => self.request(range.start..self.size.max(range.end)).await?,
            None => self.request(range.clone()).await?,
        };
        let bytes = stream.read(range.end).await;
        let bytes = bytes.map_err(|error| self.reason(&error))?;
        if !stream.is_over() && self.next.get() == Some(range.end) {
            self.stream.replace(Some(stream));
        }
        Ok(bytes)
    }

    async fn request(&self, range: Range<u64>) -> Result<Stream, String> {
        let response = request(&self.url, range.clone()).await;
        let response = response.map_err(|error| error.to_string())?;
        let version = response.header("etag");
        self.check(response.status(), version, size_of(&response))?;
        Ok(Stream::of(response, &range))
    }

    /// Checks that a response with this status, version and size of the whole file is one of the file as it was opened.
    fn check(&self, status: u16, version: Option<String>, size: Option<u64>) -> Result<(), String> {
        match status {
            206 => {}
            404 => return Err("It was deleted.".to_owned()),
            416 => return Err(self.changed()),
            status => return Err(FetchError::Status { status }.to_string()),
        }
        // A file that was appended to is another version, and larger.
        if version == self.version || size.is_some_and(|size| size > self.size) {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    /// Why a range could not be read.
    fn reason(&self, error: &FetchError) -> String {
        match error {
            FetchError::Length { .. } => self.changed(),
            error => error.to_string(),
        }
    }

    /// Drops its beginning and its end, and what is being fetched.
    pub fn release(&self) {
        self.next.set(None);
        self.head.take();
        self.tail.take();
        self.stream.take();
    }

    fn of_head(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        within(&self.head.borrow(), 0, range)
    }

    fn of_tail(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let tail = self.tail.borrow();
        within(&tail, self.size - tail.len() as u64, range)
    }

    fn changed(&self) -> String {
        format!("{} was changed since it was opened.", self.name)
    }
}

/// The last bytes of a file.
struct Tail {
    /// The size of the whole file.
    size: u64,
    version: Option<String>,
    bytes: Vec<u8>,
}

impl Tail {
    /// Reads a range that ends with the file. `None` if that fails, which is not an error: the size was only expected, and
    /// the directory is read later then.
    async fn read(url: &str, range: Option<Range<u64>>) -> Option<Tail> {
        let range = range?;
        let response = request(url, range.clone()).await.ok()?;
        if response.status() != 206 {
            return None;
        }
        Some(Tail {
            size: size_of(&response)?,
            version: response.header("etag"),
            bytes: Stream::of(response, &range).read(range.end).await.ok()?,
        })
    }
}

/// Where the directory is in an archive of `size` bytes; `None` if it is among the first `head` ones.
fn directory_in(size: u64, head: u64) -> Option<Range<u64>> {
    let start = size.saturating_sub(DIRECTORY_TAIL);
    (start >= head).then_some(start..size)
}

/// The bytes of a range, if all of them are among `bytes`, which are at an offset.
fn within(bytes: &[u8], offset: u64, range: &Range<u64>) -> Option<Vec<u8>> {
    let start = usize::try_from(range.start.checked_sub(offset)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(offset)?).ok()?;
    bytes.get(start..end).map(<[u8]>::to_vec)
}

async fn request(url: &str, range: Range<u64>) -> Result<Response, HttpError> {
    let request = http::Request {
        method: "GET",
        url: url.to_owned(),
        headers: vec![("Range", format!("bytes={}-{}", range.start, range.end - 1))],
        own_cookies: true,
        ..http::Request::default()
    };
    http::send(&request, Timeouts::of(Duration::from_secs(60))).await
}

/// The size of the whole file, of whose range this is.
fn size_of(response: &Response) -> Option<u64> {
    size_in(&response.header("content-range")?)
}

/// The size of the whole file in a `Content-Range`, such as `bytes 0-9/20`, or `bytes */20` after a range that is not in
/// the file.
fn size_in(range: &str) -> Option<u64> {
    range.rsplit_once('/')?.1.trim().parse().ok()
}

/// A response with a range, which is read in order.
struct Stream {
    response: Response,
    /// The offset in the file of the next byte.
    at: u64,
    /// The end of the range.
    end: u64,
    /// What arrived of the bytes from there on.
    arrived: Option<Uint8Array>,
}

impl Stream {
    fn of(response: Response, range: &Range<u64>) -> Stream {
        Stream {
            response,
            at: range.start,
            end: range.end,
            arrived: None,
        }
    }

    fn is_over(&self) -> bool {
        self.at >= self.end
    }

    /// Reads the bytes up to an offset.
    async fn read(&mut self, end: u64) -> Result<Vec<u8>, FetchError> {
        let size = end - self.at;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        let mut rest = &mut bytes[..];
        while !rest.is_empty() {
            let Some(piece) = self.piece().await? else {
                let received = size - rest.len() as u64;
                return Err(FetchError::Length { received, size });
            };
            let length = piece.length().min(rest.len() as u32);
            let (now, later) = rest.split_at_mut(length as usize);
            piece.subarray(0, length).copy_to(now);
            rest = later;
            if length < piece.length() {
                self.arrived = Some(piece.subarray(length, piece.length()));
            }
        }
        self.at = end;
        // Read to its end, a response leaves a connection for the next one.
        if self.is_over()
            && let Some(more) = self.piece().await?
        {
            let received = size + u64::from(more.length());
            return Err(FetchError::Length { received, size });
        }
        Ok(bytes)
    }

    async fn piece(&mut self) -> Result<Option<Uint8Array>, FetchError> {
        match self.arrived.take() {
            Some(piece) => Ok(Some(piece)),
            None => Ok(self.response.raw_piece().await?),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// A file of 20 bytes, of which the first 8 are known.
    fn file() -> RangedFile {
        let version = Some("\"1\"".to_owned());
        RangedFile::begun(
            "run/a.jsonl",
            "https://site.example/a",
            20,
            version,
            (0..8).collect(),
        )
    }

    /// Reads what is known, without a request.
    fn known(file: &RangedFile, range: Range<u64>) -> Vec<u8> {
        file.slice(range).now_or_never().unwrap().unwrap()
    }

    #[test]
    fn the_beginning_and_the_end_are_read_without_a_request() {
        let file = file();
        assert_eq!((file.name(), file.size()), ("run/a.jsonl", 20));
        file.tail.replace((15..20).collect());
        assert_eq!(known(&file, 0..3), [0, 1, 2]);
        assert_eq!(known(&file, 6..8), [6, 7]);
        assert_eq!(known(&file, 15..17), [15, 16]);
        assert_eq!(known(&file, 19..20), [19]);
        assert_eq!(known(&file, 12..12), Vec::<u8>::new());
        assert_eq!(file.of_head(&(6..9)), None, "only a part of it is known");
        assert_eq!(file.of_tail(&(14..16)), None);
        file.release();
        assert_eq!(file.of_head(&(0..3)), None);
        assert_eq!(file.of_tail(&(15..17)), None);
    }

    #[test]
    fn ranges_that_follow_each_other_are_counted_from_where_the_reader_begins() {
        let file = file();
        file.read_through(0);
        known(&file, 0..2);
        assert_eq!(file.next.get(), Some(2));
        // Another range is read meanwhile, such as that of an episode that is opened.
        known(&file, 5..6);
        assert_eq!(file.next.get(), Some(2));
        known(&file, 2..8);
        assert_eq!(file.next.get(), Some(8));
        file.release();
        assert_eq!(file.next.get(), None);
    }

    #[test]
    fn a_file_that_was_appended_to_is_read_and_one_that_was_rewritten_is_not() {
        let changed = Err("run/a.jsonl was changed since it was opened.".to_owned());
        for (status, version, size, expected) in [
            (206, "\"1\"", Some(20), Ok(())),
            (206, "\"1\"", None, Ok(())),
            (206, "\"2\"", Some(21), Ok(())),
            (206, "\"2\"", Some(20), changed.clone()),
            (206, "\"2\"", Some(5), changed.clone()),
            (206, "\"2\"", None, changed.clone()),
            (416, "\"2\"", Some(5), changed.clone()),
            (404, "", None, Err("It was deleted.".to_owned())),
            (
                200,
                "\"1\"",
                Some(20),
                Err("The server answered 200.".to_owned()),
            ),
            (503, "", None, Err("The server answered 503.".to_owned())),
        ] {
            let checked = file().check(status, Some(version.to_owned()), size);
            assert_eq!(checked, expected, "{status} {version} {size:?}");
        }
    }

    #[test]
    fn only_a_wrong_length_says_that_the_file_was_changed() {
        let reason = |error: FetchError| file().reason(&error);
        let length = reason(FetchError::Length {
            received: 3,
            size: 5,
        });
        assert_eq!(length, "run/a.jsonl was changed since it was opened.");
        let broken = HttpError::Broken {
            reason: "network changed".to_owned(),
        };
        assert_eq!(
            reason(broken.into()),
            "The connection was interrupted (network changed)."
        );
        let silent = HttpError::Silent { seconds: 60 };
        assert_eq!(reason(silent.into()), "No data was received for 60 s.");
    }

    #[test]
    fn the_size_of_a_file_is_behind_the_range() {
        for (range, size) in [
            ("bytes 0-9/20", Some(20)),
            ("bytes */0", Some(0)),
            ("bytes 0-9/ 20", Some(20)),
            ("bytes 0-9/*", None),
            ("bytes 0-9", None),
            ("", None),
            ("bytes 0-9/99999999999999999999999", None),
        ] {
            assert_eq!(size_in(range), size, "{range}");
        }
    }
}
