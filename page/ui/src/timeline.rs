//! The timeline of an episode: a slider over its steps, and playback controls.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::json::float_from_text;
use volary_core::quantity::{count_text, plural};

use super::icon::{Glyph, Icon, NamedIcon};

/// The available playback speeds, in steps per second.
const SPEEDS: [(f64, &str); 5] = [
    (0.5, "0.5"),
    (1.0, "1"),
    (2.0, "2"),
    (5.0, "5"),
    (20.0, "20"),
];

/// The **Step** slider of an episode, with buttons for playback and navigation.
#[component]
pub fn Timeline(
    /// The number of steps.
    #[prop(into)]
    length: Signal<usize>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
    playing: RwSignal<bool>,
    /// Speed in steps per second.
    speed: RwSignal<f64>,
) -> impl IntoView {
    let go = move |name: &'static str, glyph: Glyph, to: fn(usize, usize) -> usize| {
        let vain = move || {
            let step = selected.get();
            to(step, length.get()) == step
        };
        let go = move |_| selected.update(|step| *step = to(*step, length.get_untracked()));
        view! {
            <button
                type="button"
                class="quiet icon-button"
                title=name
                disabled=vain
                on:click=go
            >
                <NamedIcon glyph name/>
            </button>
        }
    };
    let moved = move |event: Event| {
        if let Ok(step) = event_target_value(&event).parse::<usize>() {
            selected.set(step.min(length.get_untracked()));
        }
    };
    let place = move || {
        let (step, length) = (count_text(selected.get()), count_text(length.get()));
        format!("{step} / {length}")
    };
    let place_in_words = move || match selected.get() {
        0 => format!("reset, of {}", plural(length.get(), "step")),
        step => format!("{step} of {}", length.get()),
    };
    view! {
        <div class="timeline" role="group" aria-label="Timeline">
            <div class="timeline-buttons">
                {go("First", Glyph::First, |_, _| 0)}
                {go("Previous", Glyph::Previous, |step, _| step.saturating_sub(1))}
                <PlayButton length selected playing/>
                {go("Next", Glyph::Next, |step, length| length.min(step + 1))}
                {go("Last", Glyph::Last, |_, length| length)}
            </div>
            <input
                type="range"
                aria-label="Step"
                disabled=move || length.get() == 0
                min="0"
                max=move || length.get().to_string()
                aria-valuetext=place_in_words
                prop:value=move || selected.get().min(length.get()).to_string()
                on:input=moved
            />
            <span class="timeline-place" aria-hidden="true">
                {place}
            </span>
            <SpeedChoice length speed/>
        </div>
    }
}

#[component]
fn PlayButton(
    length: Signal<usize>,
    selected: RwSignal<usize>,
    playing: RwSignal<bool>,
) -> impl IntoView {
    let play = move |_| {
        let at_end = selected.get_untracked() >= length.get_untracked();
        if !playing.get_untracked() && at_end {
            selected.set(0);
        }
        playing.update(|playing| *playing = !*playing);
    };
    let name = move || if playing.get() { "Pause" } else { "Play" };
    let glyph = move || {
        if playing.get() {
            Glyph::Pause
        } else {
            Glyph::Play
        }
    };
    view! {
        <button
            type="button"
            class="quiet icon-button"
            title=name
            disabled=move || length.get() == 0
            on:click=play
        >
            {move || view! { <Icon glyph=glyph()/> }}
            <span class="visually-hidden">{name}</span>
        </button>
    }
}

#[component]
fn SpeedChoice(length: Signal<usize>, speed: RwSignal<f64>) -> impl IntoView {
    let options = SPEEDS.iter().map(|(steps, label)| {
        view! {
            <option value=*label selected=move || speed.get() == *steps>
                {format!("{label}×")}
            </option>
        }
    });
    let choose = move |event: Event| {
        if let Some(steps) = float_from_text(&event_target_value(&event)) {
            speed.set(steps);
        }
    };
    view! {
        <select
            aria-label="Speed"
            title="Speed"
            disabled=move || length.get() == 0
            on:change=choose
        >
            {options.collect_view()}
        </select>
    }
}
