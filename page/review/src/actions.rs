//! Actions on an episode in Review: link, copy, check, continue, export, and print.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::annotations::Target;
use volary_analysis::sensitive;
use volary_app::export;
use volary_app::notice::Notice;
use volary_app::playground::replay_check::{CheckNumber, ReplayCheck, ReplayVerdict};
use volary_app::playground::sharing::{self, What};
use volary_episode::Episode;
use volary_export::markdown;
use volary_view::passage_link;
use volary_view::route::{ReviewPlace, Route, TemplatePlace};
use volary_view::sharing_texts::OwnedFinding;

use super::link_reach::LinkReach;
use super::quote::selected_passage;
use super::viewer::Viewer;
use volary_browser::{location, printer, spawn};
use volary_library_client::{LibraryClient, requests};
use volary_playground::code_consent::{self, code_consent};
use volary_playground::entries;
use volary_playground::second_run::{self, Code, is_own, python_source};
use volary_playground::share_links::share_link;
use volary_playground::state::Playground;
use volary_playground::url_sync;
use volary_ui::export_dialog::save;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::navigation::use_pages;
use volary_ui::sharing_check::{CheckedExport, CheckedExportDialog, SharingCheck};
use volary_ui::{CopyButton, Dialog, ExportDialog};
use volary_view::review::forked::forked;

/// The buttons and the export dialog.
#[component]
pub(super) fn Actions(
    client: LibraryClient,
    viewer: Viewer,
    playground: Playground,
) -> impl IntoView {
    let episode = viewer.shown.episode;
    let known = Memo::new(move |_| episode.with(|episode| can_go_on(playground, episode)));
    let unless_unknown = move |does: &'static str| {
        move || {
            if known.get() {
                does
            } else {
                "This page does not have its environment, so it cannot be continued"
            }
        }
    };
    let exporting = RwSignal::new(false);
    let show = Callback::new(move |notice| client.notice.set(Some(notice)));
    let is_checking = Memo::new(move |_| viewer.check.with(ReplayCheck::is_running));
    let asking = RwSignal::new(false);
    let run_python = Callback::new(move |code| check_python(playground, viewer, code));
    let start = move |_| {
        let shown = episode.get_untracked();
        match python_source(&shown) {
            None => check(client, viewer),
            Some(source) if is_own(&source) => run_python.run(Code::Recorded),
            Some(_) => asking.set(true),
        }
    };
    let step_as_markdown = move || {
        let step = viewer.shown.selected.get_untracked();
        let text = episode.with_untracked(|episode| markdown::to_markdown(episode, step..=step));
        viewer.note_copied(text)
    };
    let whole_as_markdown = move || {
        let text = episode.with_untracked(|episode| markdown::to_markdown(episode, 0..=usize::MAX));
        viewer.note_copied(text)
    };
    let pages = use_pages();
    let link = move || {
        let place = link_here(viewer, &pages.route.get_untracked());
        let origin = place.episode.as_deref().and_then(|id| client.origin_of(id));
        let reach = LinkReach::of(&place, origin.as_deref());
        viewer.linked_alone.set(reach == LinkReach::ThisBrowser);
        location::address_with(&place.to_hash())
    };
    let to_lab = move |_| {
        let id = episode.with_untracked(|episode| episode.id.to_string());
        let place = TemplatePlace {
            input: None,
            episode: Some(id),
        };
        location::go(&place.to_hash());
    };
    // The listener must run before the button takes the focus, which clears the selection.
    view! {
        <span
            title="Link to the selected text or step"
            on:mousedown=|event| event.prevent_default()
        >
            <CopyButton text=link label="Copy link"/>
        </span>
        <span title="Copy the selected step as Markdown">
            <CopyButton text=step_as_markdown label="Copy step"/>
        </span>
        <span title="Copy the whole episode as Markdown">
            <CopyButton text=whole_as_markdown label="Copy all"/>
        </span>
        <button
            type="button"
            class="quiet"
            title="Show it in large type, step by step"
            on:click=move |_| viewer.presenting.set(true)
        >
            {"Present"}
        </button>
        <button type="button" class="quiet" on:click=|_| printer::print()>
            {"Print"}
        </button>
        <button type="button" on:click=move |_| exporting.set(true)>
            {"Export"}
        </button>
        <button
            type="button"
            title=unless_unknown("Replay the recorded actions and compare the results")
            disabled=move || !known.get() || is_checking.get()
            on:click=start
        >
            {"Check"}
        </button>
        <button
            type="button"
            title=unless_unknown("View it there and continue from any step")
            disabled=move || !known.get()
            on:click=move |_| url_sync::visit(playground, Episode::clone(&episode.get_untracked()))
        >
            {"Open in the playground"}
        </button>
        <button
            type="button"
            class="quiet"
            title="See how its messages become the text that a model reads (chat template)"
            on:click=to_lab
        >
            {"Template lab"}
        </button>
        <span>
            <ExportDialog
                episode
                formats=&export::ALL
                open=exporting
                on_step=Callback::new(move |step| viewer.select(step))
                on_failure=show
            />
            <CodeDialog viewer open=asking agree=run_python/>
        </span>
    }
}

