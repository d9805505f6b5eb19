//! The dialog that exports one episode: the check for sensitive data, and a button for each format.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::sensitive;
use volary_app::export::FileFormat;
use volary_app::notice::Notice;
use volary_episode::Episode;
use volary_view::sharing_texts::OwnedFinding;

use super::dialog::Dialog;
use super::sharing_check::SharingCheck;
use volary_browser::files;

#[component]
pub fn ExportDialog(
    #[prop(into)] episode: Signal<Arc<Episode>>,
    formats: &'static [FileFormat],
    open: RwSignal<bool>,
    /// Selects the step of a finding.
    on_step: Callback<usize>,
    on_failure: Callback<Notice>,
    /// What else the user should know.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let masks = RwSignal::new(false);
    let found = Memo::new(move |_| {
        if open.get() {
            episode.with(|episode| OwnedFinding::all(sensitive::check(episode)))
        } else {
            Vec::new()
        }
    });
    let go = Callback::new(move |step| {
        open.set(false);
        on_step.run(step);
    });
    let choices = formats.iter().map(move |format| {
        let export = move |_| {
            open.set(false);
            let saved =
                episode.with_untracked(|episode| save(episode, format, masks.get_untracked()));
            if let Err(notice) = saved {
                on_failure.run(notice);
            }
        };
        view! {
            <li>
                <button type="button" on:click=export>
                    {format.name}
                </button>
                <span class="help">{format.description}</span>
            </li>
        }
    });
    view! {
        <Dialog open title="Export this episode">
            <SharingCheck found subject="This episode" masks on_step=go/>
            <ul class="choices">{choices.collect_view()}</ul>
            {children.map(|children| children())}
        </Dialog>
    }
}

/// Downloads an episode as a file, optionally masked.
pub fn save(episode: &Episode, format: &FileFormat, is_masked: bool) -> Result<(), Notice> {
    let file = format.file(episode, is_masked).map_err(|reason| {
        Notice::new(
            "The episode could not be exported in this format.",
            reason,
            "Export it as Volary JSON instead, which contains everything.",
        )
    })?;
    files::download(&file.name, file.media_type, &file.bytes);
    Ok(())
}
