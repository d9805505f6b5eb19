//! Work that waits for a disk, on threads of its own.
//!
//! Invariant: a permit belongs to a thread that works. A disk that hangs takes no more threads than there are permits,
//! and a client that reads its response slowly, or not at all, holds none.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// The time limit of a disk operation, and of the wait for a thread.
const PATIENCE: Duration = Duration::from_secs(20);

/// The threads that read and write files.
pub struct Disk {
    permits: Arc<Semaphore>,
    backoff: Duration,
}

impl Disk {
    /// With this many threads.
    pub fn new(threads: usize) -> Disk {
        Disk {
            permits: Arc::new(Semaphore::new(threads)),
            backoff: PATIENCE,
        }
    }

    /// Runs blocking work. Fails with `ResourceBusy` if no thread becomes free in time, and with `TimedOut` if the work
    /// takes too long; its thread keeps the permit until it is done.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (permits, backoff) = (Arc::clone(&self.permits), self.backoff);
        // A task of its own goes on while a client that does not read its response stops the caller.
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let permit = timeout(backoff, permits.acquire_owned()).await;
            let permit = permit.map_err(|_| io::ErrorKind::ResourceBusy)?;
            let permit = permit.map_err(io::Error::other)?;
            let work = spawn_blocking(move || {
                let done = work();
                drop(permit);
                done
            });
            match timeout(backoff, work).await {
                Ok(done) => done.unwrap_or_else(|_| Err(io::Error::other("reading was stopped"))),
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            }
        }));
        let done = task.await;
        done.unwrap_or_else(|_| Err(io::Error::other("reading was stopped")))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::{FutureExt, StreamExt, stream};

    use super::*;

    fn disk(threads: usize, backoff: u64) -> Disk {
        Disk {
            permits: Arc::new(Semaphore::new(threads)),
            backoff: Duration::from_millis(backoff),
        }
    }

    #[tokio::test]
    async fn a_disk_that_hangs_keeps_its_thread() {
        let disk = disk(1, 50);
        let (wake, hang) = mpsc::channel::<()>();
        let hanging = disk.run(move || hang.recv().map_err(io::Error::other));
        let error = hanging.await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = disk.run(|| Ok(())).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        drop(wake);
        while disk.run(|| Ok(())).await.is_err() {}
    }

    #[tokio::test]
    async fn work_whose_result_nobody_takes_gives_its_thread_back() {
        let disk = disk(2, 20_000);
        // Like the body of a response whose client stopped reading: asked once, and then not again.
        let reads = stream::iter(0..100).map(|number| disk.run(move || Ok(number)));
        let mut reads = Box::pin(reads.buffered(8));
        let _ = reads.next().now_or_never();
        for _ in 0..10 {
            disk.run(|| Ok(())).await.unwrap();
        }
        assert_eq!(reads.next().await.unwrap().unwrap(), 0);
    }

    #[tokio::test]
    async fn work_that_panics_is_an_error() {
        let disk = disk(1, 20_000);
        for _ in 0..3 {
            assert!(
                disk.run(|| -> io::Result<()> { panic!("on purpose") })
                    .await
                    .is_err()
            );
        }
        assert!(disk.run(|| Ok(())).await.is_ok());
    }
}
