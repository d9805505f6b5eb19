//! Reads files into the library: files of the user, files at addresses, and the library of the site.

use std::time::Duration;

use leptos::prelude::*;
use volary_app::library::readings::ReadingNumber;
use volary_app::library::site::SiteContent;
use volary_app::library::source::{file_name, files_with};
use volary_core::json::Text;
use volary_protocol::library::{Origin, RemoteFile, Request};

use super::{ImportSource, LibraryClient, following, site};
use crate::mappings;
use volary_browser::files::GivenFile;
use volary_browser::transferable::Attachment;
use volary_browser::{location, spawn, timers};
use volary_storage::{self as storage, episodes};

/// The timeout for a worker to stop a reading. It can stop between two slices of a file, but not within a file that it
/// must read as a whole.
const PATIENCE: Duration = Duration::from_secs(4);

/// The name of the file with the answers of models.
const ANSWERS: &str = "answers.jsonl";

/// Imports files.
pub fn read(client: LibraryClient, files: Vec<GivenFile>) {
    if !files.is_empty() {
        let number = client.begin("Reading");
        read_as(client, number, Origin::Imported, files);
    }
}

/// Shows the episodes that this page made and the browser refused to store, unless there is space for them now.
pub async fn show_unstored(client: LibraryClient) {
    if episodes::unstored().is_empty() || storage::keep_all().await.is_ok() {
        return;
    }
    let (rows, files): (_, Vec<GivenFile>) = episodes::unstored().into_iter().unzip();
    let files = files.into_iter().map(Attachment::File).collect();
    client.follow_with(&Request::ShowUnstored { rows }, files);
}

fn read_as(client: LibraryClient, number: ReadingNumber, origin: Origin, files: Vec<GivenFile>) {
    remember(client, origin, ImportSource::Files(files.clone()));
    send_mappings(client);
    let files = files.into_iter().map(Attachment::File).collect();
    let sent = client.call(&Request::Read { origin }, files);
    spawn(client.follow_reading(Some(number), sent));
}

/// Fetches a file from an absolute address and imports it. For another origin, the user must have agreed.
pub fn fetch(client: LibraryClient, url: &str, origin: Origin) {
    let number = client.begin(&format!("Fetching {url}"));
    fetch_given(client, number, url, origin);
}

/// Like [`fetch`]; `arrived` is called with the id of one trajectory of the file (counted from 1) as soon as its first
/// part was read, or with `None` if there is no such trajectory.
pub fn fetch_one(
    client: LibraryClient,
    url: &str,
    origin: Origin,
    place: usize,
    arrived: impl FnOnce(Option<Text>) + 'static,
) {
    let number = client.begin(&format!("Fetching {url}"));
    let arrived = Box::new(arrived);
    client.state.update_value(|state| {
        state.library.wait(number, place);
        state.waiters.push((number, arrived));
    });
    fetch_given(client, number, url, origin);
}

fn fetch_given(client: LibraryClient, number: ReadingNumber, url: &str, origin: Origin) {
    let (name, url) = (file_name(url).into(), url.into());
    fetch_as(client, number, origin, vec![RemoteFile { name, url }]);
}

fn fetch_as(client: LibraryClient, number: ReadingNumber, origin: Origin, files: Vec<RemoteFile>) {
    remember(client, origin, ImportSource::Remote(files.clone()));
    send_mappings(client);
    let sent = client.call(&Request::Fetch { origin, files }, Vec::new());
    spawn(client.follow_reading(Some(number), sent));
}

/// Remembers the files of a reading, so that one can be read again by a mapping.
fn remember(client: LibraryClient, origin: Origin, source: ImportSource) {
    client
        .state
        .update_value(|state| state.source = Some((origin, source)));
}

/// Sends the mappings to the worker, since another tab may have changed them.
fn send_mappings(client: LibraryClient) {
    let mappings = mappings::stored();
    client.call(&Request::Map { mappings }, Vec::new());
}

/// Reads the file of this path again, which was among those that were imported last.
pub fn read_again(client: LibraryClient, file: &str) {
    let Some((origin, source)) = client.state.with_value(|state| state.source.clone()) else {
        return;
    };
    let number = client.begin("Reading");
    match source {
        ImportSource::Files(files) => {
            let files = files_with(&files, file, |given| &given.name);
            read_as(client, number, origin, files);
        }
        ImportSource::Remote(files) => {
            let files = files_with(&files, file, |given| &given.name);
            fetch_as(client, number, origin, files);
        }
    }
}

/// Reads the library that came with the site, if one did. Returns when the worker has been told what to read.
pub async fn read_site(client: LibraryClient) {
    let Some(manifest) = location::linked("volary-library") else {
        return;
    };
    let number = client.begin("Fetching the library of this site");
    let Some(site) = site::fetch(&manifest).await else {
        client.handle(|library, _| {
            let mut effects = library.end(number);
            effects.push(library.failed(site::unreadable(&manifest)));
            effects
        });
        return;
    };
    client.site.set(Some(site.title));
    client.notes_file.set(site.notes);
    let origin = Origin::Published;
    if let Some(url) = site.answers {
        // By its name it is recognised, whatever the address is.
        let file = RemoteFile {
            name: ANSWERS.into(),
            url,
        };
        let request = Request::Fetch {
            origin,
            files: vec![file],
        };
        client.follow(&request);
    }
    match site.content {
        SiteContent::List {
            list,
            events,
            others,
        } => {
            for url in others {
                fetch(client, &url, origin);
            }
            following::begin(client, number, list, events);
        }
        SiteContent::Files(files) if files.is_empty() => {
            client.handle(|library, _| library.end(number));
        }
        SiteContent::Files(files) => fetch_as(client, number, origin, files),
    }
}

/// Cancels a reading; the trajectories read so far remain.
pub fn cancel(client: LibraryClient, number: ReadingNumber) {
    let mut request = None;
    client.handle(|library, _| {
        let (sent, effects) = library.cancel(number);
        request = sent;
        effects
    });
    if let Some(reading) = request {
        client.call(&Request::Cancel { reading }, Vec::new());
    }
    spawn(async move {
        timers::sleep(PATIENCE).await;
        if client
            .state
            .with_value(|state| state.library.must_end_worker(number))
        {
            client.handle(|library, _| library.end_worker());
            // The next worker lists what was stored.
            client.list();
            read_site(client).await;
        }
    });
}
