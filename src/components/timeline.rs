//! The timeline of an episode: a slider over its steps, and a player.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};
use crate::projection::text::count_text;

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
    let at_start = move || selected.get() == 0;
    let at_end = move || selected.get() >= length.get();
    let go = move |label: &'static str,
                   glyph,
                   disabled: Signal<bool>,
                   to: fn(usize, usize) -> usize| {
        view! {
            <button
                type="button"
                class="quiet icon-button"
                title=label
                disabled=disabled
                on:click=move |_| selected.update(|step| *step = to(*step, length.get_untracked()))
            >
                <Icon glyph />
                <span class="visually-hidden">{label}</span>
            </button>
        }
    };
    let play = move |_| {
        if !playing.get_untracked() && at_end() {
            selected.set(0);
        }
        playing.update(|playing| *playing = !*playing);
    };
    let play_label = move || if playing.get() { "Pause" } else { "Play" };
    let play_icon = move || {
        let glyph = if playing.get() {
            Glyph::Pause
        } else {
            Glyph::Play
        };
        view! { <Icon glyph /> }
    };
    let moved = move |event| {
        if let Ok(step) = event_target_value(&event).parse::<usize>() {
            selected.set(step.min(length.get_untracked()));
        }
    };
    let place = move || {
        format!(
            "{} / {}",
            count_text(selected.get()),
            count_text(length.get())
        )
    };
    let place_in_words = move || match selected.get() {
        0 => format!("reset, of {} steps", length.get()),
        step => format!("{step} of {}", length.get()),
    };
    let options = SPEEDS
        .iter()
        .map(|(steps, label)| {
            view! {
                <option value=*label selected=move || speed.get() == *steps>
                    {format!("{label}×")}
                </option>
            }
        })
        .collect_view();
    let choose = move |event| {
        if let Ok(steps) = event_target_value(&event).parse::<f64>() {
            speed.set(steps);
        }
    };
    view! {
        <div class="timeline" role="group" aria-label="Timeline">
            <div class="timeline-buttons">
                {go("First", Glyph::First, Signal::derive(at_start), |_, _| 0)}
                {go("Previous", Glyph::Previous, Signal::derive(at_start), |step, _| step.saturating_sub(1))}
                <button
                    type="button"
                    class="quiet icon-button"
                    title=play_label
                    disabled=move || length.get() == 0
                    on:click=play
                >
                    {play_icon}
                    <span class="visually-hidden">{play_label}</span>
                </button>
                {go("Next", Glyph::Next, Signal::derive(at_end), |step, length| length.min(step + 1))}
                {go("Last", Glyph::Last, Signal::derive(at_end), |_, length| length)}
            </div>
            <input
                type="range"
                aria-label="Step"
                min="0"
                max=move || length.get().to_string()
                prop:value=move || selected.get().min(length.get()).to_string()
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
}
