//! `volary embed`: serves the page on a loopback port, for frames in notebooks. `volary.show` of the Python package
//! starts it.
//!
//! Security invariants: there is nothing to read here but the files of the page. They are below a random path, so that
//! other sites can neither frame the page nor find out that it is there. The document is sent for the embedded view
//! alone, which starts without stores and handles messages of the window around it only (docs/embed.md); another
//! document would start the whole page in a frame of another site.

use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use volary_server::host::{AllowedHosts, foreign_host};

use crate::output;
use crate::page::PageSource;
use crate::serve::stop_signal;
use crate::view::{is_foreign, random};

/// Serves the page for frames in notebooks, until standard input ends.
///
/// Prints `{"url": …, "port": …}` on one line. The address shows what the page around its frame sends as messages.
#[derive(Clone, Debug, Args)]
pub struct Embed {
    /// The port of 127.0.0.1 to listen on; by default a free one
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// A folder with another build of the page, such as `cargo xtask build` writes
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
}

impl Embed {
    /// Serves the page until the program that started this one ends, or a signal to stop arrives.
    pub fn run(&self) -> Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let result = runtime.block_on(self.serve());
        runtime.shutdown_background();
        result
    }

    async fn serve(&self) -> Result<()> {
        let folder = format!("/{}/", random()?);
        let page = PageSource::find(self.page.as_deref())?
            .routes("", any(|| async { StatusCode::NOT_FOUND }))?;
        let wanted = (Ipv4Addr::LOCALHOST, self.port);
        let listener = TcpListener::bind(wanted)
            .await
            .with_context(|| format!("cannot listen on port {} (is it in use?)", self.port))?;
        let listening = listener.local_addr()?;
        output::json(&json!({
            "url": format!("http://{listening}{folder}?embed=1"),
            "port": listening.port(),
        }))?;
        let app = Router::new().nest_service(&folder, page.layer(from_fn(check)));
        tokio::select! {
            () = volary_site::serve_connections(listener, app) => {}
            signal = stop_signal() => signal?,
            _ = input_ended() => {}
        }
        Ok(())
    }
}

/// Resolves when standard input ends: its writer has ended, however that happened.
async fn input_ended() {
    let (send, receive) = oneshot::channel::<()>();
    // Not one of the runtime's threads, because a read of standard input cannot be cancelled.
    std::thread::spawn(move || {
        let mut buffer = [0; 256];
        let mut input = io::stdin().lock();
        while matches!(input.read(&mut buffer), Ok(1..)) {}
        drop(send);
    });
    let _ = receive.await;
}

/// Middleware that answers frames of the embedded view, and the requests of what runs in them.
async fn check(request: Request, next: Next) -> Response {
    if foreign_host(&AllowedHosts::default(), &request).is_some() {
        return StatusCode::MISDIRECTED_REQUEST.into_response();
    }
    let is_embedded = volary_site::is_embedded(request.uri());
    if volary_site::is_document(request.uri()) && !is_embedded {
        return StatusCode::NOT_FOUND.into_response();
    }
    let is_foreign = is_foreign(request.headers());
    match is_embedded {
        true if is_foreign && !is_frame(request.headers()) => {
            // The notebook asks whether the browser reaches this server. It learns nothing else.
            StatusCode::NO_CONTENT.into_response()
        }
        false if is_foreign => StatusCode::FORBIDDEN.into_response(),
        _ => {
            let response = next.run(request).await;
            // A path can be spelled in several ways, such as `//index.html`. No other document is needed.
            if !is_embedded && is_html(&response) {
                return StatusCode::NOT_FOUND.into_response();
            }
            kept_from_others(response)
        }
    }
}

fn is_html(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

/// Whether a browser loads a document into a frame.
fn is_frame(headers: &HeaderMap) -> bool {
    let is = |name, value: &str| {
        let header = headers.get(HeaderName::from_static(name));
        header.is_some_and(|header| header == value)
    };
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "iframe")
}

/// The response, of which other pages can read nothing.
fn kept_from_others(mut response: Response) -> Response {
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    let headers = response.headers_mut();
    headers.insert(policy, HeaderValue::from_static("same-origin"));
    response
}
