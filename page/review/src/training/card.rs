//! A curve of a run over its steps, with that of a second run. All curves share one play-head: pointing at a step, or the
//! arrow keys, moves it in all of them; a click or Enter opens the step.

use std::sync::Arc;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use volary_analysis::training::{Measure, Series, SeriesPoint, TrainingRun};
use volary_view::point_keys::{PointKey, PointStart, point_key};
use volary_view::route::TrainingPlace;
use volary_view::training::{ChartFrame, SIDE, figure_text, spread_text};

use super::{ShownRun, Training};
use volary_browser::{element, keys, location};
use volary_ui::text::inert;

/// The start of the ids of curves.
pub(super) const CURVE: &str = "curve-";

/// The card of a curve; `None` if nothing is known at any step of either run.
pub(super) fn card(
    training: Training,
    shown: &Arc<ShownRun>,
    beside: Option<&Arc<ShownRun>>,
    series: Series,
) -> Option<AnyView> {
    let points = series.points(&shown.run);
    let others = beside
        .map(|beside| series.points(&beside.run))
        .unwrap_or_default();
    let is_share = series.is_share();
    let frame = ChartFrame::of(&[&points, &others], is_share)?;
    let steps: Vec<i64> = shown.run.steps.iter().map(|step| step.step).collect();
    let frame = ChartFrame {
        steps: all_steps(shown, beside),
        ..frame
    };
    let title = match &series {
        Series::Measure(Measure::Reward) => shown.reward_title(),
        Series::Measure(measure) => measure.title(),
        other => other.name().to_owned(),
    };
    let name = format!("{title} over steps: arrow keys lead through the steps, Enter opens one");
    let changes = [&points, &others].map(|points| change(points, is_share));
    let [own_change, other_change] = changes;
    let plot = Plot {
        training,
        shown: Arc::clone(shown),
        beside: beside.filter(|_| !others.is_empty()).cloned(),
        frame,
        steps: Arc::new(steps),
        series,
    };
    let (told, about) = (plot.told(), plot.series.about());
    let value = move || told.with(|told| told.own.clone());
    let other = plot.beside.as_ref().map(|beside| {
        let value = move || told.with(|told| told.beside.clone());
        view! {
            <p class="run-beside">
                <span class="run-key other" title=beside.title.clone()>{value}</span>
                <span class="faint">{other_change}</span>
            </p>
        }
    });
    Some(
        view! {
            <section class="run-card" title=about>
                <header>
                    <h2 dir="auto">{inert(&title)}</h2>
                    <strong class="run-now">{value}</strong>
                    <span class="faint run-change">{own_change}</span>
                    {other}
                </header>
                {plot.draw(&points, &others, name)}
            </section>
        }
        .into_any(),
    )
}

/// The first and the last step of both runs.
fn all_steps(shown: &ShownRun, beside: Option<&Arc<ShownRun>>) -> (i64, i64) {
    let runs = std::iter::once(shown).chain(beside.map(AsRef::as_ref));
    let steps = runs.flat_map(|shown| shown.run.steps.iter().map(|step| step.step));
    let range = steps.fold(None, |range: Option<(i64, i64)>, step| {
        let (first, last) = range.unwrap_or((step, step));
        Some((first.min(step), last.max(step)))
    });
    range.unwrap_or_default()
}

/// The values at both ends.
fn change(points: &[SeriesPoint], is_share: bool) -> Option<String> {
    let ([first, .., last], true) = (points, points.len() > 1) else {
        return None;
    };
    let text = |point: &SeriesPoint| figure_text(point.mean, is_share);
    Some(format!("{} → {}", text(first), text(last)))
}

/// The values that a card tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Told {
    own: String,
    /// That of the second run at the same step.
    beside: Option<String>,
}

#[derive(Clone)]
struct Plot {
    training: Training,
    shown: Arc<ShownRun>,
    /// The second run, if it has a curve here.
    beside: Option<Arc<ShownRun>>,
    frame: ChartFrame,
    steps: Arc<Vec<i64>>,
    series: Series,
}

impl Plot {
    /// The values at the play-head, or at the last step of each run.
    fn told(&self) -> Memo<Told> {
        let plot = self.clone();
        Memo::new(move |_| {
            let last = plot.steps.len().saturating_sub(1);
            let head = plot.training.head.get().map(|at| at.min(last));
            let beside = plot.beside.as_ref().map(|beside| {
                let run = &beside.run;
                let step = head.and_then(|at| plot.steps.get(at));
                let at = match step {
                    Some(step) => run.index_of(*step),
                    None => run.steps.len().checked_sub(1),
                };
                at.map_or("–".to_owned(), |at| value(&plot.series, run, at))
            });
            Told {
                own: value(&plot.series, &plot.shown.run, head.unwrap_or(last)),
                beside,
            }
        })
    }

