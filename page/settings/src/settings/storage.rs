//! The **Storage** section: what this page stores in the browser, the space used, and deletion.

mod storage_page;

use volary_core::quantity::{plural, size_text};

use leptos::prelude::*;
use storage_page::{StorageContent, StoragePage, StoredSummary};

use super::section::Section;
use volary_browser::files;
use volary_browser::storage_quota;
use volary_browser::{self as browser, database::DatabaseError, network};
use volary_connections::tau_bench;
use volary_storage::unreadable::{self, RecordLocation};
use volary_storage::{self as storage, episodes, evaluations};
use volary_ui::Persistence;
use volary_ui::alert_box::AlertWords;
use volary_ui::navigation::{Page, use_pages};
use volary_ui::text::inert;

#[component]
pub(super) fn Storage() -> impl IntoView {
    let state = RwSignal::new(StoragePage::default());
    let content = Memo::new(move |_| state.with(|state| state.content().clone()));
    let shown = use_pages().shown;
    // The page keeps its state, so reload the summary when the user returns.
    Effect::new(move |_| {
        if shown.get() == Page::Settings {
            look(state);
        }
    });
    let body = move || match content.get() {
        StorageContent::Looking => view! { <p class="help">"Loading…"</p> }.into_any(),
        StorageContent::Refused { what, error } => view! { <Refused what error/> }.into_any(),
        StorageContent::Known(kept) => view! { <Known state kept/> }.into_any(),
    };
    let about = format!(
        "Everything you import, play and evaluate is stored in a database in this browser until \
         you delete it. Other pages on {} can read and change it.",
        network::page().origin
    );
    view! {
        <Section id="storage-title" title="Storage" about>
            {body}
            <button type="button" class="quiet small" on:click=move |_| look(state)>
                {"Refresh"}
            </button>
        </Section>
    }
}

#[component]
fn Refused(what: &'static str, error: DatabaseError) -> impl IntoView {
    view! {
        <div class="alert inline" role="alert">
            <AlertWords what why=error.to_string() advice=error.advice()/>
        </div>
    }
}

#[component]
fn Known(state: RwSignal<StoragePage>, kept: StoredSummary) -> impl IntoView {
    let is_asking = Memo::new(move |_| state.with(StoragePage::is_asking));
    let row = |name: &'static str, value: String| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{value}</dd>
            </div>
        }
    };
    let size = size_text(kept.size as u64);
    let episodes = format!("{}, {size}", plural(kept.episodes, "episode"));
    let room = kept.room.map(|room| {
        let (used, quota) = (size_text(room.used as u64), size_text(room.quota as u64));
        let words = format!("{used} of {quota}, by all pages of this host");
        row("Storage used", words)
    });
    let read_only = kept
        .is_read_only
        .then(|| view! { <Refused what="Storage is read-only." error=DatabaseError::Newer/> });
    let records = kept.unreadable;
    let unreadable = (!records.is_empty()).then(|| view! { <Unreadable state records/> });
    let delete = move |_| {
        if state.try_update(StoragePage::pressed_delete) != Some(true) {
            return;
        }
        browser::spawn(async move {
            match storage::forget_all().await {
                Ok(()) => {
                    tau_bench::forgotten_elsewhere();
                    look(state);
                }
                Err(error) => refuse(state, "Not everything was deleted.", error),
            }
        });
    };
    view! {
        {read_only}
        <dl class="storage-list">
            {row("Episodes", episodes)}
            {row("Evaluations", plural(kept.evaluations, "evaluation"))}
            {room}
        </dl>
        <Persistence is_promised=kept.lasting on_request=Callback::new(move |()| look(state))/>
        <div class="button-row">
            <button type="button" on:click=delete>
                {move || if is_asking.get() { "Yes, delete all" } else { "Delete all" }}
            </button>
        </div>
        <Show when=move || is_asking.get()>
            <p class="help" role="status">
                {"This deletes all stored evaluations and episodes."}
            </p>
        </Show>
        {unreadable}
    }
}

/// The list of unreadable records, with actions.
#[component]
fn Unreadable(
    state: RwSignal<StoragePage>,
    records: Vec<(RecordLocation, String)>,
) -> impl IntoView {
    let title = format!("{} cannot be read", plural(records.len(), "stored record"));
    let lines = records.iter().map(|(place, why)| {
        let line = format!("{} {}: {why}", place.store().name(), place.key());
        view! { <li dir="auto">{inert(&line)}</li> }
    });
    let lines = lines.collect_view();
    let export = move |_| {
        browser::spawn(async move {
            match unreadable::export().await {
                Ok(lines) => {
                    files::download(
                        "unreadable-records.jsonl",
                        "application/jsonl",
                        lines.as_bytes(),
                    );
                }
                Err(error) => refuse(state, "The records were not exported.", error),
            }
        });
    };
    let sure = RwSignal::new(false);
    let delete = move |_| {
        if !sure.get_untracked() {
            sure.set(true);
            return;
        }
        browser::spawn(async move {
            match unreadable::delete().await {
                Ok(()) => {
                    tau_bench::forgotten_elsewhere();
                    look(state);
                }
                Err(error) => refuse(state, "The records were not deleted.", error),
            }
        });
    };
    let label = move || {
        if sure.get() {
            "Yes, delete unreadable records"
        } else {
            "Delete unreadable records"
        }
    };
    view! {
        <section class="alert inline" aria-label="Unreadable records">
            <AlertWords
                what=title
                why="They are damaged or were stored by another version of this page."
                advice="Nothing was deleted. Export the records and report what happened; a version that can read them will show them again."
            >
                <details>
                    <summary>{"Show records"}</summary>
                    <ul>{lines}</ul>
                </details>
                <div class="button-row">
                    <button type="button" on:click=export>
                        {"Export raw records"}
                    </button>
                    <button type="button" on:click=delete>
                        {label}
                    </button>
                </div>
            </AlertWords>
        </section>
    }
}

fn refuse(state: RwSignal<StoragePage>, what: &'static str, error: DatabaseError) {
    // If the user left meanwhile, the signal is disposed of.
    state.try_update(|state| state.refused(what, error));
}

fn look(state: RwSignal<StoragePage>) {
    let Some(number) = state.try_update(StoragePage::look) else {
        return;
    };
    browser::spawn(async move {
        let looked = async {
            let listed = episodes::list().await?;
            Ok(StoredSummary {
                episodes: listed.len(),
                size: listed
                    .iter()
                    .filter_map(|episode| episode.row.bytes)
                    .sum::<u64>() as f64,
                evaluations: evaluations::list().await?.len(),
                room: storage_quota::quota().await,
                lasting: storage_quota::is_lasting().await,
                unreadable: unreadable::all(),
                is_read_only: storage::is_read_only(),
            })
        };
        let found = looked.await;
        // If the user left meanwhile, the signal is disposed of.
        state.try_update(|state| state.looked(number, found));
    });
}
