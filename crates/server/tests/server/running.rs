//! A server that runs for the time of a test.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::{Mutex, atomic::Ordering};

use volary_core::dataset::TaskDataset;
use volary_core::json::Object;
use volary_server::app::app;
use volary_server::dataset::{Wanted, make_dataset};
use volary_server::listen::{Listening, listen};
use volary_server::options::ServerOptions;
use volary_server::page::page;
use volary_server::server::{MakeDataset, Server};
use volary_server::time::real_seconds;

use crate::http::Connection;
use crate::odd::OddDataset;

/// A server and where it listens.
pub struct Running {
    pub address: SocketAddr,
    pub server: Arc<Server>,
    /// The odd environments that were closed, by name.
    pub closed: Arc<Mutex<Vec<String>>>,
    listening: Option<Listening>,
}

impl Running {
    /// Serves a dataset or the environments of a name.
    pub fn serving(name: &str, options: ServerOptions) -> Self {
        let wanted = Wanted {
            name: name.into(),
            arguments: Object::new(),
            seed: 0,
        };
        Running::new(make_dataset(wanted).unwrap(), options, None)
    }

    /// Serves odd environments.
    pub fn odd(options: ServerOptions) -> Self {
        let dataset = OddDataset::default();
        let closed = Arc::clone(&dataset.closed);
        let make: MakeDataset =
            Arc::new(move || Ok(Box::new(dataset.clone()) as Box<dyn TaskDataset>));
        let mut running = Running::new(make, options, None);
        running.closed = closed;
        running
    }

    /// Serves dummies, and the page in a folder.
    pub fn with_page(folder: &Path) -> Self {
        let wanted = Wanted {
            name: "dummy".into(),
            arguments: Object::new(),
            seed: 0,
        };
        let make = make_dataset(wanted).unwrap();
        Running::new(make, ServerOptions::default(), Some(folder))
    }

    fn new(make: MakeDataset, options: ServerOptions, folder: Option<&Path>) -> Self {
        let (server, commands) = Server::new(options, make, real_seconds(), 2);
        let app = app(
            Arc::clone(&server),
            folder.map(|folder| page(folder).unwrap()),
        );
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let listening = listen(socket, &server, commands, &app).unwrap();
        Running {
            address,
            server,
            closed: Arc::default(),
            listening: Some(listening),
        }
    }

    /// A new connection. They come to the two workers in turn.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// How many environments hold a place.
    pub fn places(&self) -> usize {
        self.server.running.load(Ordering::Relaxed)
    }

    /// Stops; gives whether all ended in time.
    pub fn stop(&mut self) -> bool {
        self.listening.take().is_none_or(Listening::stop)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}
