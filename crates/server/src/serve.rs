//! Serves HTTP until the server stops. [`volary_site::serve_until`] limits what slow clients occupy, and
//! [`crate::extract`] the time that a body may take.

use axum::Router;
use prometheus_client::metrics::gauge::Gauge;
use tokio::net::TcpListener;
use volary_site::{ConnectionLimits, Pace, serve_until};

use crate::server::Server;

/// Serves `app` until `stop` completes. Then requests may finish within the grace period, and after that
/// every environment is closed, within another grace period.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    server: &Server,
    stop: impl Future<Output = ()>,
) {
    let options = &server.shared.options;
    let limits = ConnectionLimits {
        connections: options.connections,
        head: options.read_timeout,
        pace: Pace {
            interval: options.read_timeout,
            bytes: Pace::BYTES,
        },
    };
    let count = &server.shared.metrics.connections;
    let connections = serve_until(listener, app, limits, || Open::new(count), stop).await;
    server.shared.stopping.cancel();
    server.shared.sockets.close();
    let finishing = async {
        connections.shutdown().await;
        server.shared.sockets.wait().await;
    };
    let finished = tokio::time::timeout(options.grace_period, finishing);
    if finished.await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    server.close_everything().await;
}

/// Counts a connection while it is open.
struct Open(Gauge);

impl Open {
    fn new(count: &Gauge) -> Self {
        count.inc();
        Open(count.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}
