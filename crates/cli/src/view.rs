//! `volary view`: shows folders, files and addresses of trajectories in the browser, without copying anything.
//!
//! - `roots`, `beneath`: the shown files, and safe access to them. `disk`: the threads that read them.
//! - `listing`: the list of files. `files`, `heads`: their contents. `live`, `polling`: the change feed.
//! - `search`: the search in them. `notes`, `notes_api`: the notes next to them, if the user chose that. `answers`: the
//!   answers of `volary ask` next to them.
//! - `access`: authentication. `app`: the routes; `served`: their state. `failure`, `json_lines`: their responses.
//!   `browser`: opens the address. `background`: the same page for another command.

mod access;
mod answers;
mod app;
mod background;
mod beneath;
mod browser;
mod disk;
mod failure;
mod files;
mod heads;
mod json_lines;
mod listing;
mod live;
mod notes;
mod notes_api;
mod polling;
mod roots;
mod search;
mod served;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use volary_server::host::{self, AllowedHosts};

use self::access::Access;
pub use self::access::{are_equal, is_foreign, random};
use self::app::{READS, app};
pub use self::background::BackgroundView;
use self::disk::Disk;
use self::live::Live;
use self::notes::NotesFile;
pub use self::notes::{FILE as NOTES_FILE, FOLDER as NOTES_FOLDER};
use self::roots::Roots;
use self::search::SEARCHES;
use self::served::ServedLibrary;
use crate::keys;
use crate::output;
use crate::page::PageSource;
use crate::serve::{address, reachable, stop_signal};

const EXAMPLES: &str = "\
Examples:
  volary view runs/
  volary view runs/ other.eval https://example.org/log.eval
  VOLARY_API_KEY=secret volary view runs/ --host 0.0.0.0
      for other machines, which need the key";

/// The number of threads that may block while the library is served.
pub const THREADS: usize = READS + SEARCHES + 8;

/// Shows trajectories in the browser: folders of any depth, files, and addresses of files.
///
/// All formats that the page reads are recognised by content. Nothing is copied or sent anywhere. Hidden names and symbolic
/// links in folders are left out.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct View {
    /// Folders, files, and http or https addresses of files
    #[arg(required = true, value_name = "PATH|URL")]
    paths: Vec<String>,

    /// The title of the library; by default the name of the folder
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Keep notes next to the files too: in `.volary/notes.jsonl` of the first folder
    #[arg(long)]
    notes: bool,

    /// Only print the address
    #[arg(long)]
    no_open: bool,

    /// Print the address as one line of JSON, for programs; opens no browser
    #[arg(long)]
    json: bool,

    /// The address to listen on. Other machines can connect only to a public one, such as 0.0.0.0, and need a key
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS", value_parser = address)]
    host: IpAddr,

    /// The port to listen on; by default a free one
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// A key that browsers must give, instead of the random token in the printed address
    #[arg(
        long,
        env = "VOLARY_API_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    api_key: Option<String>,

    /// Answer requests for this host name too, such as the name of a reverse proxy; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host::parse_name)]
    allow_host: Vec<String>,

    /// A folder with another build of the page, such as `cargo xtask build` writes
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
}

impl View {
    /// Serves the library until the program receives a signal to stop.
    pub fn run(&self) -> Result<()> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(THREADS)
            .enable_all()
            .build()?;
        let result = runtime.block_on(self.serve());
        // Does not wait for a disk that hangs.
        runtime.shutdown_background();
        result
    }

    async fn serve(&self) -> Result<()> {
        let key = self.api_key.as_deref().filter(|key| !key.is_empty());
        if !self.host.is_loopback() && key.is_none() {
            bail!(
                "other machines can reach {}, and there is no key; set one with VOLARY_API_KEY or --api-key",
                self.host
            );
        }
        let (urls, paths): (Vec<&String>, Vec<&String>) =
            self.paths.iter().partition(|path| is_url(path));
        let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
        let roots = Arc::new(Roots::find(&paths)?);
        let title = match (&self.title, urls.as_slice()) {
            (Some(title), _) => title.clone(),
            (None, [url]) if roots.is_empty() => keys::public_part(url),
            (None, _) => roots.title(),
        };
        let source = PageSource::find(self.page.as_deref())?;
        let page = source.routes(app::HEAD, app::not_found())?;
        let entrance = source.routes(app::ENTRANCE, app::not_found())?;
        let notes = if self.notes {
            Some(NotesFile::of(&roots)?)
        } else {
            None
        };
        let shown = Arc::new(ServedLibrary {
            live: Live::watch(&roots, notes.as_ref()),
            access: Access::new(key, self.hosts())?,
            urls: urls.into_iter().cloned().collect(),
            title: title.clone(),
            disk: Disk::new(READS),
            searches: Arc::new(Semaphore::new(SEARCHES)),
            notes,
            roots,
        });
        let wanted = SocketAddr::new(self.host, self.port);
        let listener = TcpListener::bind(wanted)
            .await
            .with_context(|| format!("cannot listen on {wanted} (is the port in use?)"))?;
        let listening = listener.local_addr()?;
        keys::warn_if_visible("--api-key", "VOLARY_API_KEY");
        let place = format!("http://{}/", reachable(listening));
        let url = match key {
            // The user knows the key; it need not be printed.
            Some(_) => place.clone(),
            None => format!("{place}#token={}", shown.access.token()),
        };
        self.announce(&shown, &place, &url, listening.port())?;
        let app = app(shown, page, entrance);
        tokio::select! {
            () = volary_site::serve_connections(listener, app) => {}
            // Event streams would never end by themselves.
            signal = stop_signal() => signal?,
        }
        Ok(())
    }

    /// Prints the address of the library, for the user or as JSON.
    fn announce(&self, shown: &ServedLibrary, place: &str, url: &str, port: u16) -> Result<()> {
        if self.json {
            return output::json(&json!({ "url": url, "title": shown.title, "port": port }));
        }
        output::line(&format!("Showing {} on {url}", output::plain(&shown.title)))?;
        if let Some(line) = browser::ssh_line(port) {
            eprintln!("To open it on your own machine, run there: {line}");
        } else if !self.no_open {
            let once = format!("{place}#token={}", shown.access.token_for_one()?);
            if !browser::open(&once) {
                eprintln!("No browser could be started. Open the address above.");
            }
        }
        eprintln!("Press Ctrl-C to stop.");
        Ok(())
    }

    fn hosts(&self) -> AllowedHosts {
        if self.host.is_loopback() || !self.allow_host.is_empty() {
            AllowedHosts::LoopbackAnd(self.allow_host.clone())
        } else {
            AllowedHosts::Any
        }
    }
}

fn is_url(path: &str) -> bool {
    let scheme = path.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use super::is_url;

    #[test]
    fn addresses_and_paths_are_distinguished() {
        assert!(is_url("https://example.org/a.eval") && is_url("HTTP://localhost:1/"));
        for path in [
            "runs",
            "http",
            "http:/a",
            "file:///etc/passwd",
            "C:\\runs",
            "s3://a/b",
            "a://http://",
        ] {
            assert!(!is_url(path), "{path}");
        }
    }
}
