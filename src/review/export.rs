//! The export formats of an episode, and the export dialog.

use leptos::prelude::*;
use volary_core::Json;
use volary_trajectory::export::slime::SlimeError;
use volary_trajectory::{
    Episode, export, markdown, messages_jsonl, native, renderer_files, sensitive,
};

use super::viewer::Viewer;
use crate::browser::files;
use crate::components::Dialog;
use crate::components::sharing_check::{OwnedFinding, SharingCheck};
use crate::library::client::LibraryClient;
use crate::projection::notice::Notice;
use volary_app::playground::address::file_name;

/// An export format.
struct Format {
    name: &'static str,
    /// A description for the dialog.
    words: &'static str,
    ending: &'static str,
    kind: &'static str,
    bytes: fn(&Episode) -> Result<Vec<u8>, String>,
}

static FORMATS: [Format; 11] = [
    Format {
        name: "Volary JSON",
        words: "Complete: can be imported, viewed and continued.",
        ending: "json",
        kind: "application/json",
        bytes: |episode| Ok(native::to_text(episode).into_bytes()),
    },
    Format {
        name: "Renderer files (zip)",
        words: "The frames, in the format of aviary's Renderer.",
        ending: "zip",
        kind: "application/zip",
        bytes: |episode| renderer_files::to_zip(episode).map_err(|error| error.to_string()),
    },
    Format {
        name: "Messages (JSONL)",
        words: "The conversation, in the format of chat models.",
        ending: "jsonl",
        kind: "application/jsonl",
        bytes: |episode| Ok(messages_jsonl::to_text([episode]).into_bytes()),
    },
    Format {
        name: "ATIF",
        words: "The Agent Trajectory Interchange Format.",
        ending: "atif.json",
        kind: "application/json",
        bytes: |episode| Ok(export::atif::to_text(episode, &[]).into_bytes()),
    },
    Format {
        name: "Inspect log",
        words: "Opens in Inspect View.",
        ending: "inspect.json",
        kind: "application/json",
        bytes: |episode| Ok(export::inspect::to_text(&[episode], &episode.name).into_bytes()),
    },
    Format {
        name: "ldp (JSONL)",
        words: "A trajectory in the format of ldp.",
        ending: "ldp.jsonl",
        kind: "application/jsonl",
        bytes: |episode| Ok(export::ldp::to_text(episode).into_bytes()),
    },
    Format {
        name: "slime Sample (JSONL)",
        words: "Tokens, loss mask and reward, for training.",
        ending: "sample.jsonl",
        kind: "application/jsonl",
        bytes: |episode| lines(export::slime::sample(episode)),
    },
    Format {
        name: "slime InteractionResult (JSONL)",
        words: "The same with the messages.",
        ending: "interaction.jsonl",
        kind: "application/jsonl",
        bytes: |episode| lines(export::slime::interaction(episode)),
    },
    Format {
        name: "tau-bench results (JSON)",
        words: "An array with one result, as tau-bench's scripts read it.",
        ending: "tau.json",
        kind: "application/json",
        bytes: |episode| Ok(export::tau_bench::to_text(&[episode]).into_bytes()),
    },
    Format {
        name: "Page (HTML)",
        words: "One file for any browser, without scripts.",
        ending: "html",
        kind: "text/html",
        bytes: |episode| Ok(export::html::to_text(episode).into_bytes()),
    },
    Format {
        name: "Markdown",
        words: "The conversation as text, to read or paste.",
        ending: "md",
        kind: "text/markdown",
        bytes: |episode| Ok(markdown::to_markdown(episode, 0..=usize::MAX).into_bytes()),
    },
];

fn lines(record: Result<Json, SlimeError>) -> Result<Vec<u8>, String> {
    let record = record.map_err(|error| error.to_string())?;
    Ok(export::slime::line(&record).into_bytes())
}

#[component]
pub(super) fn ExportDialog(
    client: LibraryClient,
    viewer: Viewer,
    open: RwSignal<bool>,
) -> impl IntoView {
    let masks = RwSignal::new(false);
    let found = Memo::new(move |_| match open.get() {
        true => viewer
            .shown
            .episode
            .with(|episode| OwnedFinding::all(sensitive::check(episode))),
        false => Vec::new(),
    });
    let go = Callback::new(move |step| {
        open.set(false);
        viewer.select(step);
    });
    let save = move |format: &'static Format| {
        open.set(false);
        let episode = viewer.shown.episode;
        let bytes = episode.with_untracked(|episode| match masks.get_untracked() {
            false => (format.bytes)(episode),
            true => match sensitive::masked(episode) {
                Ok(masked) => (format.bytes)(&masked),
                Err(error) => Err(error.to_string()),
            },
        });
        episode.with_untracked(|episode| match bytes {
            Ok(bytes) => {
                let name = format!("{}.{}", file_name(&episode.name), format.ending);
                files::download(&name, format.kind, &bytes);
            }
            Err(reason) => client.notice.set(Some(Notice::new(
                "The episode could not be exported in this format.",
                reason,
                "Export it as Volary JSON instead, which contains everything.",
            ))),
        });
    };
    let choices = FORMATS.iter().map(move |format| {
        view! {
            <li>
                <button type="button" on:click=move |_| save(format)>
                    {format.name}
                </button>
                <span class="help">{format.words}</span>
            </li>
        }
    });
    view! {
        <Dialog open title="Export this episode">
            <SharingCheck found subject="This episode" masks on_step=go/>
            <ul class="choices">{choices.collect_view()}</ul>
        </Dialog>
    }
}
