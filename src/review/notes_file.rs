//! Notes in the file of a server (`volary view --notes`): notes on its rows are read from there and written there.
//!
//! The browser stores them as well. A version that could not be written is sent again with the next change, and the file
//! is read again when another view has written to it. Tags of these rows are notes too.

use std::collections::BTreeSet;
use std::time::Duration;

use leptos::prelude::*;
use volary_core::json::{Json, Text};
use volary_trajectory::annotations::{Annotations, sidecar};

use super::notes::Notes;
use crate::browser::http::{self, Timeouts, Whole};
use crate::browser::spawn;
use crate::library::client::LibraryClient;
use crate::projection::notice::Notice;
use crate::storage::origin::PUBLISHED;

/// The timeout for the server.
const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum size of the file, in bytes.
const LARGEST: usize = 64 << 20;

/// The state of the exchange with the server.
#[derive(Default)]
struct Exchange {
    /// The notes that the file has; `None` until it is read.
    theirs: Option<Annotations>,
    /// Whether a request is in progress.
    is_sending: bool,
}

/// Reads the notes of the server's file, if there is one, and writes later changes to it.
pub fn keep(client: LibraryClient, notes: Notes) {
    let exchange = StoredValue::new(Exchange::default());
    let is_read = RwSignal::new(false);
    Effect::new(move |_| {
        let Some(url) = client.notes_file.get() else {
            return;
        };
        client.notes_written.track();
        spawn(async move {
            match read(&url).await {
                Ok(theirs) => {
                    exchange.update_value(|exchange| {
                        let known = exchange.theirs.get_or_insert_default();
                        known.merge(theirs.clone());
                    });
                    notes.merge(theirs);
                    is_read.set(true);
                }
                Err(why) => notes.notice.set(Some(Notice::new(
                    "The notes next to the files cannot be read.",
                    why,
                    "Notes stay in this browser. Reload the page to try again.",
                ))),
            }
        });
    });
    Effect::new(move |_| {
        if is_read.get() {
            notes.all.track();
            // Which notes belong to the server is known once their rows are.
            client.rows.track();
            send(client, notes, exchange);
        }
    });
}

/// Keeps a tag of the server's rows among these, or its removal, if the server keeps notes.
pub fn tag(client: LibraryClient, notes: Notes, ids: &[Text], tag: &str, on: bool) {
    if client.notes_file.with_untracked(Option::is_none) {
        return;
    }
    let chosen: BTreeSet<&Text> = ids.iter().collect();
    let theirs: Vec<Text> = rows_of_server(client, &chosen).into_iter().collect();
    if !theirs.is_empty() {
        notes.tag(&theirs, tag, on);
    }
}

/// Sends the versions that the file lacks, unless a request is in progress, which is followed by another one.
fn send(client: LibraryClient, notes: Notes, exchange: StoredValue<Exchange>) {
    let Some(url) = client.notes_file.get_untracked() else {
        return;
    };
    let newer = exchange.with_value(|exchange| {
        let theirs = exchange.theirs.as_ref()?;
        let all = || notes.all.with_untracked(|all| all.newer_than(theirs));
        (!exchange.is_sending).then(all)
    });
    let newer = newer.map(|newer| of_server(client, newer));
    let Some(newer) = newer.filter(|newer| newer.iter_all().next().is_some()) else {
        return;
    };
    exchange.update_value(|exchange| exchange.is_sending = true);
    spawn(async move {
        let written = write(&url, &newer).await;
        exchange.update_value(|exchange| {
            exchange.is_sending = false;
            if let (Ok(()), Some(theirs)) = (&written, &mut exchange.theirs) {
                theirs.merge(newer);
            }
        });
        match written {
            Ok(()) => send(client, notes, exchange),
            Err(why) => notes.notice.set(Some(Notice::new(
                "The note cannot be written next to the files.",
                why,
                "It is stored in this browser, and written with the next change.",
            ))),
        }
    });
}

/// The notes on rows of the server.
fn of_server(client: LibraryClient, notes: Annotations) -> Annotations {
    let annotated: BTreeSet<&Text> = notes.iter_all().map(|note| &note.episode).collect();
    let theirs = rows_of_server(client, &annotated);
    let notes = notes.iter_all();
    let kept = notes.filter(|note| theirs.contains(&note.episode));
    kept.cloned().collect()
}

/// Those of these rows that are the server's.
fn rows_of_server(client: LibraryClient, ids: &BTreeSet<&Text>) -> BTreeSet<Text> {
    client.rows.with_untracked(|rows| {
        let rows = rows.iter();
        let theirs = rows.filter(|row| row.origin.as_deref() == Some(PUBLISHED));
        let among = theirs.filter(|row| ids.contains(&row.id));
        among.map(|row| row.id.clone()).collect()
    })
}

async fn read(url: &str) -> Result<Annotations, String> {
    let answer = exchanged("GET", url, None).await?;
    let reading = sidecar::read(&answer).map_err(|error| error.to_string())?;
    Ok(reading.annotations)
}

async fn write(url: &str, notes: &Annotations) -> Result<(), String> {
    let body = sidecar::to_text(notes);
    exchanged("POST", url, Some(body)).await.map(drop)
}

/// The body of the response, or why there is none.
async fn exchanged(
    method: &'static str,
    url: &str,
    body: Option<String>,
) -> Result<String, String> {
    let request = http::Request {
        method,
        url: url.to_owned(),
        headers: vec![("Content-Type", "application/json".to_owned())],
        body,
        own_cookies: true,
    };
    let answer = http::fetch(&request, Timeouts::of(PATIENCE), LARGEST).await;
    let Whole { status, body } = answer.map_err(|error| error.to_string())?;
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let why = Json::parse(&body).ok();
    let why = why.and_then(|why| Some(why.get("error")?.as_text()?.to_string()));
    Err(why.unwrap_or_else(|| format!("The server answered {status}.")))
}
