//! The progress of imports, with a button to cancel each.

use leptos::prelude::*;

use crate::components::erased::{flag, maybe_words, words};
use crate::components::markup::{El, button, el, keyed, nothing};
use crate::library::client::{Reading, ReadingNumber, Shelf};

/// One bar per import, keyed so that it survives the end of others before it.
pub fn progress(shelf: Shelf) -> AnyView {
    let numbers = Memo::new(move |_| {
        shelf.readings.with(|readings| {
            let numbers = readings.iter().map(|reading| u64::from(reading.number));
            numbers.collect::<Vec<_>>()
        })
    });
    keyed(
        move || numbers.get(),
        move |key| match ReadingNumber::try_from(key) {
            Ok(number) => bar(shelf, number).view(),
            Err(_) => nothing(),
        },
    )
}

fn bar(shelf: Shelf, number: ReadingNumber) -> El {
    let of = move |ask: fn(&Reading) -> Option<String>| {
        move || {
            shelf.readings.with(|readings| {
                let mut readings = readings.iter();
                let reading = readings.find(|reading| reading.number == number);
                reading.and_then(ask)
            })
        }
    };
    let doing = of(|reading| Some(reading.doing.to_string()));
    // Without a value the progress bar is indeterminate.
    let done = maybe_words(of(|reading| Some(format!("{:.3}", reading.done?))));
    let ending = of(|reading| reading.is_ending.then(String::new));
    el("div")
        .class("reading")
        .attr("role", "status")
        .child(el("span").child(words(move || doing().unwrap_or_default())))
        .child(
            el("progress")
                .attr("max", "1")
                .attr("aria-label", "Reading")
                .attr("value", done),
        )
        .child(
            button("small")
                .attr("disabled", flag(move || ending().is_some()))
                .on_click(move || shelf.cancel(number))
                .child("Cancel"),
        )
}
