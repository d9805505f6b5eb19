//! The timeline of an episode: a slider over its steps, and a player.

use leptos::prelude::*;

use super::erased::{changed, flag, label, pressed, words};
use super::icon::{Glyph, Icon};
use crate::projection::text::{count_text, plural};

/// The speeds on offer, in steps a second.
const SPEEDS: [(f64, &str); 5] = [
    (0.5, "0.5"),
    (1.0, "1"),
    (2.0, "2"),
    (5.0, "5"),
    (20.0, "20"),
];

/// A slider **Step** over an episode of some length, with buttons that play and go along.
#[component]
pub fn Timeline(
    /// The number of steps.
    #[prop(into)]
    length: Signal<usize>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
    /// Whether it plays.
    playing: RwSignal<bool>,
    /// How fast it plays, in steps a second.
    speed: RwSignal<f64>,
) -> impl IntoView {
    let go = move |label: &'static str, glyph: Glyph, to: fn(usize, usize) -> usize| {
        let vain = flag(move || {
            let step = selected.get();
            to(step, length.get()) == step
        });
        let go = pressed(move |_| {
            selected.update(|step| *step = to(*step, length.get_untracked()));
        });
        view! {
            <button
                type="button"
                class="quiet icon-button"
                title=label
                disabled=vain
                on:click=go
            >
                <Icon glyph />
                <span class="visually-hidden">{label}</span>
            </button>
        }
        .into_any()
    };
    let play = pressed(move |_| {
        let at_end = selected.get_untracked() >= length.get_untracked();
        if !playing.get_untracked() && at_end {
            selected.set(0);
        }
        playing.update(|playing| *playing = !*playing);
    });
    let play_label = label(move || if playing.get() { "Pause" } else { "Play" });
    let play_glyph = Signal::derive(move || match playing.get() {
        true => Glyph::Pause,
        false => Glyph::Play,
    });
    let moved = changed(move |event| {
        if let Ok(step) = event_target_value(&event).parse::<usize>() {
            selected.set(step.min(length.get_untracked()));
        }
    });
    let place = words(move || {
        let (step, length) = (count_text(selected.get()), count_text(length.get()));
        format!("{step} / {length}")
    });
    let place_in_words = words(move || match selected.get() {
        0 => format!("reset, of {}", plural(length.get(), "step")),
        step => format!("{step} of {}", length.get()),
    });
    let options = SPEEDS
        .iter()
        .map(|(steps, label)| {
            let chosen = flag(move || speed.get() == *steps);
            view! {
                <option value=*label selected=chosen>
                    {format!("{label}×")}
                </option>
            }
        })
        .collect_view();
    let choose = changed(move |event| {
        if let Ok(steps) = event_target_value(&event).parse::<f64>() {
            speed.set(steps);
        }
    });
    view! {
        <div class="timeline" role="group" aria-label="Timeline">
            <div class="timeline-buttons">
                {go("First", Glyph::First, |_, _| 0)}
                {go("Previous", Glyph::Previous, |step, _| step.saturating_sub(1))}
                <button
                    type="button"
                    class="quiet icon-button"
                    title=play_label
                    disabled=flag(move || length.get() == 0)
                    on:click=play
                >
                    <Icon glyph=play_glyph />
                    <span class="visually-hidden">{play_label}</span>
                </button>
                {go("Next", Glyph::Next, |step, length| length.min(step + 1))}
                {go("Last", Glyph::Last, |_, length| length)}
            </div>
            <input
                type="range"
                aria-label="Step"
                min="0"
                max=words(move || length.get().to_string())
                prop:value=words(move || selected.get().min(length.get()).to_string())
                aria-valuetext=place_in_words
                on:input=moved
            />
            <span class="timeline-place" aria-hidden="true">
                {place}
            </span>
            <select aria-label="Speed" title="Speed" on:change=choose>
                {options}
            </select>
        </div>
    }
    .into_any()
}
