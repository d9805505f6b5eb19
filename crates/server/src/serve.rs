//! Accepts connections and serves HTTP on them until the server stops.
//!
//! `axum::serve` sets no timeouts, so this is hyper's own loop. A request head that does not arrive, a
//! reply that the client does not read and an idle connection occupy a connection for
//! `read_timeout` at most. [`crate::extract`] limits the time that a body may take.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use prometheus_client::metrics::gauge::Gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;

use crate::server::Server;

/// File handles that are reserved for uses other than connections.
const RESERVED_HANDLES: usize = 64;

/// The pause after a failed `accept`, most likely because no file handle is free.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);

/// Serves `app` until `stop` completes. Then requests may finish within the grace period, and after that
/// every environment is closed, within another grace period.
///
/// Connections beyond the limit wait in the system's own queue.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    server: &Server,
    stop: impl Future<Output = ()>,
) {
    let options = &server.shared.options;
    let limit = Arc::new(Semaphore::new(connection_limit(options.connections)));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.read_timeout);
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = accept(&listener, Arc::clone(&limit));
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = &mut stop => break,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(app.clone());
        let connection = http.serve_connection(with_timeout(stream, options.read_timeout), service);
        let connection = connections.watch(connection);
        let open = Open::new(&server.shared.metrics.connections, permit);
        tokio::spawn(async move {
            // A client that disconnects is not an error of the server.
            let _ = connection.await;
            drop(open);
        });
    }
    drop(listener);
    let finished = tokio::time::timeout(options.grace_period, connections.shutdown());
    if finished.await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    server.close_everything().await;
}

async fn accept(
    listener: &TcpListener,
    limit: Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = limit.acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Replies are written as a whole; waiting for more data would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

/// The stream for hyper. A write that makes no progress for the given time fails.
fn with_timeout(
    stream: TcpStream,
    timeout: Duration,
) -> TokioIo<Pin<Box<TimeoutStream<TcpStream>>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeout));
    TokioIo::new(Box::pin(stream))
}

/// Counts a connection while it is open, and holds its permit.
struct Open {
    count: Gauge,
    _permit: OwnedSemaphorePermit,
}

impl Open {
    fn new(count: &Gauge, permit: OwnedSemaphorePermit) -> Self {
        count.inc();
        Open {
            count: count.clone(),
            _permit: permit,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.count.dec();
    }
}

/// The number of connections to allow: `wanted`, or as many as the system's limit of open files
/// permits.
fn connection_limit(wanted: usize) -> usize {
    let handles = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(u64::MAX);
    let handles = usize::try_from(handles).unwrap_or(usize::MAX);
    let possible = handles.saturating_sub(RESERVED_HANDLES).max(1);
    if possible < wanted {
        tracing::warn!(
            possible,
            wanted,
            "the limit of open files allows fewer connections than configured"
        );
    }
    wanted.min(possible)
}
