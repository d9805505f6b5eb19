//! **Storage**: what this page stores in the browser, the space used, and deletion.

use leptos::prelude::*;

use super::section::{section as framed, small};
use crate::browser::files;
use crate::browser::storage_quota::{self, Quota};
use crate::browser::{self, database::DatabaseError, network};
use crate::components::alert_box::alert_words;
use crate::components::erased::{dynamic, watch, words};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::text::inert_in;
use crate::navigation::{Page, use_pages};
use crate::projection::text::{plural, size_text};
use crate::storage::unreadable::{self, Place};
use crate::storage::{self, episodes, evaluations};

/// What is stored.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    episodes: usize,
    /// Their size in bytes.
    size: f64,
    evaluations: usize,
    room: Option<Quota>,
    lasting: bool,
    unreadable: Vec<(Place, String)>,
    is_read_only: bool,
}

/// The state of the section.
#[derive(Clone, Debug, PartialEq)]
enum State {
    Looking,
    Known(Kept),
    Refused(DatabaseError),
}

/// The section.
pub fn section() -> El {
    let state = RwSignal::new(State::Looking);
    let sure = RwSignal::new(false);
    let shown = use_pages().shown;
    // The page keeps its state; reload it when the user returns.
    watch(move || {
        if shown.get() == Page::Settings {
            look(state);
        }
    });
    let body = dynamic(move || match state.get() {
        State::Looking => el("p").class("help").child("Loading…").view(),
        State::Refused(error) => el("div")
            .class("alert inline")
            .attr("role", "alert")
            .child(alert_words(
                "Nothing can be stored.",
                &error.to_string(),
                error.advice(),
            ))
            .view(),
        State::Known(kept) => known(state, sure, &kept),
    });
    framed(
        "storage-title",
        "Storage",
        format!(
            "Everything you import, play and evaluate is stored in a database in this browser \
             until you delete it. Other pages on {} can read and change it.",
            network::page().origin
        ),
    )
    .child(body)
    .child(small("Refresh", move || look(state)))
}

fn known(state: RwSignal<State>, sure: RwSignal<bool>, kept: &Kept) -> AnyView {
    let row = |name: &'static str, value: String| {
        el("div")
            .child(el("dt").child(name))
            .child(el("dd").child(value))
            .view()
    };
    let mut rows = vec![
        row(
            "Episodes",
            format!(
                "{}, {}",
                plural(kept.episodes, "episode"),
                size_text(kept.size as usize)
            ),
        ),
        row("Evaluations", plural(kept.evaluations, "evaluation")),
    ];
    if let Some(room) = kept.room {
        rows.push(row(
            "Storage used",
            format!(
                "{} of {}, by all pages of this host",
                size_text(room.used as usize),
                size_text(room.quota as usize)
            ),
        ));
    }
    let lasting = match kept.lasting {
        true => el("p")
            .class("help")
            .child("The browser keeps this data even when the disk is full.")
            .view(),
        false => button("")
            .on_click(move || {
                browser::spawn(async move {
                    // The answer is seen in what is shown next.
                    storage_quota::ask_to_last().await;
                    look(state);
                });
            })
            .child("Request persistent storage")
            .view(),
    };
    let read_only = match kept.is_read_only {
        false => nothing(),
        true => {
            let error = DatabaseError::Newer;
            let what = "Storage is read-only.";
            el("div")
                .class("alert inline")
                .attr("role", "alert")
                .child(alert_words(what, &error.to_string(), error.advice()))
                .view()
        }
    };
    let damaged = match kept.unreadable.is_empty() {
        true => nothing(),
        false => unreadable_view(state, &kept.unreadable),
    };
    let label = words(move || {
        match sure.get() {
            true => "Yes, delete all",
            false => "Delete all",
        }
        .to_owned()
    });
    let delete = button("")
        .on_click(move || {
            if !sure.get_untracked() {
                sure.set(true);
                return;
            }
            sure.set(false);
            browser::spawn(async move {
                match storage::forget_all().await {
                    Ok(()) => look(state),
                    Err(error) => state.set(State::Refused(error)),
                }
            });
        })
        .child(label);
    let warning = dynamic(move || match sure.get() {
        true => el("p")
            .class("help")
            .attr("role", "status")
            .child("This deletes all stored evaluations and episodes.")
            .view(),
        false => nothing(),
    });
    all(vec![
        read_only,
        el("dl").class("storage-list").child(rows).view(),
        el("div")
            .class("button-row")
            .child(lasting)
            .child(delete)
            .view(),
        warning,
        damaged,
    ])
}

/// The unreadable records, with actions.
fn unreadable_view(state: RwSignal<State>, records: &[(Place, String)]) -> AnyView {
    let title = format!("{} cannot be read", plural(records.len(), "stored record"));
    let lines = records.iter().map(|(place, why)| {
        let line = format!("{} {}: {why}", place.store().name(), place.key());
        inert_in("li", "", &line).view()
    });
    let export = move || {
        browser::spawn(async move {
            match unreadable::export().await {
                Ok(lines) => {
                    files::download(
                        "unreadable-records.jsonl",
                        "application/jsonl",
                        lines.as_bytes(),
                    );
                }
                Err(error) => state.set(State::Refused(error)),
            }
        });
    };
    let delete = move || {
        browser::spawn(async move {
            match unreadable::delete().await {
                Ok(()) => look(state),
                Err(error) => state.set(State::Refused(error)),
            }
        });
    };
    let sure = RwSignal::new(false);
    let label = words(move || {
        match sure.get() {
            true => "Yes, delete unreadable records",
            false => "Delete unreadable records",
        }
        .to_owned()
    });
    el("section")
        .class("alert inline")
        .attr("aria-label", "Unreadable records")
        .child(
            alert_words(
                &title,
                "They are damaged or were stored by another version of this page.",
                "They are left unchanged. Export them and report how they came about. A version \
                 that can read them will find them.",
            )
            .child(
                el("details")
                    .child(el("summary").child("Show records"))
                    .child(el("ul").child(lines.collect::<Vec<_>>())),
            )
            .child(
                el("div")
                    .class("button-row")
                    .child(button("").on_click(export).child("Export raw records"))
                    .child(
                        button("")
                            .on_click(move || match sure.get_untracked() {
                                true => delete(),
                                false => sure.set(true),
                            })
                            .child(label),
                    ),
            ),
        )
        .view()
}

fn look(state: RwSignal<State>) {
    browser::spawn(async move {
        let looked = async {
            let listed = episodes::list().await?;
            Ok(Kept {
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
        let found = looked.await.map_or_else(State::Refused, State::Known);
        // If the user left meanwhile, the signal is gone.
        let _ = state.try_set(found);
    });
}
