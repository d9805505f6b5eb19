//! The steps of an episode as one bar to look over and to click: as wide as they took, coloured by
//! kind. By keyboard the timeline's slider does the same, so the bar takes no focus.

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_trajectory::Episode;

use super::erased::{dynamic, words};
use super::markup::{all, el, path, svg};
use crate::browser;
use crate::projection::outline::class_and_name;
use crate::projection::step_bar::{HEIGHT, StepBar, WIDTH, place_of, step_at, step_bar};
use crate::projection::text::plural;

/// The bar.
pub fn step_bar_view(episode: Signal<Arc<Episode>>, selected: RwSignal<usize>) -> AnyView {
    let bar = Memo::new(move |_| episode.with(|episode| step_bar(episode)));
    let choose = move |click: MouseEvent| {
        if let Some(place) = browser::element::click_place(&click) {
            selected.set(bar.with_untracked(|bar| step_at(bar, place)));
        }
    };
    let here = words(move || {
        let (from, to) = bar.with(|bar| place_of(bar, selected.get()));
        let (from, width) = (from * WIDTH, ((to - from) * WIDTH).max(2.0));
        format!("M{from:.2} 0h{width:.2}v{HEIGHT}h-{width:.2}z")
    });
    let fills = dynamic(move || {
        bar.with(|bar| {
            let fills = bar.paths.iter().map(|(kind, fill)| {
                path()
                    .class(format!("step-fill {}", class_and_name(Some(*kind)).0))
                    .attr("d", fill.clone())
                    .view()
            });
            all(fills.collect())
        })
    });
    let drawing = svg()
        .attr("role", "img")
        .attr("aria-label", words(move || bar.with(in_words)))
        .attr("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
        .attr("preserveAspectRatio", "none")
        .on("click", choose)
        .child(fills)
        .child(path().class("step-here").attr("d", here));
    el("div").class("step-bar").child(drawing).view()
}

fn in_words(bar: &StepBar) -> String {
    let kinds: Vec<&str> = bar
        .paths
        .iter()
        .map(|(kind, _)| class_and_name(Some(*kind)).1)
        .collect();
    let widths = if bar.timed {
        ", width proportional to duration"
    } else {
        ""
    };
    format!(
        "{}{widths}. Kinds: {}.",
        plural(bar.ends.len(), "step"),
        kinds.join(", ")
    )
}
