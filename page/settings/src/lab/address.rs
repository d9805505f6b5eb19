//! Fetches a tokenizer, a template or messages from an address. The content identifies the kind, as for dropped
//! files.
//!
//! Invariant: nothing is requested before the user presses **Fetch**.

use std::time::Duration;

use futures_util::future::{AbortHandle, abortable};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_connectivity::linked_file::LinkedFile;

use super::page::Lab;
use volary_browser::database::KeptText;
use volary_browser::files::GivenFile;
use volary_browser::http::{self, HttpError, Request, Timeouts};
use volary_browser::{location, network, spawn};
use volary_ui::field::Field;

/// The maximum size of a file, in bytes.
const LARGEST: usize = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(60);

/// The field for the address, with its button.
#[component]
pub(super) fn AddressField(lab: Lab) -> impl IntoView {
    let address = RwSignal::new(String::new());
    let is_fetching = RwSignal::new(false);
    let end: StoredValue<Option<AbortHandle>> = StoredValue::new(None);
    let fetch_file = move |event: SubmitEvent| {
        event.prevent_default();
        let typed = address.get_untracked();
        let url = match url_of(&typed) {
            Ok(url) => url,
            Err(reason) => return lab.file_error.set(Some(reason)),
        };
        lab.file_error.set(None);
        is_fetching.set(true);
        let (fetching, handle) = abortable(fetch(url));
        end.set_value(Some(handle));
        spawn(async move {
            let fetched = fetching.await;
            is_fetching.set(false);
            match fetched {
                Ok(Ok(file)) => lab.take(vec![file]),
                Ok(Err(reason)) => lab.file_error.set(Some(reason)),
                // The user cancelled it.
                Err(_) => {}
            }
        });
    };
    let cancel = move |_| {
        if let Some(handle) = end.try_update_value(Option::take).flatten() {
            handle.abort();
        }
    };
    view! {
        <form class="lab-group" aria-label="Fetch a file" novalidate on:submit=fetch_file>
            <Field id="lab-address" label="Address of a tokenizer, template or messages">
                <input
                    type="url"
                    id="lab-address"
                    autocomplete="off"
                    bind:value=address
                />
            </Field>
            <div class="button-row">
                <button type="submit" class="small" disabled=move || is_fetching.get()>
                    {"Fetch"}
                </button>
                <Show when=move || is_fetching.get()>
                    <button type="button" class="quiet small" on:click=cancel>
                        {"Cancel"}
                    </button>
                    <span role="status">{"Fetching…"}</span>
                </Show>
            </div>
        </form>
    }
}

/// Parses a typed address; the error says why nothing is fetched from it.
fn url_of(typed: &str) -> Result<String, String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err("Enter the address of a file.".to_owned());
    }
    let whole = location::whole(typed).unwrap_or_default();
    match LinkedFile::of(&whole, &network::page().origin) {
        LinkedFile::SameOrigin { url } => Ok(url),
        LinkedFile::Elsewhere(file) => Ok(file.url),
        LinkedFile::Refused(reason) => Err(reason.to_string()),
    }
}

/// Downloads a file. The error says why that failed, and what to do.
async fn fetch(url: String) -> Result<GivenFile, String> {
    let request = Request {
        method: "GET",
        url,
        ..Request::default()
    };
    let reply = http::fetch(&request, Timeouts::of(TIMEOUT), LARGEST).await;
    let url = &request.url;
    match reply {
        Ok(reply) if (200..300).contains(&reply.status) => {
            let path = url.split(['?', '#']).next().unwrap_or_default();
            let name = path.rsplit('/').next().unwrap_or_default();
            let file = GivenFile::of_text(name, &KeptText::from(reply.body));
            file.ok_or_else(|| format!("{url} was fetched, but the browser cannot hold it."))
        }
        Ok(reply) => Err(format!(
            "{url} was not fetched: the server responded with {}.",
            reply.status
        )),
        Err(HttpError::NoReply { reason }) => Err(format!(
            "{url} was not fetched: no response ({reason}). The server may not allow other sites to read it (CORS). \
             Download the file, and drop it on this page.",
        )),
        Err(error) => Err(format!("{url} was not fetched: {error}")),
    }
}