/// Runs the code of a Python episode a second time and shows whether the results are the same.
pub(super) fn check_python(playground: Playground, viewer: Viewer, code: Code) {
    let number = begin_check(viewer);
    let episode = viewer.shown.episode.get_untracked();
    spawn(async move {
        let found = second_run::run(playground, episode, code).await;
        end_check(viewer, number, found, |notice| playground.alert(notice));
    });
}

fn begin_check(viewer: Viewer) -> CheckNumber {
    let episode = viewer.shown.episode;
    let id = episode.with_untracked(|episode| episode.id.clone());
    let number = viewer.check.try_update(|check| check.begin(id));
    number.unwrap_or_default()
}

/// Shows the result of a check, unless it no longer counts. `report` shows why there is none.
fn end_check(
    viewer: Viewer,
    number: CheckNumber,
    found: Result<ReplayVerdict, String>,
    report: impl FnOnce(Notice),
) {
    let ended = viewer
        .check
        .try_update(|check| check.end(number, found.clone()));
    if ended != Some(true) {
        return;
    }
    match found {
        Ok(verdict) => verdict
            .step
            .into_iter()
            .for_each(|step| viewer.select(step)),
        Err(reason) => report(Notice::new(
            "This episode cannot be replayed.",
            reason,
            "It can still be read, compared and exported.",
        )),
    }
}

/// Shows the code of a Python episode and asks whether to run it.
#[component]
fn CodeDialog(viewer: Viewer, open: RwSignal<bool>, agree: Callback<Code>) -> impl IntoView {
    let content = move || {
        open.get().then(|| {
            let episode = viewer.shown.episode.get_untracked();
            let code = episode.recipe.as_ref().map(code_consent);
            let run = move |_| {
                open.set(false);
                agree.run(Code::Recorded);
            };
            view! {
                {code}
                <div class="button-row">
                    <button type="button" on:click=move |_| open.set(false)>
                        {"Don't run"}
                    </button>
                    <button type="button" class="primary" on:click=run>
                        {"Run this code"}
                    </button>
                </div>
            }
        })
    };
    view! {
        <Dialog open title=code_consent::TITLE>
            {content}
        </Dialog>
    }
}

/// Replays the episode and shows whether the results are the same.
fn check(client: LibraryClient, viewer: Viewer) {
    let number = begin_check(viewer);
    let episode = viewer.shown.episode;
    let id = episode.with_untracked(|episode| episode.id.clone());
    requests::check(client, &id, move |checked| {
        let found = checked.map(|(words, step)| ReplayVerdict { words, step });
        let found = found.map_err(|error| error.to_string());
        end_check(viewer, number, found, |notice| {
            client.notice.set(Some(notice))
        });
    });
}

