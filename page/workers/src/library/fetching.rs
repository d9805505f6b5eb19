//! Fetches files from addresses in the worker, so that a single file is read while it is downloaded and no bytes pass
//! through the page.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::{Either, select};
use volary_core::Clock;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_protocol::RequestId;
use volary_protocol::library::{Event, Origin, RemoteFile, Unfetched};

use super::download::DownloadSource;
use volary_browser::files::streaming_download::{FetchError, StreamingDownload};
use volary_browser::http::HttpError;
use volary_library::source::Source;
use volary_library::{LibraryService, Output};

/// The minimum number of seconds between two reports of a download's progress.
const REPORT_INTERVAL: f64 = 0.1;

/// Fetches files and reads them; a single file is read while it is downloaded.
pub async fn fetch(
    service: &LibraryService,
    id: RequestId,
    origin: Origin,
    files: Vec<RemoteFile>,
    send: Rc<dyn Fn(Output)>,
) {
    let _flight = service.expect();
    let is_single = files.len() == 1;
    let mut downloads: Vec<(Text, Rc<StreamingDownload>)> = Vec::new();
    for RemoteFile { name, url } in files {
        let started = start_download(&name, &url, Rc::clone(service.clock()), Rc::clone(&send));
        let cancelled = service.cancelled(id);
        let started = match select(pin!(started), pin!(cancelled)).await {
            Either::Left((started, _)) => started,
            Either::Right(_) => break,
        };
        match started {
            Ok(file) => {
                if !is_single {
                    // An idle connection would run into the timeout.
                    let cancelled = service.cancelled(id);
                    let _ = select(pin!(file.whole()), pin!(cancelled)).await;
                }
                downloads.push((url, file));
            }
            Err(error) => send(unfetched(url, &error)),
        }
    }
    let sources = downloads
        .iter()
        .map(|(_, file)| Rc::new(DownloadSource(Rc::clone(file))) as Rc<dyn Source>);
    let reading = service.read(id, sources.collect(), origin, &*send);
    let cancelled = service.cancelled(id);
    let stop = || downloads.iter().for_each(|(_, file)| file.stop());
    if let Either::Right((_, reading)) = select(pin!(reading), pin!(cancelled)).await {
        stop();
        reading.await;
    }
    for (url, file) in &downloads {
        match file.failure() {
            None | Some(FetchError::Stopped) => {}
            Some(error) => send(unfetched(url.clone(), &error)),
        }
    }
    stop();
}

async fn start_download(
    name: &str,
    url: &str,
    clock: Rc<dyn Clock>,
    send: Rc<dyn Fn(Output)>,
) -> Result<Rc<StreamingDownload>, FetchError> {
    let (shown, reported) = (name.to_owned(), Cell::new(clock.now()));
    let progress = move |received: u64, size: Option<u64>| {
        // Chunks arrive faster than anybody can read.
        let now = clock.now();
        if now - reported.get() < REPORT_INTERVAL {
            return;
        }
        reported.set(now);
        let of = size.map_or_else(String::new, |size| format!(" of {}", size_text(size)));
        send(Output::Event(Event::Progress {
            doing: format!("Fetching {shown}: {}{of}", size_text(received)).into(),
            done: size.map(|size| received as f64 / size.max(1) as f64),
        }));
    };
    StreamingDownload::begin(name, url, progress).await
}

/// Reports why a file could not be fetched.
fn unfetched(url: Text, error: &FetchError) -> Output {
    let (status, answered) = match error {
        FetchError::Status { status } => (Some(*status), true),
        FetchError::Http {
            error: HttpError::NoReply { .. },
        } => (None, false),
        _ => (None, true),
    };
    Output::Event(Event::Unfetched(Unfetched {
        url,
        reason: error.to_string().into(),
        status,
        answered,
    }))
}
