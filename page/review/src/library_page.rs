//! The library: its table, full-text search, and import.

use leptos::prelude::*;
use volary_core::quantity::{count_text, plural};

use super::chart::Charts;
use super::chosen::ChosenBar;
use super::field_mapping::{FieldMappings, Mapping, Remembered};
use super::filters::FilterBar;
use super::groups::Groups;
use super::opened_pages;
use super::progress::Progress;
use super::selection::Look;
use super::storage_dialog::StorageLine;
use super::table::Table;
use super::training::Training;
use volary_browser::files;
use volary_library_client::{LibraryClient, imports};
use volary_ui::lazy::lazy;
use volary_ui::text::inert;
use volary_view::ask::AskPlace;

/// The URL of example trajectories that are part of the site (`crates/agent/tests/example` generates them).
const EXAMPLE: &str = "#/review?url=examples/word-problems.jsonl";

#[component]
pub(super) fn LibraryPage(look: Look, training: Training) -> impl IntoView {
    let client = look.client;
    let mapping = Mapping::new(client);
    let is_empty = move || {
        client.is_listed.get()
            && client.rows.with(|rows| rows.is_empty())
            && client.readings.with(|readings| readings.is_empty())
    };
    view! {
        <section class="library" aria-label="Library">
            <Head look training/>
            <Progress client/>
            <Searching client/>
            <Report client/>
            <FieldMappings mapping/>
            <Show when=is_empty>
                <Empty/>
            </Show>
            <Show when=move || client.rows.with(|rows| !rows.is_empty())>
                <FilterBar look/>
            </Show>
            <ChosenBar look/>
            <Charts look/>
            <Behaviour look/>
            <Groups look/>
            <Table look/>
            <Remembered mapping/>
            <StorageLine look/>
        </section>
    }
}

/// The panel of behaviour, whose code is loaded when it is first opened, or the address names what it finds.
#[component]
fn Behaviour(look: Look) -> impl IntoView {
    let (is_open, wanted) = (look.behaviour.is_open, look.behaviour.wanted);
    let was_opened = Memo::new(move |former: Option<&bool>| {
        former.is_some_and(|former| *former) || is_open.get() || wanted.with(Option::is_some)
    });
    view! {
        <Show when=move || was_opened.get()>
            {lazy("the behaviour of trajectories", opened_pages::load_behaviour)}
        </Show>
    }
}

#[component]
fn Head(look: Look, training: Training) -> impl IntoView {
    let client = look.client;
    let count = move || {
        let all = client.rows.with(|rows| rows.len());
        let is_narrowed = client.matches.with(Option::is_some)
            || look.behaviour.narrowed.with(Option::is_some)
            || look.filters.with(|filters| !filters.is_empty());
        if is_narrowed {
            let shown = look.shown.with(|rows| rows.len());
            format!("{} of {}", count_text(shown), count_text(all))
        } else {
            plural(all, "trajectory")
        }
    };
    let first_run = Memo::new(move |_| training.first());
    let run = move || {
        let href = first_run.get()?;
        Some(view! {
            <a class="button" href=href>
                {"Training run"}
            </a>
        })
    };
    let has_rows = Memo::new(move |_| client.rows.with(|rows| !rows.is_empty()));
    let ask = move || {
        has_rows.get().then(|| {
            let href = move || AskPlace::New(None).to_hash(&look.query());
            view! {
                <a
                    class="button"
                    href=href
                    title="Ask a model a question about each of these trajectories; its quotes are checked"
                >
                    {"Ask"}
                </a>
            }
        })
    };
    let pick = move |_| files::pick("", move |files| imports::read(client, files));
    let pick_folder = move |_| files::pick_folder(move |files| imports::read(client, files));
    view! {
        <header class="library-head">
            <h1>{"Trajectories"}</h1>
            <SiteLabel client/>
            <p class="faint" role="status">
                {count}
            </p>
            <div class="library-search" role="search">
                <input
                    type="search"
                    id="search-trajectories"
                    aria-label="Search"
                    placeholder="Search all texts"
                    prop:value=move || client.wanted.get()
                    on:input=move |event| look.search(event_target_value(&event))
                />
            </div>
            <div class="button-row">
                {run}
                {ask}
                <button type="button" on:click=pick_folder>
                    {"Import folder"}
                </button>
                <button type="button" class="primary" on:click=pick>
                    {"Import"}
                </button>
            </div>
        </header>
    }
}

#[component]
fn Empty() -> impl IntoView {
    view! {
        <div class="empty-state">
            <h2>{"No trajectories yet"}</h2>
            <p>
                {"Drop trajectories anywhere on this page or import them. Supported are files \
                  and archives from aviary, ldp, Inspect, ATIF, tau-bench, verifiers, SWE-agent, \
                  OpenHands, Claude Code, Codex and others. Episodes that you play or evaluate \
                  here also appear. Everything stays in your browser."}
            </p>
            <a class="button" href=EXAMPLE>
                {"Open an example"}
            </a>
        </div>
    }
}

/// The link back to the library.
#[component]
pub(super) fn BackLink() -> impl IntoView {
    view! {
        <a class="back-link" href="#/review">
            "Trajectories"
        </a>
    }
}

/// The owner of the library that is published with the site.
#[component]
fn SiteLabel(client: LibraryClient) -> impl IntoView {
    move || {
        let owner = client.site.get()?;
        Some(view! {
            <p
                class="site-label"
                title="These trajectories are part of this site. They can be read and exported, but not deleted."
            >
                <span dir="auto">{inert(&owner)}</span>
                <span class="badge">{"read-only"}</span>
            </p>
        })
    }
}

#[component]
fn Searching(client: LibraryClient) -> impl IntoView {
    move || {
        let doing = client.searching.get()?;
        Some(view! {
            <p class="reading" role="status">
                {doing.to_string()}
            </p>
        })
    }
}

/// The report of the last import.
#[component]
fn Report(client: LibraryClient) -> impl IntoView {
    move || {
        let notes = client.report.get();
        let lines = notes
            .iter()
            .map(|note| view! { <li dir="auto">{inert(note)}</li> });
        (!notes.is_empty()).then(|| {
            view! {
                <details class="import-report" open=notes.len() <= 3>
                    <summary>{format!("Import report: {}", plural(notes.len(), "note"))}</summary>
                    <ul>{lines.collect_view()}</ul>
                </details>
            }
        })
    }
}
