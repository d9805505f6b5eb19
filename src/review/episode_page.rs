//! An episode in Review: outline, transcript and side panels, with one shared step selection.

use std::sync::Arc;

use leptos::ev::Event;
use leptos::prelude::*;
use volary_trajectory::Episode;

use super::actions::{can_go_on, fork, link_note};
use super::library_page::back_link;
use super::marks::keep_marks;
use super::notes::Notes;
use super::panels::panels;
use super::progress::progress;
use super::reading_bar::reading_bar;
use super::viewer::Viewer;
use crate::browser;
use crate::components::erased::{flag, shown, words};
use crate::components::icon::{Glyph, named_icon};
use crate::components::markup::{El, button, el, nothing};
use crate::components::outline::{Badges, outline};
use crate::components::step_bar::StepBar;
use crate::components::text::inert_in;
use crate::components::{EpisodeStatus, Timeline, Transcript, erased::dynamic};
use crate::library::client::Shelf;
use crate::library::findings::MOST;
use crate::playground::controls::{buttons, typed};
use crate::playground::state::Playground;
use crate::projection::text::count_text;

/// The page of an episode. `actions` are its buttons.
pub fn episode_page(
    shelf: Shelf,
    viewer: Viewer,
    notes: Notes,
    playground: Playground,
    actions: Vec<El>,
) -> El {
    let episode: Signal<Arc<Episode>> = viewer.shown.episode.into();
    let edition = Memo::new(move |_| viewer.shown.edition.get());
    let selected = viewer.shown.selected;
    let can_fork = flag(move || episode.with(|episode| can_go_on(playground, episode)));
    let transcript = view! {
        <Transcript
            episode=episode
            edition=edition
            selected=selected
            can_rewind=can_fork
            on_rewind=Callback::new(move |step| fork(viewer, playground, step))
            reading=viewer.reading
        />
    };
    keep_marks(viewer, notes);
    let panes = el("div")
        .class("review-panes")
        .child(
            el("section")
                .class("pane outline-pane")
                .attr("id", "outline-pane")
                .attr("aria-label", "Outline")
                .child(find_bar(viewer, shelf))
                .child(outline(
                    episode,
                    edition.into(),
                    selected,
                    badges(viewer, notes),
                )),
        )
        .child(
            el("section")
                .class("pane transcript-pane")
                .attr("id", "transcript-pane")
                .attr("aria-label", "Episode")
                .child(reading_bar(viewer.reading))
                .child(transcript.into_any()),
        )
        .child(panels(viewer, notes, playground));
    el("div")
        .class("review-episode")
        .child(bar(viewer, actions))
        .child(rest(shelf, viewer))
        .child(verdict(viewer))
        .child(link_note(viewer, playground))
        .child(panes)
}

/// Progress of an import, if only the beginning of the episode is available.
fn rest(shelf: Shelf, viewer: Viewer) -> AnyView {
    let has_begun = move || {
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        shelf.begun.with(|begun| begun.contains(&id))
    };
    shown(has_begun, move || {
        el("section")
            .class("rest-of-episode")
            .attr("aria-label", "Remaining steps")
            .child(el("p").child("Showing the beginning; the rest is loading."))
            .child(progress(shelf))
            .view()
    })
}

/// The result of a check, until it is dismissed.
fn verdict(viewer: Viewer) -> AnyView {
    dynamic(move || {
        let Some(checked) = viewer.checked.get() else {
            return nothing();
        };
        let class = match checked.step {
            None => "check-verdict good",
            Some(_) => "check-verdict bad",
        };
        let go = checked.step.map(|step| {
            button("small")
                .on_click(move || viewer.select(step))
                .child("Go there")
        });
        el("div")
            .class(class)
            .attr("role", "status")
            .attr("aria-label", "Check")
            .child(inert_in("p", "", &checked.words))
            .child(go)
            .child(
                button("quiet small icon-button")
                    .on_click(move || viewer.checked.set(None))
                    .child(named_icon(Glyph::Close, "Dismiss check")),
            )
            .view()
    })
}

/// Additional marks of the outline: notes, and the first difference on replay.
fn badges(viewer: Viewer, notes: Notes) -> Signal<Badges> {
    let badges = Memo::new(move |_| {
        let mut badges = Badges::default();
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        notes.all.with(|all| {
            for note in all.of_episode(&id) {
                if let Some(step) = note.target.step() {
                    badges.noted.insert(step);
                }
            }
        });
        let checked = viewer.checked.get();
        badges.differs = checked.and_then(|checked| checked.step);
        badges
    });
    badges.into()
}

