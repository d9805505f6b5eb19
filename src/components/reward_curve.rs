//! The rewards of an episode as a curve: a bar a step and a line of the running total.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::Episode;

use super::erased::{pressed, words};
use crate::projection::curve::{Curve, HEIGHT, WIDTH, curve, step_at, x_of_step};
use crate::projection::summary::reward_text;
use crate::projection::text::plural;
use crate::shell;

/// The reward curve. A click selects a step; the timeline's slider does the same by keyboard.
#[component]
pub fn RewardCurve(
    /// The episode.
    #[prop(into)]
    episode: Signal<Arc<Episode>>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
) -> impl IntoView {
    let curve = Memo::new(move |_| episode.with(|episode| curve(episode)));
    let summary = words(move || {
        let total = episode.with(|episode| episode.total_reward());
        curve.with(|curve| {
            format!(
                "Reward over {}: in total {}. The curve lies between {} and {}.",
                plural(curve.steps, "step"),
                reward_text(total),
                reward_text(curve.low),
                reward_text(curve.high),
            )
        })
    });
    let here = words(move || {
        let step = selected.get();
        let (of_step, total) = episode.with(|episode| {
            let so_far = episode.steps.get(..step.min(episode.steps.len()));
            let so_far = so_far.unwrap_or_default();
            let total: f64 = so_far.iter().filter_map(|step| step.reward()).sum();
            (so_far.last().and_then(|step| step.reward()), total)
        });
        match of_step {
            Some(reward) => format!(
                "{} at step {step}, {} so far",
                reward_text(reward),
                reward_text(total)
            ),
            None if step == 0 => "nothing yet".to_owned(),
            None => format!("none at step {step}, {} so far", reward_text(total)),
        }
    });
    let x_here = words(move || {
        let steps = curve.with(|curve| curve.steps);
        x_of_step(selected.get().min(steps), steps).to_string()
    });
    let choose = pressed(move |click| {
        if let Some(place) = shell::element::click_place(&click) {
            selected.set(step_at(place, curve.with_untracked(|curve| curve.steps)));
        }
    });
    let of_curve = move |part: fn(&Curve) -> String| words(move || curve.with(part));
    let zero = of_curve(|curve| curve.zero.to_string());
    view! {
        <figure class="reward-curve">
            <figcaption>
                <span class="figure-title">"Reward"</span>
                <span class="faint">{here}</span>
            </figcaption>
            <div class="curve-box">
                <svg
                    role="img"
                    aria-label=summary
                    viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                    preserveAspectRatio="none"
                    on:click=choose
                >
                    <line class="curve-zero" x1="0" x2=WIDTH.to_string() y1=zero y2=zero />
                    <path class="curve-rewards" d=of_curve(|curve| curve.rewards.clone()) />
                    <path class="curve-total" d=of_curve(|curve| curve.total.clone()) />
                    <path class="curve-points" d=of_curve(|curve| curve.points.clone()) />
                    <line class="curve-here" x1=x_here x2=x_here y1="0" y2=HEIGHT.to_string() />
                </svg>
                <span class="curve-high">{of_curve(|curve| reward_text(curve.high))}</span>
                <span class="curve-low">{of_curve(|curve| reward_text(curve.low))}</span>
            </div>
        </figure>
    }
    .into_any()
}
