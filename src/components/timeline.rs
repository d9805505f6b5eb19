//! The timeline of an episode: a slider over its steps, and a player.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::json::float_from_text;

use super::erased::{dynamic, flag, words};
use super::icon::{Glyph, hidden_name, icon, named_icon};
use super::markup::{button, el};
use crate::projection::text::{count_text, plural};

/// The available speeds, in steps per second.
const SPEEDS: [(f64, &str); 5] = [
    (0.5, "0.5"),
    (1.0, "1"),
    (2.0, "2"),
    (5.0, "5"),
    (20.0, "20"),
];

/// A slider **Step** over an episode, with playback and navigation buttons.
#[component]
pub fn Timeline(
    /// The number of steps.
    #[prop(into)]
    length: Signal<usize>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
    /// Whether it is playing.
    playing: RwSignal<bool>,
    /// Speed in steps per second.
    speed: RwSignal<f64>,
) -> impl IntoView {
    let go = move |name: &'static str, glyph: Glyph, to: fn(usize, usize) -> usize| {
        let vain = flag(move || {
            let step = selected.get();
            to(step, length.get()) == step
        });
        button("quiet icon-button")
            .attr("title", name)
            .attr("disabled", vain)
            .on_click(move || selected.update(|step| *step = to(*step, length.get_untracked())))
            .child(named_icon(glyph, name))
            .view()
    };
    let moved = move |event: Event| {
        if let Ok(step) = event_target_value(&event).parse::<usize>() {
            selected.set(step.min(length.get_untracked()));
        }
    };
    let place = words(move || {
        let (step, length) = (count_text(selected.get()), count_text(length.get()));
        format!("{step} / {length}")
    });
    let place_in_words = words(move || match selected.get() {
        0 => format!("reset, of {}", plural(length.get(), "step")),
        step => format!("{step} of {}", length.get()),
    });
    let slider = el("input")
        .attr("type", "range")
        .attr("aria-label", "Step")
        .attr("min", "0")
        .attr("max", words(move || length.get().to_string()))
        .attr("aria-valuetext", place_in_words)
        .text_property(
            "value",
            words(move || selected.get().min(length.get()).to_string()),
        )
        .on("input", moved);
    let buttons = el("div")
        .class("timeline-buttons")
        .child(go("First", Glyph::First, |_, _| 0))
        .child(go("Previous", Glyph::Previous, |step, _| {
            step.saturating_sub(1)
        }))
        .child(play_button(length, selected, playing))
        .child(go("Next", Glyph::Next, |step, length| length.min(step + 1)))
        .child(go("Last", Glyph::Last, |_, length| length));
    let place = el("span")
        .class("timeline-place")
        .attr("aria-hidden", "true")
        .child(place);
    el("div")
        .class("timeline")
        .attr("role", "group")
        .attr("aria-label", "Timeline")
        .child(buttons)
        .child(slider)
        .child(place)
        .child(speed_choice(speed))
        .view()
}

fn play_button(
    length: Signal<usize>,
    selected: RwSignal<usize>,
    playing: RwSignal<bool>,
) -> AnyView {
    let play = move || {
        let at_end = selected.get_untracked() >= length.get_untracked();
        if !playing.get_untracked() && at_end {
            selected.set(0);
        }
        playing.update(|playing| *playing = !*playing);
    };
    let name = words(move || if playing.get() { "Pause" } else { "Play" }.to_owned());
    let glyph = dynamic(move || {
        icon(match playing.get() {
            true => Glyph::Pause,
            false => Glyph::Play,
        })
    });
    button("quiet icon-button")
        .attr("title", name)
        .attr("disabled", flag(move || length.get() == 0))
        .on_click(play)
        .child(glyph)
        .child(hidden_name(name))
        .view()
}

fn speed_choice(speed: RwSignal<f64>) -> AnyView {
    let options = SPEEDS.iter().map(|(steps, label)| {
        el("option")
            .attr("value", *label)
            .attr("selected", flag(move || speed.get() == *steps))
            .child(format!("{label}×"))
            .view()
    });
    let choose = move |event: Event| {
        if let Some(steps) = float_from_text(&event_target_value(&event)) {
            speed.set(steps);
        }
    };
    el("select")
        .attr("aria-label", "Speed")
        .attr("title", "Speed")
        .on("change", choose)
        .child(options.collect::<Vec<_>>())
        .view()
}
