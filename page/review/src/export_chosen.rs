//! The export of several trajectories: the choice of a format, and the check before it.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::annotations::{Annotations, sidecar};
use volary_analysis::sensitive::check_document;
use volary_analysis::table::Row;
use volary_analysis::training::Catalog;
use volary_core::json::Text;
use volary_core::quantity::plural;
use volary_protocol::library::{ExportFormat, FoundRun, Request, TaggedEpisode};
use volary_view::sharing_texts::OwnedFinding;

use super::found_runs::{findings_title, found_runs};
use super::selection::Look;
use volary_library_client::requests;
use volary_ui::Dialog;
use volary_ui::sharing_check::CheckedExport;

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    File(ExportFormat),
    Findings,
}

/// A choice, its name, and a description.
const CHOICES: [(Choice, &str, &str); 4] = [
    (
        Choice::File(ExportFormat::Volary),
        "Volary (JSON Lines)",
        "Complete but for notes, which have a file of their own: can be imported, viewed and continued.",
    ),
    (
        Choice::File(ExportFormat::Parquet),
        "Rows (Parquet)",
        "Messages, reward, task, metadata, tokens, mask and streams: a data set for pandas, datasets and trainers.",
    ),
    (
        Choice::File(ExportFormat::Rows),
        "Rows (JSON Lines)",
        "The same rows, one JSON object a line.",
    ),
    (
        Choice::Findings,
        "Findings (HTML page)",
        "Notes, the steps that they are on, figures, and the curves of the training run: one file to send to others.",
    ),
];

/// The choice of a format for the selected trajectories.
#[component]
pub(super) fn ExportChosenDialog(
    look: Look,
    checked: CheckedExport,
    open: RwSignal<bool>,
) -> impl IntoView {
    let choices = CHOICES.into_iter().map(move |(choice, name, words)| {
        let choose = move |_| {
            open.set(false);
            export(look, checked, choice);
        };
        view! {
            <li>
                <button type="button" on:click=choose>
                    {name}
                </button>
                <span class="help">{words}</span>
            </li>
        }
    });
    view! {
        <Dialog open title="Export the selected trajectories">
            <ul class="choices">{choices.collect_view()}</ul>
        </Dialog>
    }
}

/// Exports the selected trajectories as one file.
fn export(look: Look, checked: CheckedExport, choice: Choice) {
    let rows = look.chosen_rows();
    match choice {
        Choice::File(format) => {
            let save = move |episodes, is_masked| {
                look.client.follow(&Request::Export {
                    episodes,
                    format,
                    is_masked,
                });
            };
            check(look, checked, tagged(&rows), Vec::new(), save);
        }
        Choice::Findings => findings(look, checked, &rows, runs_of(look, &rows)),
    }
}

/// Exports a page of what was found in some trajectories, and in training runs.
pub(super) fn findings(look: Look, checked: CheckedExport, rows: &[Arc<Row>], runs: Vec<FoundRun>) {
    let notes: Annotations = look.notes.all.with_untracked(|notes| {
        let own = rows.iter().flat_map(|row| notes.of_episode(&row.id));
        own.cloned().collect()
    });
    let texts = notes.iter().map(|note| note.text.to_string());
    let found = OwnedFinding::all(check_document(&texts.collect::<Vec<_>>().join("\n")));
    let notes = Text::from(sidecar::to_text(&notes));
    let title = findings_title(&runs);
    let save = move |episodes, is_masked| {
        look.client.follow(&Request::ExportFindings {
            title: title.clone(),
            episodes,
            runs: runs.clone(),
            claims: Vec::new(),
            notes: notes.clone(),
            is_masked,
        });
    };
    check(look, checked, tagged(rows), found, save);
}

/// The episodes of rows, with the tags that only the page knows.
fn tagged(rows: &[Arc<Row>]) -> Vec<TaggedEpisode> {
    let episodes = rows.iter().map(|row| TaggedEpisode {
        id: row.id.clone(),
        tags: row.tags.clone(),
    });
    episodes.collect()
}

/// The training runs that rows belong to, with all of their rows.
fn runs_of(look: Look, rows: &[Arc<Row>]) -> Vec<FoundRun> {
    let folder = look.client.site.get_untracked();
    let catalog = look.rows.with_untracked(|all| Catalog::within(folder, all));
    found_runs(&catalog, rows)
}

/// Looks for what should perhaps not be shared, and saves after the user's decision.
fn check(
    look: Look,
    checked: CheckedExport,
    episodes: Vec<TaggedEpisode>,
    more: Vec<OwnedFinding>,
    save: impl Fn(Vec<TaggedEpisode>, bool) + Send + Sync + 'static,
) {
    let client = look.client;
    client.said.set(format!(
        "Checking {} before the export.",
        plural(episodes.len(), "trajectory")
    ));
    requests::find_sensitive(client, episodes.clone(), move |found| {
        client.said.set(String::new());
        let found = found.into_iter().map(|one| OwnedFinding {
            owner: Some(one.name),
            finding: one.finding,
        });
        let found = found.chain(more).collect();
        checked.save("The selection", found, move |is_masked| {
            save(episodes.clone(), is_masked);
        });
    });
}
