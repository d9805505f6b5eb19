//! Sockets and threads: one thread accepts, each worker's thread serves the connections it is given
//! and runs its environments.

use std::net::TcpListener as StdListener;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc as threads;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use axum::Router;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{JoinSet, LocalSet};

use crate::connection::{self, Accepted};
use crate::server::Server;
use crate::watchdog::{self, Watchdog};
use crate::worker::{Command, Worker};

/// File handles that are kept for other things than connections.
const KEPT_HANDLES: usize = 64;

/// Threads for each worker that read files of the page and parse large bodies.
const HELPERS: usize = 2;

/// A server that listens.
pub struct Listening {
    stop: watch::Sender<bool>,
    done: threads::Receiver<()>,
    threads: usize,
    farewell: Duration,
}

impl Listening {
    /// Stops accepting, lets requests finish, and closes every environment. Gives whether all that
    /// was done in time; a worker that hangs can't be waited for.
    pub fn stop(self) -> bool {
        let _ = self.stop.send(true);
        // Requests may take the farewell, and closing another one.
        let deadline = Instant::now() + 2 * self.farewell + Duration::from_secs(1);
        (0..self.threads).all(|_| {
            let left = deadline.saturating_duration_since(Instant::now());
            self.done.recv_timeout(left).is_ok()
        })
    }
}

/// Serves `app` on a socket, with a thread for each of the server's workers and one to accept.
pub fn listen(
    socket: StdListener,
    server: &Arc<Server>,
    commands: Vec<mpsc::Receiver<Command>>,
    app: &Router,
) -> anyhow::Result<Listening> {
    socket
        .set_nonblocking(true)
        .context("The socket can't be used.")?;
    let (stop, stopped) = watch::channel(false);
    let (tell, done) = threads::channel();
    let (opened, opening) = threads::channel();
    let mut given = Vec::new();
    for (index, commands) in commands.into_iter().enumerate() {
        let (give, connections) = mpsc::unbounded_channel();
        given.push(give);
        let (server, app, stopped) = (Arc::clone(server), app.clone(), stopped.clone());
        let opened = opened.clone();
        thread(
            format!("worker-{index}"),
            tell.clone(),
            move || async move {
                let shard = Worker::open(index, Arc::clone(&server), commands);
                let _ = opened.send(shard.as_ref().map(|_| ()).map_err(ToString::to_string));
                drop(opened);
                if let Ok(shard) = shard {
                    work(shard, server, connections, app, stopped).await;
                }
            },
        )?;
    }
    drop(opened);
    for _ in &given {
        if let Err(error) = opening.recv().context("A worker could not begin.")? {
            bail!("A worker could not open its dataset: {error}");
        }
    }
    let threads = given.len() + 1;
    let server = Arc::clone(server);
    let farewell = server.options.farewell;
    thread("accept".into(), tell, move || async move {
        tokio::task::spawn_local(watchdog::watch_over(Arc::clone(&server)));
        accept(socket, &server, given, stopped).await;
    })?;
    Ok(Listening {
        stop,
        done,
        threads,
        farewell,
    })
}

/// A thread with a runtime of its own. The work begins there, so it need not be `Send`. `tell`
/// hears of its end.
fn thread<W: Future<Output = ()>>(
    name: String,
    tell: threads::Sender<()>,
    work: impl FnOnce() -> W + Send + 'static,
) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(HELPERS)
        .build()?;
    std::thread::Builder::new().name(name).spawn(move || {
        LocalSet::new().block_on(&runtime, work());
        // A file that is still read must not keep the server from ending.
        runtime.shutdown_background();
        let _ = tell.send(());
    })?;
    Ok(())
}

/// Accepts, and gives the connections to the workers in turn. Beyond the limit, connections wait in
/// the system's own queue.
async fn accept(
    socket: StdListener,
    server: &Server,
    workers: Vec<mpsc::UnboundedSender<Accepted>>,
    mut stopped: watch::Receiver<bool>,
) {
    let socket = match TcpListener::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => return tracing::error!(%error, "the socket can't be used"),
    };
    let room = Arc::new(Semaphore::new(connections(server.options.connections)));
    let mut turns = (0..workers.len()).cycle();
    loop {
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, socket.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            next = next => next,
            _ = stopped.changed() => return,
        };
        let stream = match accepted.map(|(stream, _)| stream) {
            Ok(stream) => stream,
            // Out of file handles, most likely: others must close before it gets better.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        // One that hangs is passed over, unless all do.
        let free = |worker: &usize| !server.pulse(*worker).is_some_and(Watchdog::is_stuck);
        let next = turns.by_ref().take(workers.len()).find(free);
        let worker = next
            .or_else(|| turns.next())
            .and_then(|turn| workers.get(turn));
        if let (Ok(permit), Ok(stream), Some(worker)) = (permit, stream.into_std(), worker) {
            let _ = worker.send(Accepted { stream, permit });
        }
    }
}

/// How many connections there may be: as many as are wanted, if the system gives so many handles.
fn connections(wanted: usize) -> usize {
    let handles = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(u64::MAX);
    let handles = usize::try_from(handles).unwrap_or(usize::MAX);
    let possible = handles.saturating_sub(KEPT_HANDLES).max(1);
    if possible < wanted {
        tracing::warn!(
            possible,
            wanted,
            "the system allows fewer open files than connections are wanted"
        );
    }
    wanted.min(possible)
}

/// The life of a worker: serves connections until the server stops, then closes its environments.
async fn work(
    shard: Rc<Worker>,
    server: Arc<Server>,
    mut given: mpsc::UnboundedReceiver<Accepted>,
    app: Router,
    mut stopped: watch::Receiver<bool>,
) {
    if let Some(age) = server.options.idle_timeout {
        tokio::task::spawn_local(Rc::clone(&shard).close_idle(age));
    }
    let until = stopped.clone();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(accepted) = given.recv() => {
                let (app, server) = (app.clone(), Arc::clone(&server));
                connections.spawn_local(connection::serve(accepted, app, server, until.clone()));
            }
            Some(_) = connections.join_next() => {}
            _ = stopped.changed() => break,
        }
    }
    let farewell = server.options.farewell;
    let all_gone = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(farewell, all_gone).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    let count = shard.running().len();
    match tokio::time::timeout(farewell, shard.close_everything()).await {
        Ok(closed) => tracing::info!(closed, of = count, "environments closed"),
        Err(_) => tracing::warn!(of = count, "some environments did not close in time"),
    }
}
