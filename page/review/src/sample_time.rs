//! The spans of time of an episode, each in a lane of its own on one time axis.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::spans::{Span, extent, spans};
use volary_core::quantity::plural;
use volary_episode::Episode;
use volary_view::summary::seconds_text;
use volary_view::time_lanes::{LANE, bar, class_of, span_duration, span_text};
use volary_view::training::SIDE;

use volary_ui::rows::Rows;
use volary_ui::text::inert;

/// The height of a lane in pixels, as in the style sheet.
const ROW: f64 = 28.0;
/// The deepest level that is indented.
const DEEPEST: usize = 5;

/// The section about time; empty if the file records no spans.
pub(super) fn sample_time(episode: &Episode) -> Option<AnyView> {
    let spans = Arc::new(spans(episode));
    let (started, seconds) = extent(&spans)?;
    let count = spans.len();
    let rows = Rows {
        count: Signal::derive(move || count),
        edition: Signal::derive(|| 0),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "list",
        class: "time-lanes",
        name: Some("Spans of time"),
    };
    let words = format!("{} in {}.", plural(count, "span"), seconds_text(seconds));
    let draw = move |place: usize| {
        let span = spans.get(place);
        span.map(|span| lane(span, started, seconds)).into_any()
    };
    Some(
        view! {
            <section class="detail">
                <h2>{"Time"}</h2>
                <p class="help">{words}</p>
                // Its rows have no controls, so the list itself takes the focus to be scrolled.
                <div class="time-lanes-frame of-sample">
                    <Lanes rows draw attr:tabindex="0"/>
                </div>
            </section>
        }
        .into_any(),
    )
}

/// The scrolling element; the caller supplies its attributes.
#[component]
fn Lanes(rows: Rows, draw: impl Fn(usize) -> AnyView + Send + Sync + 'static) -> impl IntoView {
    rows.view(draw)
}

fn lane(span: &Span, started: f64, seconds: f64) -> AnyView {
    let (from, to) = (span.from - started, span.to.map(|to| to - started));
    let duration = span_duration(span);
    let title = span_text(span, started);
    let label = title.clone();
    let class = match to {
        Some(_) => class_of(span.kind),
        None => "lane-open",
    };
    let path = bar(span.kind, from, to.unwrap_or(seconds), (0.0, seconds));
    view! {
        <div class="time-lane" role="listitem" title=title>
            <span class=format!("lane-name depth-{}", span.depth.min(DEEPEST)) dir="auto">
                {inert(&span.name)}
            </span>
            <span class="lane-seconds">{duration}</span>
            <svg
                viewBox=format!("0 0 {SIDE} {LANE}")
                preserveAspectRatio="none"
                role="img"
                aria-label=label
            >
                <path class=class d=path></path>
            </svg>
        </div>
    }
    .into_any()
}
