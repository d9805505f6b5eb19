//! Accepts connections and serves HTTP on them. `axum::serve` sets no limits, so this is hyper's own loop.
//!
//! Invariants: a client that stalls, in the head of a request, in its body, or while it should read a reply, loses its
//! connection. One that is slow but reads and writes at the [`Pace`] does not. Connections beyond the limit wait in the
//! system's own queue.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::pace::{Pace, PacedBody, PacedStream};

/// File handles that are reserved for uses other than connections.
const RESERVED_HANDLES: usize = 64;

/// The pause after a failed `accept`, most likely because no file handle is free.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);

/// The size of the system's buffer for a reply. The system's own choice grows to megabytes: a slow reader would then
/// leave the server without any sign of progress for minutes.
const SEND_BUFFER: usize = 256 << 10;

/// The limits of a server's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The maximum number of connections. Half of them may come from one address of another machine.
    pub connections: usize,
    /// The time limit for the head of a request, and for a connection without requests.
    pub head: Duration,
    /// The least progress of a body or a reply.
    pub pace: Pace,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            // A browser opens six for each of its profiles.
            connections: 256,
            head: Duration::from_secs(30),
            pace: Pace::default(),
        }
    }
}

/// Serves `app` on a port with the usual limits, until the future is dropped.
pub async fn serve_connections(listener: TcpListener, app: Router) {
    let limits = ConnectionLimits::default();
    serve_until(listener, app, limits, || (), pending()).await;
}

/// The connections that were open when a server stopped.
pub struct OpenConnections(watch::Sender<bool>);

impl OpenConnections {
    /// Waits until the requests that run have their replies. A connection that became a socket is not waited for: who
    /// made it one closes it.
    pub async fn shutdown(self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }
}

/// Serves `app` until `stop` completes; then it accepts no more connections, and returns those that are open. What
/// `opened` returns is dropped with its connection, also if that became a socket.
pub async fn serve_until<Opened: Send + Unpin + 'static>(
    listener: TcpListener,
    app: Router,
    limits: ConnectionLimits,
    opened: impl Fn() -> Opened,
    stop: impl Future<Output = ()>,
) -> OpenConnections {
    let most = possible(limits.connections);
    let permits = Arc::new(Semaphore::new(most));
    let peers = Arc::new(Peers::new(most.div_ceil(2)));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head);
    let (stopping, stopped) = watch::channel(false);
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &permits, &peers) => accepted,
            () = &mut stop => return OpenConnections(stopping),
        };
        let (stream, slot) = match accepted {
            Ok(Some(accepted)) => accepted,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        let app = TowerToHyperService::new(app.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            app.call(request.map(|body| PacedBody::new(body, limits.pace)))
        });
        let stream = PacedStream::new(stream, limits.pace, (opened(), slot));
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            let mut connection = std::pin::pin!(connection.with_upgrades());
            // A client that disconnects is not an error of the server.
            tokio::select! {
                _ = connection.as_mut() => {}
                true = async { stopped.wait_for(|stopped| *stopped).await.is_ok() } => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
        });
    }
}

/// The next connection; `None` if its address has too many.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
    peers: &Arc<Peers>,
) -> io::Result<Option<(TcpStream, Slot)>> {
    let permit = Arc::clone(permits).acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    let Some(peer) = Peers::enter(peers, address.ip()) else {
        return Ok(None);
    };
    // Replies are written as a whole. Otherwise their ends wait until the client has acknowledged what precedes them,
    // which takes 40 ms.
    stream.set_nodelay(true)?;
    // A system that refuses has its own size, with which long replies need a faster reader.
    let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER);
    let slot = Slot {
        _peer: peer,
        _permit: permit,
    };
    Ok(Some((stream, slot)))
}

/// What a connection occupies while it is open.
struct Slot {
    _peer: Peer,
    _permit: OwnedSemaphorePermit,
}

/// The number of connections of each address, so that one machine cannot take them all.
struct Peers {
    most: usize,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection of an address, counted until it is dropped.
struct Peer(Option<(Arc<Peers>, IpAddr)>);

impl Peers {
    fn new(most: usize) -> Peers {
        Peers {
            most,
            counts: Mutex::default(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; `None` if its address has too many. A loopback address is not counted, because all
    /// clients behind a proxy or a tunnel have it.
    fn enter(peers: &Arc<Peers>, address: IpAddr) -> Option<Peer> {
        let address = machine(address);
        if address.is_loopback() {
            return Some(Peer(None));
        }
        let mut counts = peers.counts();
        let count = counts.entry(address).or_default();
        if *count >= peers.most {
            return None;
        }
        *count += 1;
        Some(Peer(Some((Arc::clone(peers), address))))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let Some((peers, address)) = &self.0 else {
            return;
        };
        let mut counts = peers.counts();
        if let Some(count) = counts.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(address);
            }
        }
    }
}

/// The address that stands for a machine: it can have all addresses of a network of 64 bits.
fn machine(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()
        }
        address => address,
    }
}

/// The number of connections to allow: `wanted`, or as many as the system's limit of open files permits.
fn possible(wanted: usize) -> usize {
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

#[cfg(test)]
mod tests;
