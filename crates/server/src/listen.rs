//! Sockets and threads: one thread accepts, each shard's thread serves the connections it is given
//! and runs its environments.

use std::net::{TcpListener as StdListener, TcpStream as StdStream};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::LocalSet;

use crate::server::Server;
use crate::shard::{Request, Shard};

/// Connections that wait for a shard to take them.
const WAITING: usize = 256;

/// How long connections may finish their requests when the server stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// A server that listens.
pub struct Listening {
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Listening {
    /// Stops accepting, closes every environment, waits for the threads.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// Serves `app` on a socket, with a thread for each of the server's shards and one to accept.
pub fn listen(
    socket: StdListener,
    server: &Arc<Server>,
    shards: Vec<mpsc::Receiver<Request>>,
    app: &Router,
) -> anyhow::Result<Listening> {
    socket
        .set_nonblocking(true)
        .context("The socket can't be used.")?;
    let (stop, stopped) = watch::channel(false);
    let mut connections = Vec::new();
    let mut threads = Vec::new();
    for (index, requests) in shards.into_iter().enumerate() {
        let (give, given) = mpsc::channel(WAITING);
        connections.push(give);
        let (server, app, stopped) = (Arc::clone(server), app.clone(), stopped.clone());
        threads.push(thread(format!("shard-{index}"), move || async move {
            match Shard::open(index, Arc::clone(&server), requests) {
                Ok(shard) => serve(shard, server, given, app, stopped).await,
                Err(error) => tracing::error!(%error, index, "a shard could not open its dataset"),
            }
        })?);
    }
    let accepting = move || accept(socket, connections, stopped);
    threads.push(thread("accept".into(), accepting)?);
    Ok(Listening { stop, threads })
}

/// A thread with a runtime of its own. The work begins there, so it need not be `Send`.
fn thread<W: Future<Output = ()>>(
    name: String,
    work: impl FnOnce() -> W + Send + 'static,
) -> anyhow::Result<JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name(name);
    Ok(thread.spawn(move || LocalSet::new().block_on(&runtime, work()))?)
}

/// Accepts, and gives the connections to the shards in turn.
async fn accept(
    socket: StdListener,
    shards: Vec<mpsc::Sender<StdStream>>,
    mut stopped: watch::Receiver<bool>,
) {
    let socket = match TcpListener::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => return tracing::error!(%error, "the socket can't be used"),
    };
    for shard in shards.iter().cycle() {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopped.changed() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                // A socket belongs to the runtime that made it, so it moves as a plain one.
                if let Ok(stream) = stream.into_std() {
                    let _ = shard.send(stream).await;
                }
            }
            // Out of file handles, most likely: others must close before it gets better.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// Serves the connections of a shard until the server stops.
async fn serve(
    shard: Rc<Shard>,
    server: Arc<Server>,
    mut given: mpsc::Receiver<StdStream>,
    app: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let limit = u32::try_from(server.options.connections).unwrap_or(u32::MAX);
    let room = Arc::new(Semaphore::new(server.options.connections));
    if let Some(age) = server.options.idle_timeout {
        tokio::task::spawn_local(close_idle(Rc::clone(&shard), age));
    }
    let until_stopped = stopped.clone();
    loop {
        // A connection beyond the limit waits here, unread.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let stream = tokio::select! {
            stream = given.recv() => stream,
            _ = stopped.changed() => None,
        };
        let Some(stream) = stream else {
            break;
        };
        let (app, server, stopped) = (app.clone(), Arc::clone(&server), until_stopped.clone());
        tokio::task::spawn_local(async move {
            connection(stream, app, &server, stopped).await;
            drop(permit);
        });
    }
    let all_gone = room.acquire_many(limit);
    let _ = tokio::time::timeout(FAREWELL, all_gone).await;
    shard.close_everything().await;
}

async fn connection(
    stream: StdStream,
    app: Router,
    server: &Server,
    mut stopped: watch::Receiver<bool>,
) {
    let Ok(stream) = TcpStream::from_std(stream) else {
        return;
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.options.read_timeout)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let mut connection = std::pin::pin!(connection);
    // Broken connections are everyday life: a client went away.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Closes what nobody used for a while, again and again.
async fn close_idle(shard: Rc<Shard>, age: Duration) {
    let pause = (age / 4).clamp(Duration::from_millis(100), Duration::from_secs(60));
    loop {
        tokio::time::sleep(pause).await;
        let closed = shard.close_older_than(age.as_secs_f64()).await;
        if closed > 0 {
            tracing::info!(closed, "closed environments that nobody used");
        }
    }
}
