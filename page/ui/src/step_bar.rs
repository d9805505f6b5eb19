//! The steps of an episode as one bar: the width of a segment shows the step's duration, its colour the step's kind,
//! and a click selects it. The bar is not focusable, because the timeline's slider does the same for keyboard users.

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_core::quantity::plural;
use volary_episode::Episode;
use volary_view::outline::class_and_name;
use volary_view::step_bar::{self, HEIGHT, WIDTH, place_of, step_at};

use volary_browser as browser;

#[component]
pub fn StepBar(
    episode: Signal<Arc<Episode>>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
) -> impl IntoView {
    let bar = Memo::new(move |_| episode.with(|episode| step_bar::step_bar(episode)));
    let choose = move |click: MouseEvent| {
        if let Some(place) = browser::element::click_place(&click) {
            selected.set(bar.with_untracked(|bar| step_at(bar, place)));
        }
    };
    let here = move || {
        let (from, to) = bar.with(|bar| place_of(bar, selected.get()));
        let (from, width) = (from * WIDTH, ((to - from) * WIDTH).max(2.0));
        format!("M{from:.2} 0h{width:.2}v{HEIGHT}h-{width:.2}z")
    };
    let fills = move || {
        let paths = bar.with(|bar| bar.paths.clone());
        let fills = paths.into_iter().map(|(kind, fill)| {
            let class = format!("step-fill {}", class_and_name(Some(kind)).0);
            view! { <path class=class d=fill></path> }
        });
        fills.collect_view()
    };
    view! {
        <div class="step-bar">
            <svg
                role="img"
                aria-label=move || bar.with(in_words)
                viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                preserveAspectRatio="none"
                on:click=choose
            >
                {fills}
                <path class="step-here" d=here></path>
            </svg>
        </div>
    }
}

fn in_words(bar: &step_bar::StepBar) -> String {
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
