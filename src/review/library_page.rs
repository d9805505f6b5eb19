//! The library: its table, full-text search, and import.

use leptos::ev::Event;
use leptos::prelude::*;

use super::chosen::chosen_bar;
use super::filters::filter_bar;
use super::groups::groups;
use super::progress::progress;
use super::room_dialog::room_line;
use super::selection::Look;
use super::table::table;
use crate::browser::files;
use crate::components::erased::{dynamic, shown, words};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::text::inert_in;
use crate::library::client::Shelf;
use crate::playground::controls::{buttons, typed};
use crate::projection::text::{count_text, plural};

/// Example trajectories that come with the page (`crates/agent/tests/example` generates them).
const EXAMPLE: &str = "#/review?url=examples/word-problems.jsonl";

/// The library.
pub fn library_page(shelf: Shelf) -> El {
    let look = Look::new(shelf);
    let pick = move || files::pick("", move |files| shelf.read(files));
    let pick_folder = move || files::pick_folder(move |files| shelf.read(files));
    let search = el("input")
        .attr("type", "search")
        .attr("id", "search-trajectories")
        .attr("aria-label", "Search")
        .attr("placeholder", "Search all texts");
    let search = typed(search, shelf.wanted).on("input", move |event: Event| {
        shelf.search(&event_target_value(&event));
    });
    let count = words(move || {
        let all = shelf.rows.with(|rows| rows.len());
        let is_narrowed =
            shelf.matches.with(Option::is_some) || look.filters.with(|filters| !filters.is_empty());
        match is_narrowed {
            false => plural(all, "trajectory"),
            true => {
                let shown = look.shown.with(|rows| rows.len());
                format!("{} of {}", count_text(shown), count_text(all))
            }
        }
    });
    let head = el("header")
        .class("library-head")
        .child(el("h1").child("Trajectories"))
        .child(site(shelf))
        .child(el("p").class("faint").attr("role", "status").child(count))
        .child(
            el("div")
                .class("library-search")
                .attr("role", "search")
                .child(search),
        )
        .child(buttons([
            button("").on_click(pick_folder).child("Import folder"),
            button("primary").on_click(pick).child("Import"),
        ]));
    let empty =
        shown(
            move || {
                shelf.is_listed.get()
                    && shelf.rows.with(|rows| rows.is_empty())
                    && shelf.readings.with(|readings| readings.is_empty())
            },
            || {
                el("div")
                .class("empty-state")
                .child(el("h2").child("No trajectories yet"))
                .child(el("p").child(
                    "Drop trajectories anywhere on this page or import them. Supported are files \
                     and archives from aviary, ldp, Inspect, ATIF, tau-bench, verifiers, \
                     SWE-agent, OpenHands, Claude Code, Codex and others. Episodes that you play \
                     or evaluate here also appear. Everything stays in your browser.",
                ))
                .child(el("a").class("button").attr("href", EXAMPLE).child("Open an example"))
                .view()
            },
        );
    el("section")
        .class("library")
        .attr("aria-label", "Library")
        .child(head)
        .child(progress(shelf))
        .child(searching(shelf))
        .child(report(shelf))
        .child(empty)
        .child(shown(
            move || shelf.rows.with(|rows| !rows.is_empty()),
            move || filter_bar(look).view(),
        ))
        .child(chosen_bar(look))
        .child(groups(look))
        .child(table(look))
        .child(room_line(look))
}

/// The link back to the library.
pub(super) fn back_link() -> El {
    el("a")
        .class("back-link")
        .attr("href", "#/review")
        .child("Trajectories")
}

/// The owner of the library that came with the site.
fn site(shelf: Shelf) -> AnyView {
    dynamic(move || match shelf.site.get() {
        None => nothing(),
        Some(title) => el("p")
            .class("site-label")
            .attr(
                "title",
                "These trajectories are part of this site. They can be read and exported, but not \
                 deleted.",
            )
            .child(inert_in("span", "", &title))
            .child(el("span").class("badge").child("read-only"))
            .view(),
    })
}

fn searching(shelf: Shelf) -> AnyView {
    dynamic(move || match shelf.searching.get() {
        None => nothing(),
        Some(doing) => el("p")
            .class("reading")
            .attr("role", "status")
            .child(doing.to_string())
            .view(),
    })
}

/// The report of the last import.
fn report(shelf: Shelf) -> AnyView {
    dynamic(move || {
        let notes = shelf.report.get();
        if notes.is_empty() {
            return nothing();
        }
        let lines = notes.iter().map(|note| inert_in("li", "", note).view());
        all(vec![
            el("details")
                .class("import-report")
                .attr("open", notes.len() <= 3)
                .child(
                    el("summary").child(format!("Import report: {}", plural(notes.len(), "note"))),
                )
                .child(el("ul").child(lines.collect::<Vec<_>>()))
                .view(),
        ])
    })
}
