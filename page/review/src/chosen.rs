//! Actions on the trajectories that are selected in the table.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_analysis::csv;
use volary_analysis::sensitive::{check_document, masked_document};
use volary_analysis::table::{Column, choices};
use volary_core::quantity::plural;
use volary_view::route::{ReviewPlace, Route};
use volary_view::sharing_texts::OwnedFinding;

use super::export_chosen::ExportChosenDialog;
use super::grid_page::MOST;
use super::notes_file;
use super::selection::{Look, sampled};
use volary_browser::{files, location};
use volary_ui::Dialog;
use volary_ui::sharing_check::{CheckedExport, CheckedExportDialog};

/// The maximum number of known tags that are suggested.
const MOST_TAGS: usize = 50;

/// The toolbar, which is visible while rows are selected.
#[component]
pub(super) fn ChosenBar(look: Look) -> impl IntoView {
    view! {
        <Show when=move || look.chosen.with(|chosen| !chosen.is_empty())>
            <Bar look/>
        </Show>
    }
}

#[component]
fn Bar(look: Look) -> impl IntoView {
    let count = move || look.chosen.with(|chosen| chosen.len());
    let compare = move |_| {
        let mut ids = look.chosen_ids().into_iter().map(|id| id.to_string());
        let place = ReviewPlace {
            episode: ids.next(),
            beside: ids.collect(),
            ..ReviewPlace::default()
        };
        location::go(&Route::Review(place).to_hash());
    };
    let deleting = RwSignal::new(false);
    let checked = CheckedExport::new();
    let exporting = RwSignal::new(false);
    view! {
        <div class="chosen-bar" role="group" aria-label="Selected trajectories">
            <span role="status">
                {move || format!("{} selected", plural(count(), "trajectory"))}
            </span>
            <div class="button-row">
                <button
                    type="button"
                    disabled=move || !(2..=MOST).contains(&count())
                    title="Two trajectories are aligned step by step; up to 24 are shown as a grid"
                    on:click=compare
                >
                    {"Compare"}
                </button>
                <button type="button" on:click=move |_| exporting.set(true)>
                    {"Export"}
                </button>
                <button
                    type="button"
                    title="Save the selected rows with the visible columns"
                    on:click=move |_| save_table(look, checked)
                >
                    {"Save as CSV"}
                </button>
                <button type="button" class="quiet" on:click=move |_| deleting.set(true)>
                    {"Delete"}
                </button>
                <button type="button" class="quiet" on:click=move |_| look.choose_all(false)>
                    {"Clear selection"}
                </button>
            </div>
            <TagForm look/>
            <DeleteDialog look open=deleting/>
            <ExportChosenDialog look checked open=exporting/>
            <CheckedExportDialog export=checked/>
        </div>
    }
}

/// Adds or removes a tag of the selected rows.
#[component]
fn TagForm(look: Look) -> impl IntoView {
    let tag = RwSignal::new(String::new());
    let mark = move |on: bool| {
        let word = tag.get_untracked().trim().to_owned();
        if !word.is_empty() {
            let ids = look.chosen_ids();
            notes_file::tag(look.client, look.notes, &ids, &word, on);
            look.client.tag(ids, &word, on);
            tag.set(String::new());
        }
    };
    let known = move || {
        let tags = look
            .client
            .rows
            .with(|rows| choices(sampled(rows), &Column::Tags, MOST_TAGS));
        let tags = tags.into_iter();
        tags.map(|(tag, count)| view! { <option value=tag>{count.to_string()}</option> })
            .collect_view()
    };
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        mark(true);
    };
    view! {
        <form class="tag-form" aria-label="Tags" novalidate on:submit=submitted>
            <input
                type="text"
                aria-label="Tag"
                placeholder="Tag"
                list="known-tags"
                bind:value=tag
            />
            <datalist id="known-tags">{known}</datalist>
            <button type="submit">{"Add tag"}</button>
            <button type="button" on:click=move |_| mark(false)>
                {"Remove tag"}
            </button>
        </form>
    }
}

/// The confirmation dialog: a deletion cannot be undone.
#[component]
fn DeleteDialog(look: Look, open: RwSignal<bool>) -> impl IntoView {
    let question = move || {
        let rows = look.client.rows;
        look.chosen
            .with(|chosen| rows.with(|rows| chosen.deletion_text(rows)))
    };
    let delete = move |_| {
        open.set(false);
        look.client.forget(look.chosen_ids());
        look.choose_all(false);
    };
    view! {
        <Dialog open title="Delete trajectories">
            <p>{question}</p>
            <div class="button-row">
                <button type="button" on:click=move |_| open.set(false)>
                    {"Cancel"}
                </button>
                <button type="button" class="danger" on:click=delete>
                    {"Delete"}
                </button>
            </div>
        </Dialog>
    }
}

/// Exports the selected rows with the visible columns.
fn save_table(look: Look, checked: CheckedExport) {
    let rows = look.chosen_rows();
    let text = look
        .columns
        .with_untracked(|columns| csv::to_text(rows.iter().map(AsRef::as_ref), columns));
    let found = OwnedFinding::all(check_document(&text));
    checked.save("The table", found, move |is_masked| {
        let masked = is_masked.then(|| masked_document(&text));
        let text = masked.as_ref().unwrap_or(&text);
        files::download("trajectories.csv", "text/csv", text.as_bytes());
    });
}
