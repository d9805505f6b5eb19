//! Display options of the transcript: what is collapsed, and whether Markdown is rendered.

use leptos::prelude::*;

use crate::components::erased::words;
use crate::components::markup::{El, button, el};
use crate::components::transcript::reading::{Kind, Reading};

/// The bar above the transcript.
pub fn reading_bar(reading: Reading) -> El {
    let switch = |label: &'static str, title: &'static str, kind: Kind| {
        let open = words(move || (!reading.folded.get().has(kind)).to_string());
        button("quiet small switch")
            .attr("aria-pressed", open)
            .attr("title", title)
            .on_click(move || {
                let folded = reading.folded.get_untracked().has(kind);
                reading.fold(kind, !folded);
            })
            .child(label)
    };
    el("div")
        .class("reading-bar")
        .attr("role", "group")
        .attr("aria-label", "Show")
        .child(
            el("span")
                .class("faint")
                .attr("aria-hidden", "true")
                .child("Show"),
        )
        .child(switch(
            "Messages",
            "Show full messages or collapse them to one line each",
            Kind::Messages,
        ))
        .child(switch(
            "Tools",
            "Show full calls and results or collapse them to one line each",
            Kind::Tools,
        ))
        .child(switch(
            "Reasoning",
            "Show or hide the model's reasoning",
            Kind::Reasoning,
        ))
        .child(
            button("quiet small switch formatted")
                .attr(
                    "aria-pressed",
                    words(move || reading.formatted.get().to_string()),
                )
                .attr("title", "Render Markdown or show plain text")
                .on_click(move || {
                    reading
                        .formatted
                        .update(|formatted| *formatted = !*formatted)
                })
                .child("Markdown"),
        )
}
