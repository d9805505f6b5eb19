//! One connection, served until it ends or the server stops.
//!
//! What always holds: a head or a body that does not arrive, a reply that is not taken, and a
//! connection that is not used cost a connection for `read_timeout`, and no more.

use std::net::TcpStream as StdStream;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_io_timeout::TimeoutStream;

use crate::server::Server;

/// A connection that was accepted, and its place among those that are allowed.
pub struct Accepted {
    /// The socket; a plain one, since it moves to the runtime of a worker.
    pub stream: StdStream,
    /// Free again when the connection ends.
    pub permit: OwnedSemaphorePermit,
}

/// Serves a connection.
pub async fn serve(
    accepted: Accepted,
    app: Router,
    server: Arc<Server>,
    mut stopped: watch::Receiver<bool>,
) {
    let Accepted { stream, permit } = accepted;
    server.metrics.connections.inc();
    if let Ok(stream) = TcpStream::from_std(stream) {
        let timeout = server.options.read_timeout;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(timeout)
            .serve_connection(io(stream, timeout), TowerToHyperService::new(app));
        let mut connection = std::pin::pin!(connection);
        // Broken connections are everyday life: a client went away.
        tokio::select! {
            _ = connection.as_mut() => {}
            _ = stopped.changed() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
    server.metrics.connections.dec();
    drop(permit);
}

/// The stream as hyper takes it. A write that makes no progress for so long ends it.
fn io(
    stream: TcpStream,
    timeout: Duration,
) -> TokioIo<std::pin::Pin<Box<TimeoutStream<TcpStream>>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeout));
    TokioIo::new(Box::pin(stream))
}
