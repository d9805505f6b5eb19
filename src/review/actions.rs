//! Actions on an episode in Review: link, copy, check, continue, export and print.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::annotations::Target;
use volary_trajectory::export::html;
use volary_trajectory::{Episode, Link, Relation, Rewards, markdown};

use super::export::export_dialog;
use super::link_reach::LinkReach;
use super::quote::selected_passage;
use super::viewer::{Checked, Viewer};
use crate::browser::{files, location, printer};
use crate::components::copy_button::copy_button;
use crate::components::erased::{flag, shown, words};
use crate::components::icon::{Glyph, named_icon};
use crate::components::markup::{El, button, el};
use crate::library::client::Shelf;
use crate::navigation::use_pages;
use crate::playground::state::Playground;
use crate::playground::transfer::{file_name, share_link};
use crate::projection::notice::Notice;
use crate::projection::passage_link;
use crate::route::{ReviewPlace, Route};

/// The buttons and the export dialog.
pub fn actions(shelf: Shelf, viewer: Viewer, playground: Playground) -> Vec<El> {
    let episode = viewer.shown.episode;
    let known = flag(move || episode.with(|episode| can_go_on(playground, episode)));
    let unless_unknown = |does: &'static str| {
        let title = move || match known.get() {
            true => does.to_owned(),
            false => {
                "This page does not have its environment, so it cannot be continued".to_owned()
            }
        };
        words(title)
    };
    let exporting = RwSignal::new(false);
    let checking = RwSignal::new(false);
    let check = move || {
        checking.set(true);
        let id = episode.with_untracked(|episode| episode.id.clone());
        shelf.check(&id, move |checked| {
            checking.set(false);
            match checked {
                Ok((words, step)) => {
                    if let Some(step) = step {
                        viewer.select(step);
                    }
                    viewer.checked.set(Some(Checked { words, step }));
                }
                Err(reason) => shelf.notice.set(Some(Notice::new(
                    "This episode cannot be replayed.",
                    reason,
                    "It can still be read, compared and exported.",
                ))),
            }
        });
    };
    let step_as_markdown = Callback::new(move |()| {
        let step = viewer.shown.selected.get_untracked();
        episode.with_untracked(|episode| markdown::to_markdown(episode, step..=step))
    });
    let whole_as_markdown = Callback::new(move |()| {
        episode.with_untracked(|episode| markdown::to_markdown(episode, 0..=usize::MAX))
    });
    let pages = use_pages();
    let link = Callback::new(move |()| {
        let place = link_here(viewer, &pages.route.get_untracked());
        let origin = place.episode.as_deref().and_then(|id| shelf.origin_of(id));
        let reach = LinkReach::of(&place, origin.as_deref());
        viewer.linked_alone.set(reach == LinkReach::ThisBrowser);
        location::address_with(&place.to_hash())
    });
    vec![
        // Before the button takes the focus, which clears the selection.
        el("span")
            .attr("title", "Link to the selected text or step")
            .on("mousedown", |event: leptos::ev::MouseEvent| {
                event.prevent_default()
            })
            .child(copy_button(link, "Copy link", false)),
        el("span")
            .attr("title", "Copy the selected step as Markdown")
            .child(copy_button(step_as_markdown, "Copy step", false)),
        el("span")
            .attr("title", "Copy the whole episode as Markdown")
            .child(copy_button(whole_as_markdown, "Copy all", false)),
        button("").on_click(printer::print).child("Print"),
        button("")
            .on_click(move || exporting.set(true))
            .child("Export"),
        button("")
            .attr(
                "title",
                unless_unknown("Replay the recorded actions and compare the results"),
            )
            .attr("disabled", flag(move || !known.get() || checking.get()))
            .on_click(check)
            .child("Check"),
        button("")
            .attr(
                "title",
                unless_unknown("View it there and continue from any step"),
            )
            .attr("disabled", flag(move || !known.get()))
            .on_click(move || playground.visit(Episode::clone(&episode.get_untracked())))
            .child("Open in the playground"),
        el("span").child(export_dialog(shelf, viewer, exporting)),
    ]
}

/// Whether this page has the environment of an episode.
pub fn can_go_on(playground: Playground, episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    recipe.is_some_and(|recipe| playground.entry(&recipe.environment).is_some())
}

/// Continues from a step in the playground, manually or with a policy. The trajectory stays unchanged; the new
/// episode links to it.
pub fn fork(viewer: Viewer, playground: Playground, step: usize) {
    let original = viewer.shown.episode.get_untracked();
    playground.visit(forked(&original, step));
    // The fork starts at the selected step, not at the beginning.
    playground.selected.set(step);
}

fn forked(original: &Arc<Episode>, step: usize) -> Episode {
    // Metadata, source and ending of the whole do not apply to the fork.
    let mut fork = Episode {
        outcome: None,
        rewards: Rewards::Steps,
        scores: Vec::new(),
        total_usage: None,
        seconds: None,
        errors: Vec::new(),
        source: None,
        ..Episode::clone(original)
    };
    fork.rewind(step);
    fork.id = format!("{}, from step {step}", original.id).into();
    fork.name = match original.name.trim() {
        "" => Text::default(),
        name => format!("{name}, from step {step}").into(),
    };
    fork.links = vec![Link {
        relation: Relation::Branch,
        episode: original.id.clone(),
        step: Some(step),
    }];
    fork
}

/// A dismissible note that a copied link works only in this browser, with alternatives that work elsewhere.
pub fn link_note(viewer: Viewer, playground: Playground) -> AnyView {
    let episode = viewer.shown.episode;
    let share = move || {
        episode.with_untracked(|episode| {
            let step = viewer.shown.selected.get_untracked();
            can_go_on(playground, episode).then(|| share_link(episode, Some(step)).ok())
        })
    };
    let save_page = move || {
        episode.with_untracked(|episode| {
            let name = format!("{}.html", file_name(&episode.name));
            files::download(&name, "text/html", html::to_text(episode).as_bytes());
        });
    };
    shown(
        move || viewer.linked_alone.get(),
        move || {
            let share = share().flatten().map(|link| {
                copy_button(
                    Callback::new(move |()| link.clone()),
                    "Copy share link",
                    false,
                )
            });
            el("div")
                .class("link-note")
                .attr("role", "status")
                .attr("aria-label", "Link")
                .child(el("p").child(
                    "This trajectory is only in this browser, so the link works nowhere else. To \
                     show it to others, send it as an HTML page or share its actions.",
                ))
                .child(
                    button("small")
                        .on_click(save_page)
                        .child("Save as HTML page"),
                )
                .child(share)
                .child(
                    button("quiet small icon-button")
                        .on_click(move || viewer.linked_alone.set(false))
                        .child(named_icon(Glyph::Close, "Dismiss")),
                )
                .view()
        },
    )
}

/// The address of the selected text or step. It includes the file of the episode if `here` does.
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
        ..ReviewPlace::default()
    }
}
