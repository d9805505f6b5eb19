//! Follows the files of a site that change, as those of `volary view` do. [`volary_app::library::live`] decides when what is
//! read again.

use std::time::Duration;

use leptos::prelude::*;
use volary_app::library::live::{Effect, LiveFiles};
use volary_app::library::readings::ReadingNumber;
use volary_app::library::site::{SiteChanges, SiteEvent};
use volary_core::json::Text;
use volary_protocol::library::{FileList, Origin, Request};

use super::LibraryClient;
use super::site::OfBrowser;
use volary_browser::{event_source, spawn, timers};

/// Reads the list of files, and follows what changes from now on.
pub(super) fn begin(
    client: LibraryClient,
    number: ReadingNumber,
    list: FileList,
    events: Option<Text>,
) {
    let effects = client.state.try_update_value(|state| {
        state.list = Some(list.clone());
        state.events = events;
        state.live.begin()
    });
    carry_out(client, effects.unwrap_or_default());
    read(
        client,
        Some(number),
        Request::FetchList {
            origin: Origin::Published,
            list,
        },
    );
}

/// Handles the events of an address, for the life of the page.
fn listen(client: LibraryClient, events: Text) {
    event_source::listen(&events.clone(), &SiteEvent::NAMES, move |name, data| {
        let event = SiteEvent::read(&events, name, &data, &OfBrowser);
        if event.has_notes() {
            client.notes_written.update(|count| *count += 1);
        }
        update(client, |live, now| match event {
            SiteEvent::Changes(SiteChanges { changed, gone, .. }) => {
                live.changes(changed, gone, now)
            }
            SiteEvent::Reload => live.reload(now),
        });
    });
}

fn update(client: LibraryClient, change: impl FnOnce(&mut LiveFiles, f64) -> Vec<Effect>) {
    let now = timers::now();
    let effects = client
        .state
        .try_update_value(|state| change(&mut state.live, now));
    carry_out(client, effects.unwrap_or_default());
}

fn carry_out(client: LibraryClient, effects: Vec<Effect>) {
    for effect in effects {
        match effect {
            Effect::Listen => {
                if let Some(events) = client.state.with_value(|state| state.events.clone()) {
                    listen(client, events);
                }
            }
            Effect::Refresh(changes) => {
                let list = client.state.with_value(|state| state.list.clone());
                read(
                    client,
                    None,
                    Request::Refresh {
                        origin: Origin::Published,
                        changes,
                        heads: list.and_then(|list| list.heads),
                    },
                );
            }
            Effect::Reload => {
                let list = client.state.with_value(|state| state.list.clone());
                if let Some(list) = list {
                    let origin = Origin::Published;
                    read(client, None, Request::FetchList { origin, list });
                }
            }
            Effect::Wake(wait) => spawn(async move {
                timers::sleep(Duration::from_secs_f64(wait)).await;
                update(client, LiveFiles::woken);
            }),
        }
    }
}

/// Sends a request, and tells when it was carried out.
fn read(client: LibraryClient, number: Option<ReadingNumber>, request: Request) {
    let sent = client.call(&request, Vec::new());
    spawn(async move {
        client.follow_reading(number, sent).await;
        update(client, LiveFiles::done);
    });
}
