//! The storage used by the library, and the space available.

use leptos::prelude::*;

use super::selection::Look;
use crate::browser::{self, storage_quota};
use crate::components::dialog::dialog;
use crate::components::erased::{dynamic, shown, words};
use crate::components::markup::{El, all, button, el, nothing};
use crate::playground::controls::buttons;
use crate::projection::text::{plural, size_text};

/// The state of the browser's storage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    room: Option<storage_quota::Quota>,
    is_lasting: bool,
}

/// The line below the table, and its dialog.
pub fn room_line(look: Look) -> El {
    let open = RwSignal::new(false);
    let found = RwSignal::new(None);
    let total = Memo::new(move |_| {
        look.shelf.rows.with(|rows| {
            let bytes = rows.iter().filter_map(|row| row.bytes).sum::<u64>();
            (rows.len(), bytes as usize)
        })
    });
    let line = shown(
        move || total.get().0 > 0,
        move || {
            let show = move || {
                ask(found);
                open.set(true);
            };
            el("footer")
                .class("library-foot")
                .child(el("span").child(words(move || {
                    let (count, bytes) = total.get();
                    format!("{}, {}", plural(count, "trajectory"), size_text(bytes))
                })))
                .child(button("quiet small").on_click(show).child("Storage"))
                .view()
        },
    );
    let sizes = words(move || {
        let (count, bytes) = total.get();
        format!(
            "Storage used by {}: {}. The column Size shows the size of each. Select rows in the table to delete \
             them.",
            plural(count, "trajectory"),
            size_text(bytes)
        )
    });
    let choose_all = move || {
        open.set(false);
        look.filters.set(Vec::new());
        look.choose_all(true);
    };
    let content = all(vec![
        el("p").child(sizes).view(),
        dynamic(move || {
            found
                .get()
                .map_or_else(nothing, |known| of_browser(found, known))
        }),
        buttons([button("").on_click(choose_all).child("Select all")]).view(),
    ]);
    el("div")
        .class("library-room")
        .child(line)
        .child(dialog(open, "Storage".to_owned(), content))
}

fn of_browser(found: RwSignal<Option<Found>>, known: Found) -> AnyView {
    let room = known.room.map(|room| {
        let text = format!(
            "Storage used by all pages of this host: {} of {}.",
            size_text(room.used as usize),
            size_text(room.quota as usize)
        );
        el("p").child(text).view()
    });
    let lasting = match known.is_lasting {
        true => el("p")
            .child("The browser keeps this data even when the disk is full.")
            .view(),
        false => all(vec![
            el("p")
                .child("The browser may delete this data when the disk is full.")
                .view(),
            button("")
                .on_click(move || {
                    browser::spawn(async move {
                        // The answer is seen in what is shown next.
                        storage_quota::ask_to_last().await;
                        ask(found);
                    });
                })
                .child("Request persistent storage")
                .view(),
        ]),
    };
    all(room.into_iter().chain([lasting]).collect())
}

fn ask(found: RwSignal<Option<Found>>) {
    browser::spawn(async move {
        let known = Found {
            room: storage_quota::quota().await,
            is_lasting: storage_quota::is_lasting().await,
        };
        // If the user left meanwhile, the signal is gone.
        let _ = found.try_set(Some(known));
    });
}
