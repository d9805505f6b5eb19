//! A running server for a test.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use volary_core::dataset::TaskDataset;
use volary_core::json::Object;
use volary_server::app::{app, page};
use volary_server::class::{Class, ClassOptions};
use volary_server::dataset::{DatasetSpec, make_dataset};
use volary_server::options::ServerOptions;
use volary_server::serve::serve;
use volary_server::server::Server;
use volary_server::shared::{MakeDataset, Shared};
use volary_server::time::real_seconds;

use crate::http::Connection;
use crate::scripted::{Script, ScriptedDataset};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until a condition holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A server with two workers, and its address.
pub struct Running {
    pub address: SocketAddr,
    /// The script of scripted environments.
    pub script: Arc<Script>,
    shared: Arc<Shared>,
    /// Taken when the server stops.
    serving: Option<Serving>,
}

struct Serving {
    runtime: Runtime,
    stop: oneshot::Sender<()>,
    done: JoinHandle<()>,
}

impl Running {
    /// Serves a dataset, or the environments with a name.
    pub fn serving(name: &str, options: ServerOptions) -> Self {
        Running::new(named(name), options, None, None, Arc::default())
    }

    /// Serves scripted environments.
    pub fn scripted(options: ServerOptions) -> Self {
        let script = Arc::<Script>::default();
        let dataset = ScriptedDataset(Arc::clone(&script));
        let make: MakeDataset =
            Arc::new(move || Ok(Box::new(dataset.clone()) as Box<dyn TaskDataset>));
        Running::new(make, options, None, None, script)
    }

    /// Serves dummy environments, and the page in a folder.
    pub fn with_page(folder: &Path) -> Self {
        Running::with_page_and(folder, ServerOptions::default())
    }

    /// The same, with options.
    pub fn with_page_and(folder: &Path, options: ServerOptions) -> Self {
        Running::new(named("dummy"), options, None, Some(folder), Arc::default())
    }

    /// Serves dummy environments and a class.
    pub fn with_class(class: ClassOptions, options: ServerOptions) -> Self {
        Running::new(named("dummy"), options, Some(class), None, Arc::default())
    }

    fn new(
        make: MakeDataset,
        options: ServerOptions,
        class: Option<ClassOptions>,
        folder: Option<&Path>,
        script: Arc<Script>,
    ) -> Self {
        let runtime = Runtime::new().unwrap();
        let (server, listener) = runtime.block_on(async {
            let server = Server::start(options, make, real_seconds(), 2).await;
            let listener = TcpListener::bind("127.0.0.1:0").await;
            (server.unwrap(), listener.unwrap())
        });
        let class = class.map(|class| Arc::new(Class::open(class).unwrap().class));
        let page = folder.map(|folder| page(folder).unwrap());
        let address = listener.local_addr().unwrap();
        let shared = Arc::clone(&server.shared);
        let (stop, stopped) = oneshot::channel();
        let done = runtime.spawn(async move {
            let app = app(Arc::clone(&server), class, page);
            let stopped = async { drop(stopped.await) };
            serve(listener, app, &server, stopped).await;
        });
        Running {
            address,
            script,
            shared,
            serving: Some(Serving {
                runtime,
                stop,
                done,
            }),
        }
    }

    /// A new connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// The number of environments that count against the limit.
    pub fn places(&self) -> usize {
        self.shared.running()
    }

    /// Waits until this many operations run or are queued.
    pub fn wait_for_operations(&self, count: i64) {
        let operations = &self.shared.metrics.operations;
        until("the operations arrive", || operations.get() == count);
    }

    /// Waits until this many connections are open.
    pub fn wait_for_connections(&self, count: i64) {
        let connections = &self.shared.metrics.connections;
        until("connections end", || connections.get() == count);
    }

    /// Stops the server; its threads may remain if an environment hangs.
    pub fn stop(&mut self) {
        if let Some(serving) = self.serving.take() {
            let _ = serving.stop.send(());
            serving.runtime.block_on(serving.done).unwrap();
            serving.runtime.shutdown_background();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.script.end_hang();
        self.stop();
    }
}

fn named(name: &str) -> MakeDataset {
    let spec = DatasetSpec {
        name: name.into(),
        arguments: Object::new(),
        seed: 0,
    };
    make_dataset(spec).unwrap()
}
