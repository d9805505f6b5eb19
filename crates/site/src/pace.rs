//! The least speed of a client, for its body and for the reply that it reads.
//!
//! A limit on the whole time would stop honest clients with large files and slow networks; a limit on silence would
//! serve a client that moves one byte now and then forever.

use std::error::Error;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A client must move this many bytes within each interval, or everything that there is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub interval: Duration,
    pub bytes: usize,
}

impl Pace {
    /// The bytes of the usual pace.
    pub const BYTES: usize = 32 << 10;
}

impl Default for Pace {
    /// About 1 KB/s.
    fn default() -> Self {
        Pace {
            interval: Duration::from_secs(30),
            bytes: Pace::BYTES,
        }
    }
}

/// Measures whether bytes move at a pace.
struct Progress {
    pace: Pace,
    /// The end of the interval; allocated by the first wait.
    end: Option<Pin<Box<Sleep>>>,
    /// Whether an interval runs.
    is_running: bool,
    /// The bytes that were moved in the interval.
    moved: usize,
}

impl Progress {
    fn new(pace: Pace) -> Progress {
        Progress {
            pace,
            end: None,
            is_running: false,
            moved: 0,
        }
    }

    /// Waits for the client; fails when the interval ends with too few bytes.
    fn wait(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let later = Instant::now() + self.pace.interval;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep_until(later)));
        if !self.is_running {
            end.as_mut().reset(later);
            self.is_running = true;
            self.moved = 0;
        }
        match end.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }

    /// Counts bytes after which the client has others to move.
    fn advance(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes);
        if self.moved >= self.pace.bytes {
            self.is_running = false;
        }
    }

    /// Everything was moved: no interval runs until the client has to move more.
    fn finish(&mut self) {
        self.is_running = false;
    }
}

/// A connection. A write fails if the client reads slower than the pace.
pub struct PacedStream<Held> {
    stream: TcpStream,
    progress: Progress,
    /// Dropped with the connection, which may outlive its last request as a socket.
    _held: Held,
}

impl<Held> PacedStream<Held> {
    pub fn new(stream: TcpStream, pace: Pace, held: Held) -> PacedStream<Held> {
        PacedStream {
            stream,
            progress: Progress::new(pace),
            _held: held,
        }
    }

    /// The result of a write of `length` bytes.
    fn written(
        &mut self,
        context: &mut Context<'_>,
        length: usize,
        result: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &result {
            Poll::Ready(Ok(written)) if *written < length => self.progress.advance(*written),
            Poll::Ready(_) => self.progress.finish(),
            Poll::Pending => {
                if let Err(error) = self.progress.wait(context) {
                    // The system then forgets what the client has not read, instead of waiting for it.
                    let _ = self.stream.set_zero_linger();
                    return Poll::Ready(Err(error));
                }
            }
        }
        result
    }
}

impl<Held: Unpin> AsyncRead for PacedStream<Held> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<Held: Unpin> AsyncWrite for PacedStream<Held> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, bytes.len(), result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = parts.iter().map(|part| part.len()).sum();
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(context, length, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Whether a body failed because it arrived slower than the pace.
pub fn is_too_slow(error: &(dyn Error + 'static)) -> bool {
    let errors = std::iter::successors(Some(error), |error| (*error).source());
    errors
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::TimedOut)
}

/// The body of a request. It fails if it arrives slower than the pace.
pub struct PacedBody<Inner> {
    body: Inner,
    progress: Progress,
}

impl<Inner> PacedBody<Inner> {
    pub fn new(body: Inner, pace: Pace) -> PacedBody<Inner> {
        PacedBody {
            body,
            progress: Progress::new(pace),
        }
    }
}

impl<Inner> HttpBody for PacedBody<Inner>
where
    Inner: HttpBody<Data = Bytes> + Unpin,
    Inner::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.progress
                    .advance(frame.data_ref().map_or(0, Bytes::len));
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match self.progress.wait(context) {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Some(Err(error.into()))),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
