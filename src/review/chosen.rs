//! Actions on the trajectories that are selected in the table.

use leptos::prelude::*;
use volary_trajectory::export::csv;
use volary_trajectory::table::{Column, choices};

use super::grid_page::MOST;
use super::selection::{Look, sampled};
use crate::browser::{files, location};
use crate::components::dialog::dialog;
use crate::components::erased::{dynamic, flag, shown, words};
use crate::components::markup::{El, all, button, el};
use crate::playground::controls::{buttons, form, typed};
use crate::projection::text::{count_text, plural, size_text};
use crate::route::{ReviewPlace, Route};
use crate::storage::origin::PUBLISHED;

/// The number of known tags offered.
const MOST_TAGS: usize = 50;

/// The bar shown while rows are selected.
pub fn chosen_bar(look: Look) -> AnyView {
    shown(
        move || look.chosen.with(|chosen| !chosen.is_empty()),
        move || {
            let count = move || look.chosen.with(|chosen| chosen.len());
            let compare = move || {
                let mut ids = look.chosen_ids().into_iter().map(|id| id.to_string());
                let place = ReviewPlace {
                    episode: ids.next(),
                    beside: ids.collect(),
                    ..ReviewPlace::default()
                };
                location::go(&Route::Review(place).to_hash());
            };
            let deleting = RwSignal::new(false);
            let export = move || look.shelf.export(look.chosen_ids());
            let words_of = words(move || format!("{} selected", plural(count(), "trajectory")));
            el("div")
                .class("chosen-bar")
                .attr("role", "group")
                .attr("aria-label", "Selected trajectories")
                .child(el("span").attr("role", "status").child(words_of))
                .child(buttons([
                    button("")
                        .attr("disabled", flag(move || !(2..=MOST).contains(&count())))
                        .attr(
                            "title",
                            "Two trajectories are aligned step by step; up to 24 are shown as a \
                             grid",
                        )
                        .on_click(compare)
                        .child("Compare"),
                    button("").on_click(export).child("Export"),
                    button("")
                        .attr("title", "Save the selected rows with the visible columns")
                        .on_click(move || save_table(look))
                        .child("Save as CSV"),
                    button("danger")
                        .on_click(move || deleting.set(true))
                        .child("Delete"),
                    button("quiet")
                        .on_click(move || look.choose_all(false))
                        .child("Clear selection"),
                ]))
                .child(tag_form(look))
                .child(delete_dialog(look, deleting))
                .view()
        },
    )
}

/// Adds or removes a tag of the selected rows.
fn tag_form(look: Look) -> El {
    let tag = RwSignal::new(String::new());
    let mark = move |on: bool| {
        let word = tag.get_untracked().trim().to_owned();
        if !word.is_empty() {
            look.shelf.tag(look.chosen_ids(), &word, on);
            tag.set(String::new());
        }
    };
    let known = dynamic(move || {
        let tags = look
            .shelf
            .rows
            .with(|rows| choices(sampled(rows), &Column::Tags, MOST_TAGS));
        let tags = tags.into_iter().map(|(tag, count)| {
            let count = count.to_string();
            el("option").attr("value", tag).child(count).view()
        });
        all(tags.collect())
    });
    let input = el("input")
        .attr("type", "text")
        .attr("aria-label", "Tag")
        .attr("placeholder", "Tag")
        .attr("list", "known-tags");
    form("tag-form", "Tags", move || mark(true))
        .child(typed(input, tag))
        .child(el("datalist").attr("id", "known-tags").child(known))
        .child(el("button").attr("type", "submit").child("Add tag"))
        .child(button("").on_click(move || mark(false)).child("Remove tag"))
}

/// Asks for confirmation, because a deletion cannot be undone.
fn delete_dialog(look: Look, open: RwSignal<bool>) -> AnyView {
    let question = words(move || {
        let (count, bytes, kept) = look.shelf.rows.with(|rows| {
            look.chosen.with(|chosen| {
                let chosen = rows.iter().filter(|row| chosen.contains(&row.id));
                chosen.fold((0, 0, 0), |(count, bytes, kept), row| {
                    match row.origin.as_deref() {
                        Some(PUBLISHED) => (count, bytes, kept + 1),
                        _ => (count + 1, bytes + row.bytes.unwrap_or(0), kept),
                    }
                })
            })
        });
        let stay = match kept {
            0 => String::new(),
            _ => format!(" {} of this site are kept.", count_text(kept)),
        };
        format!(
            "This deletes {} ({}) from this browser.{stay}",
            plural(count, "trajectory"),
            size_text(bytes as usize)
        )
    });
    let delete = move || {
        open.set(false);
        look.shelf.forget(look.chosen_ids());
        look.choose_all(false);
    };
    let content = all(vec![
        el("p").child(question).view(),
        buttons([
            button("").on_click(move || open.set(false)).child("Cancel"),
            button("danger").on_click(delete).child("Delete"),
        ])
        .view(),
    ]);
    dialog(open, "Delete trajectories".to_owned(), content)
}

/// Saves the selected rows with the visible columns.
fn save_table(look: Look) {
    let rows = look.chosen_rows();
    let text = look
        .columns
        .with_untracked(|columns| csv::to_text(rows.iter().map(AsRef::as_ref), columns));
    files::download("trajectories.csv", "text/csv", text.as_bytes());
}
