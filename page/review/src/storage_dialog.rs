//! The storage that the library uses, and the space available.

use leptos::prelude::*;
use volary_core::quantity::{plural, size_text};

use super::selection::Look;
use volary_browser::{self as browser, storage_quota};
use volary_ui::{Dialog, Persistence};

/// The state of the browser's storage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    quota: Option<storage_quota::Quota>,
    is_lasting: bool,
}

/// The storage line below the table, and its dialog.
#[component]
pub(super) fn StorageLine(look: Look) -> impl IntoView {
    let open = RwSignal::new(false);
    let found = RwSignal::new(None);
    let total = Memo::new(move |_| {
        look.client.rows.with(|rows| {
            let bytes = rows.iter().filter_map(|row| row.bytes).sum::<u64>();
            (rows.len(), bytes)
        })
    });
    let show = move |_| {
        ask(found);
        open.set(true);
    };
    let line = move || {
        let (count, bytes) = total.get();
        format!("{}, {}", plural(count, "trajectory"), size_text(bytes))
    };
    let sizes = move || {
        let (count, bytes) = total.get();
        format!(
            "Storage used by {}: {}. The column Size shows the size of each. Select rows in the table to delete \
             them.",
            plural(count, "trajectory"),
            size_text(bytes)
        )
    };
    let choose_all = move |_| {
        open.set(false);
        look.filters.set(Vec::new());
        look.choose_all(true);
    };
    view! {
        <div class="library-storage">
            <Show when=move || total.with(|(count, _)| *count != 0)>
                <footer class="library-foot">
                    <span>{line}</span>
                    <button type="button" class="quiet small" on:click=show>
                        {"Storage"}
                    </button>
                </footer>
            </Show>
            <Dialog open title="Storage">
                <p>{sizes}</p>
                {move || found.get().map(|known| view! { <OfBrowser found known/> })}
                <div class="button-row">
                    <button type="button" on:click=choose_all>
                        {"Select all"}
                    </button>
                </div>
            </Dialog>
        </div>
    }
}

/// The storage of the whole origin, as the browser reports it.
#[component]
fn OfBrowser(found: RwSignal<Option<Found>>, known: Found) -> impl IntoView {
    let quota = known.quota.map(|quota| {
        let text = format!(
            "Storage used by all pages of this host: {} of {}.",
            size_text(quota.used as u64),
            size_text(quota.quota as u64)
        );
        view! { <p>{text}</p> }
    });
    view! {
        {quota}
        <Persistence is_promised=known.is_lasting on_request=Callback::new(move |()| ask(found))/>
    }
}

fn ask(found: RwSignal<Option<Found>>) {
    browser::spawn(async move {
        let known = Found {
            quota: storage_quota::quota().await,
            is_lasting: storage_quota::is_lasting().await,
        };
        // If the user left meanwhile, the signal is disposed of.
        let _ = found.try_set(Some(known));
    });
}