/// Returns whether this page has the environment of an episode, so that the episode can be continued.
pub fn can_go_on(playground: Playground, episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    recipe.is_some_and(|recipe| entries::entry(playground, &recipe.environment).is_some())
        || python_source(episode).is_some()
}

/// Continues from a step in the playground, manually or with a policy. The trajectory stays unchanged; the new
/// episode links to it.
pub fn fork(viewer: Viewer, playground: Playground, step: usize) {
    let original = viewer.shown.episode.get_untracked();
    url_sync::visit(playground, forked(&original, step));
    // The fork starts at the selected step, not at the beginning.
    playground.selected().set(step);
}

/// A dismissible note that a copied link works only in this browser, with alternatives that work elsewhere.
#[component]
pub(super) fn LinkNote(
    client: LibraryClient,
    viewer: Viewer,
    playground: Playground,
) -> impl IntoView {
    let episode = viewer.shown.episode;
    let share = move || episode.with_untracked(|episode| share_offer(viewer, playground, episode));
    let checked = CheckedExport::new();
    let save_page = move |_| {
        let episode = episode.get_untracked();
        let found = OwnedFinding::all(sensitive::check(&episode));
        checked.save("This episode", found, move |is_masked| {
            if let Err(notice) = save(&episode, &export::HTML, is_masked) {
                client.notice.set(Some(notice));
            }
        });
    };
    view! {
        <Show when=move || viewer.linked_alone.get()>
            <div class="link-note" role="status" aria-label="Link">
                <p>
                    {"This trajectory is only in this browser, so the link works nowhere else. To \
                      show it to others, send it as an HTML page or share its actions."}
                </p>
                <button type="button" class="small" on:click=save_page>
                    {"Save as HTML page"}
                </button>
                {share()}
                <button
                    type="button"
                    class="quiet small icon-button"
                    on:click=move |_| viewer.linked_alone.set(false)
                >
                    <NamedIcon glyph=Glyph::Close name="Dismiss"/>
                </button>
            </div>
        </Show>
        <CheckedExportDialog export=checked/>
    }
}

/// A button that copies a link with the actions of an episode, and the sensitive data found in it; `None` if there can
/// be no link.
fn share_offer(
    viewer: Viewer,
    playground: Playground,
    episode: &Arc<Episode>,
) -> Option<impl IntoView + use<>> {
    let step = viewer.shown.selected.get_untracked();
    let part = Arc::new(sharing::part(episode, What::Actions));
    let link = move |is_masked| share_link(&part, None, Some(step), is_masked);
    if !can_go_on(playground, episode) || link(false).is_err() {
        return None;
    }
    let part = sharing::part(episode, What::Actions);
    let found = OwnedFinding::all(sharing::findings(&part, None));
    let masks = RwSignal::new(false);
    let text = move || link(masks.get_untracked()).unwrap_or_default();
    Some(view! {
        <SharingCheck found=Signal::stored(found) subject="The share link" masks/>
        <CopyButton text label="Copy share link"/>
    })
}

/// Returns the place of the selected text or step. It includes the URL of the episode's file if `here` does.
fn link_here(viewer: Viewer, here: &Route) -> ReviewPlace {
    let (id, passage) = viewer
        .shown
        .episode
        .with_untracked(|episode| (episode.id.to_string(), selected_passage(episode)));
    let step = passage.as_ref().and_then(Target::step);
    let step = step.unwrap_or_else(|| viewer.shown.selected.get_untracked());
    let written = passage.as_ref().and_then(passage_link::write);
    let (at, words) = written.unzip();
    let url = match here {
        Route::Review(place) if place.episode.as_deref() == Some(&id) => place.url.clone(),
        _ => None,
    };
    ReviewPlace {
        episode: Some(id),
        step: (step > 0).then_some(step),
        at,
        words,
        url,
        tokens: viewer.tokens_shown.get_untracked(),
        ..ReviewPlace::default()
    }
}
