//! The page of `volary view`, served by another command while it runs.
//!
//! Invariant: it listens on the loopback address of this machine, on a free port.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use volary_server::host::AllowedHosts;

use super::access::Access;
use super::app::{self, READS};
use super::disk::Disk;
use super::live::Live;
use super::roots::Roots;
use super::search::SEARCHES;
use super::served::ServedLibrary;
use crate::page::PageSource;

/// A served library.
pub struct BackgroundView {
    port: u16,
    shown: Arc<ServedLibrary>,
}

impl BackgroundView {
    /// Serves paths until the runtime ends. `page` is the folder of another build of the page.
    ///
    /// # Errors
    /// If a path cannot be read, there is no page, or no port is free.
    pub async fn start(paths: &[PathBuf], page: Option<&Path>) -> Result<BackgroundView> {
        let source = PageSource::find(page)?;
        let entrance = source.routes(app::ENTRANCE, app::not_found())?;
        let page = source.routes(app::HEAD, app::not_found())?;
        let roots = Arc::new(Roots::find(paths)?);
        let shown = Arc::new(ServedLibrary {
            live: Live::watch(&roots, None),
            access: Access::new(None, AllowedHosts::default())?,
            urls: Vec::new(),
            title: roots.title(),
            disk: Disk::new(READS),
            searches: Arc::new(Semaphore::new(SEARCHES)),
            notes: None,
            roots,
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("cannot listen on a port of 127.0.0.1")?;
        let port = listener.local_addr()?.port();
        let app = app::app(shown.clone(), page, entrance);
        tokio::spawn(volary_site::serve_connections(listener, app));
        Ok(BackgroundView { port, shown })
    }

    /// The address of a place in the page, such as `/review`, with the token that lets a browser in.
    pub fn address(&self, place: &str) -> String {
        let place = utf8_percent_encode(place, NON_ALPHANUMERIC);
        let token = self.shown.access.token();
        format!("http://127.0.0.1:{}/#token={token}&to={place}", self.port)
    }
}
