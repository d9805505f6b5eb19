//! What is being read, how far it is, and a way to end it.

use leptos::prelude::*;

use crate::components::erased::{dynamic, flag, maybe_words, words};
use crate::components::markup::{El, all, button, el};
use crate::library::shelf::{Reading, Shelf};

/// All readings that are under way, a bar each.
pub fn progress(shelf: Shelf) -> AnyView {
    let count = Memo::new(move |_| shelf.readings.with(Vec::len));
    dynamic(move || {
        let bars = (0..count.get()).map(|place| bar(shelf, place).view());
        all(bars.collect())
    })
}

fn bar(shelf: Shelf, place: usize) -> El {
    let of = move |ask: fn(&Reading) -> Option<String>| {
        words(move || {
            shelf.readings.with(|readings| {
                let reading = readings.get(place);
                reading.and_then(ask).unwrap_or_default()
            })
        })
    };
    // Without a value the bar says that nobody knows.
    let done = maybe_words(move || {
        shelf.readings.with(|readings| {
            let done = readings.get(place)?.done?;
            Some(format!("{done:.3}"))
        })
    });
    let ending = flag(move || {
        shelf.readings.with(|readings| {
            let reading = readings.get(place);
            reading.is_some_and(|reading| reading.is_ending)
        })
    });
    let cancel = move || {
        let number = shelf.readings.with_untracked(|readings| {
            let reading = readings.get(place);
            reading.map(|reading| reading.number)
        });
        if let Some(number) = number {
            shelf.cancel(number);
        }
    };
    el("div")
        .class("reading")
        .attr("role", "status")
        .child(el("span").child(of(|reading| Some(reading.doing.to_string()))))
        .child(
            el("progress")
                .attr("max", "1")
                .attr("aria-label", "Reading")
                .attr("value", done),
        )
        .child(
            button("small")
                .attr("disabled", ending)
                .on_click(cancel)
                .child("Cancel"),
        )
}