    fn open(&self, at: usize) {
        if let Some(step) = self.steps.get(at) {
            let place = TrainingPlace {
                step: Some(*step),
                group: None,
                ..self.training.here()
            };
            location::go(&place.to_hash());
        }
    }

    fn nearest(&self, event: &MouseEvent) -> Option<usize> {
        self.frame
            .nearest(&self.steps, element::click_place(event)?)
    }

    fn press(&self, event: &KeyboardEvent) {
        let head = self.training.head;
        let count = self.steps.len();
        let at = head.get_untracked();
        let key = keys::plain_key(event);
        let key = key.and_then(|key| point_key(&key, at, count, PointStart::NearEnd));
        let Some(key) = key else {
            return;
        };
        event.prevent_default();
        match key {
            PointKey::GoTo(at) => head.set(Some(at)),
            PointKey::Open(at) => self.open(at),
        }
    }

    fn draw(self, points: &[SeriesPoint], others: &[SeriesPoint], name: String) -> AnyView {
        let frame = self.frame;
        let head = self.training.head;
        let is_share = self.series.is_share();
        let (low, high) = frame.values;
        let last = self.steps.len().saturating_sub(1);
        let steps = Arc::clone(&self.steps);
        let at = move || head.get().unwrap_or(last).min(last);
        let line_here = {
            let steps = Arc::clone(&steps);
            move || {
                let step = steps.get(head.get()?.min(last)).copied()?;
                Some(format!("M{:.1} 0V{SIDE}", frame.x(step)))
            }
        };
        let told = self.told();
        let valuetext = {
            let steps = Arc::clone(&steps);
            let beside = self.beside.clone();
            move || {
                let step = steps.get(at()).copied().unwrap_or_default();
                let Told { own, beside: other } = told.get();
                match (&beside, other) {
                    (Some(beside), Some(other)) => {
                        format!("Step {step}: {own}; {}: {other}", beside.title)
                    }
                    _ => format!("Step {step}: {own}"),
                }
            }
        };
        let (hovered, opened, pressed) = (self.clone(), self.clone(), self);
        let beside = (!others.is_empty()).then(|| {
            view! {
                <path class="run-other-band" d=frame.band(others)></path>
                <path class="run-other" d=frame.line(others)></path>
                <path class="run-other-dots" d=frame.dots(others)></path>
            }
        });
        let (first_step, last_step) = frame.steps;
        let (top, bottom) = (figure_text(high, is_share), figure_text(low, is_share));
        // Two labels with the same text say nothing.
        let bottom = (bottom != top).then_some(bottom);
        let id = format!("{CURVE}{}", pressed.series.name());
        view! {
            <div class="run-frame">
                <div class="plot-y" aria-hidden="true">
                    <span>{top}</span>
                    <span>{bottom}</span>
                </div>
                <div
                    class="run-plot plot"
                    role="slider"
                    id=id
                    tabindex="0"
                    aria-label=name
                    aria-valuemin="1"
                    aria-valuemax=(last + 1).to_string()
                    aria-valuenow=move || (at() + 1).to_string()
                    aria-valuetext=valuetext
                    on:keydown=move |event| pressed.press(&event)
                    on:click=move |event| {
                        if let Some(at) = opened.nearest(&event) {
                            opened.training.head.set(Some(at));
                            opened.open(at);
                        }
                    }
                    on:mousemove=move |event| {
                        if let Some(at) = hovered.nearest(&event) {
                            head.set(Some(at));
                        }
                    }
                    on:mouseleave=move |_| head.set(None)
                >
                    <svg
                        viewBox=format!("0 0 {SIDE} {SIDE}")
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <path class="run-band" d=frame.band(points)></path>
                        {beside}
                        <path class="run-line" d=frame.line(points)></path>
                        <path class="run-dots" d=frame.dots(points)></path>
                        <path class="run-head" d=line_here></path>
                    </svg>
                </div>
                <span></span>
                <div class="plot-x" aria-hidden="true">
                    <span>{format!("step {first_step}")}</span>
                    {(last_step != first_step).then(|| view! { <span>{last_step.to_string()}</span> })}
                </div>
            </div>
        }
        .into_any()
    }
}

/// The value of a curve at a step of a run, by its index.
fn value(series: &Series, run: &TrainingRun, at: usize) -> String {
    let is_share = series.is_share();
    match series {
        Series::Measure(measure) => {
            let spread = run.spread(at, measure).copied().unwrap_or_default();
            spread_text(spread.mean, spread.deviation, is_share)
        }
        series => {
            let point = series.point(run, at);
            spread_text(point.map(|point| point.mean), None, is_share)
        }
    }
}
