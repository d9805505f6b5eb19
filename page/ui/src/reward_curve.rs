//! A bar chart of an amount per step, with a line of the running total.

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_episode::Episode;
use volary_view::curve::{Bounds, Curve, HEIGHT, WIDTH, bounds, of_amounts, step_at, x_of_step};
use volary_view::curve_texts::{measure_at, measure_summary, reward_at, reward_summary};
use volary_view::measures::StepMeasure;
use volary_view::summary::reward_text;
use volary_view::tally::Tally;

use volary_browser as browser;

/// The reward curve. A click selects a step; the timeline's slider does the same for keyboard users.
#[component]
pub fn RewardCurve(
    #[prop(into)] episode: Signal<Arc<Episode>>,
    /// Changes whenever existing steps are replaced or removed.
    #[prop(into)]
    edition: Signal<u32>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
) -> impl IntoView {
    let tally = StoredValue::new(Tally::default());
    let bounds = Memo::new(move |_| {
        let edition = edition.get();
        episode.with(|episode| tally.update_value(|tally| tally.follow(episode, edition)));
        tally.with_value(|tally| bounds(&tally.rewards))
    });
    let drawn = Memo::new(move |_| (edition.get(), bounds.with(|bounds| bounds.drawn)));
    let curve = Memo::new(move |_| {
        let (_, steps) = drawn.get();
        tally.with_value(|tally| {
            let rewards = tally.rewards.get(..steps).unwrap_or_default();
            of_amounts(rewards)
        })
    });
    let summary = Signal::derive(move || {
        edition.track();
        bounds.with(|bounds| {
            let total =
                episode.with_untracked(|episode| tally.with_value(|tally| tally.reward(episode)));
            reward_summary(bounds, total.unwrap_or_default())
        })
    });
    let here = Signal::derive(move || {
        let step = selected.get();
        edition.track();
        bounds.track();
        let last = episode.with_untracked(|episode| {
            let record = episode.steps.get(step.checked_sub(1)?)?;
            record.reward()
        });
        tally.with_value(|tally| reward_at(&tally.rewards, step, last))
    });
    let shape = (curve, bounds);
    figure("Reward", reward_text, shape, summary, here, selected)
}

/// The curve of a measure of each step, such as its cost.
pub fn measure_curve(
    measure: &'static StepMeasure,
    episode: Signal<Arc<Episode>>,
    selected: RwSignal<usize>,
) -> AnyView {
    let amounts = Memo::new(move |_| episode.with(|episode| (measure.amounts)(episode)));
    let curve = Memo::new(move |_| amounts.with(|amounts| of_amounts(amounts)));
    let bounds = Memo::new(move |_| amounts.with(|amounts| bounds(amounts)));
    let summary = Signal::derive(move || amounts.with(|amounts| measure_summary(measure, amounts)));
    let here = Signal::derive(move || {
        let step = selected.get();
        amounts.with(|amounts| measure_at(measure, amounts, step))
    });
    let shape = (curve, bounds);
    figure(measure.name, measure.words, shape, summary, here, selected)
}

fn figure(
    name: &'static str,
    amount: fn(f64) -> String,
    (curve, bounds): (Memo<Curve>, Memo<Bounds>),
    summary: Signal<String>,
    here: Signal<String>,
    selected: RwSignal<usize>,
) -> AnyView {
    let here_line = move || {
        let steps = bounds.with(|bounds| bounds.steps);
        vertical_line(x_of_step(selected.get().min(steps), steps))
    };
    let choose = move |click: MouseEvent| {
        if let Some(place) = browser::element::click_place(&click) {
            selected.set(step_at(place, bounds.with_untracked(|bounds| bounds.steps)));
        }
    };
    let of_curve = move |part: fn(&Curve) -> String| move || curve.with(part);
    // If all amounts are zero, both bounds are equal and shown once.
    let high = move || {
        bounds.with(|bounds| {
            if bounds.high > bounds.low {
                amount(bounds.high)
            } else {
                String::new()
            }
        })
    };
    view! {
        <figure class="reward-curve">
            <figcaption>
                <span class="figure-title">{name}</span>
                <span class="faint">{here}</span>
            </figcaption>
            <div class="curve-box">
                <svg
                    role="img"
                    aria-label=summary
                    viewBox=view_box()
                    preserveAspectRatio="none"
                    on:click=choose
                >
                    <path class="curve-zero" d=of_curve(|curve| zero_line(curve.zero))></path>
                    <path class="curve-rewards" d=of_curve(|curve| curve.rewards.clone())></path>
                    <path class="curve-total" d=of_curve(|curve| curve.total.clone())></path>
                    <path class="curve-points" d=of_curve(|curve| curve.points.clone())></path>
                    <path class="curve-here" d=here_line></path>
                </svg>
                <span class="curve-high">{high}</span>
                <span class="curve-low">{move || bounds.with(|bounds| amount(bounds.low))}</span>
            </div>
        </figure>
    }
    .into_any()
}

fn view_box() -> String {
    format!("0 0 {WIDTH} {HEIGHT}")
}

fn vertical_line(x: f64) -> String {
    format!("M{x:.1} 0V{HEIGHT}")
}

fn zero_line(y: f64) -> String {
    format!("M0 {y:.1}H{WIDTH}")
}