fn bar(viewer: Viewer, actions: Vec<El>) -> El {
    let episode: Signal<_> = viewer.shown.episode.into();
    let name = dynamic(move || {
        viewer.shown.episode.with(|episode| {
            let name = match episode.name.trim() {
                "" => "Episode",
                name => name,
            };
            inert_in("h1", "episode-title", name).view()
        })
    });
    let facts = dynamic(move || {
        viewer.shown.episode.with(|episode| {
            let actor = episode.model.as_ref().or(episode.policy.as_ref());
            let known = [episode.environment(), actor];
            let known: Vec<&str> = known.into_iter().flatten().map(|text| &**text).collect();
            inert_in("p", "episode-facts", &known.join(" · ")).view()
        })
    });
    let timeline = view! {
        <Timeline
            length=viewer.last
            selected=viewer.shown.selected
            playing=viewer.player.playing
            speed=viewer.player.speed
        />
    };
    let jump = |label: &'static str, forward: bool| {
        button("quiet small")
            .on_click(move || {
                viewer.go_to_mark(forward);
            })
            .child(label)
    };
    // More data of the same steps may arrive with the rest of their file.
    let reading = Memo::new(move |number: Option<&u32>| {
        episode.track();
        number.map_or(0, |number| number.wrapping_add(1))
    });
    el("section")
        .class("episode-bar review-bar")
        .attr("aria-label", "Episode and timeline")
        .child(
            el("div")
                .class("episode-heading")
                .child(back_link())
                .child(name)
                .child(facts),
        )
        .child(view! { <EpisodeStatus episode=episode edition=reading/> }.into_any())
        .child(buttons(actions).class("episode-actions button-row"))
        .child(
            el("div")
                .class("play-head")
                .child(timeline.into_any())
                .child(
                    el("div")
                        .class("step-bar-row")
                        .child(
                            view! { <StepBar episode selected=viewer.shown.selected/> }.into_any(),
                        )
                        .child(buttons([
                            jump("Previous mark", false),
                            jump("Next mark", true),
                        ])),
                ),
        )
}

/// Find in episode; Enter goes to the next hit.
fn find_bar(viewer: Viewer, shelf: Shelf) -> El {
    let input = el("input")
        .attr("type", "search")
        .attr("id", "find-in-episode")
        .attr("aria-label", "Find in episode")
        .attr("placeholder", "Find in episode")
        .on("keydown", move |event: leptos::ev::KeyboardEvent| {
            match &*event.key() {
                "Enter" => {
                    event.prevent_default();
                    viewer.go_to_finding(!event.shift_key());
                }
                // Some browsers clear the field without an event. The page's keys should work next.
                "Escape" if !event.is_composing() => {
                    viewer.wanted.set(String::new());
                    viewer.find(shelf);
                    browser::element::let_go();
                }
                _ => {}
            }
        });
    let input = typed(input, viewer.wanted).on("input", move |_: Event| {
        viewer.find(shelf);
    });
    let count = words(move || {
        let count = viewer.findings.with(|findings| findings.len());
        match count {
            _ if viewer.wanted.with(|wanted| wanted.trim().is_empty()) => String::new(),
            0 => "not found".to_owned(),
            count => {
                let more = if count == MOST { " or more" } else { "" };
                let at = viewer.at_finding.get().min(count - 1) + 1;
                format!("{} of {}{more}", count_text(at), count_text(count))
            }
        }
    });
    let none = flag(move || viewer.findings.with(|findings| findings.is_empty()));
    let go = move |label: &'static str, forward: bool| {
        button("quiet small")
            .attr("disabled", none)
            .on_click(move || viewer.go_to_finding(forward))
            .child(label)
    };
    let controls = shown(
        move || viewer.wanted.with(|wanted| !wanted.trim().is_empty()),
        move || {
            el("div")
                .class("find-controls")
                .child(
                    el("span")
                        .class("faint")
                        .attr("role", "status")
                        .child(count),
                )
                .child(buttons([go("Up", false), go("Down", true)]))
                .view()
        },
    );
    el("div")
        .class("find-bar")
        .attr("role", "search")
        .child(input)
        .child(controls)
}

/// Focuses the search field.
pub fn focus_find() {
    browser::element::focus_id("find-in-episode");
}
