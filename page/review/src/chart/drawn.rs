//! A chart with its axes, and the point under the cursor.

use std::sync::Arc;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use volary_analysis::table::chart::{Axis, Chart, ChartKind, Strip};
use volary_analysis::table::{Column, Row};
use volary_core::quantity::{count_text, plural};
use volary_view::library::{cell_text, heading};
use volary_view::point_keys::{PointKey, PointStart, point_key};

use super::address;
use super::paths::{SIDE, dots, grid, means, ticks};
use super::tables::{counts_table, values_table};
use crate::groups::rounded;
use crate::selection::Look;
use volary_browser::{element, keys, location};
use volary_ui::text::inert;

/// The approximate ratio of the chart's width to its height.
const STRETCH: f64 = 3.0;
/// The maximum distance of a click from a point, as a fraction of the height.
const NEAR: f64 = 0.08;

/// A chart and the data that it shows.
#[derive(Clone)]
pub(super) struct DrawnChart {
    pub look: Look,
    /// The rows that pass the filters.
    pub rows: Arc<Vec<Arc<Row>>>,
    pub chart: Arc<Chart>,
    /// The columns across and up.
    pub columns: [Column; 2],
}

impl DrawnChart {
    pub fn draw(self) -> AnyView {
        let left_out = match self.chart.left_out {
            0 => String::new(),
            count => format!(
                " {} without a value or in a rare category.",
                plural(count, "trajectory")
            ),
        };
        let names = self.columns.each_ref().map(heading);
        let drawing = match &self.chart.kind {
            ChartKind::Counts {
                columns,
                rows,
                counts,
            } => return counts_table(&self, columns, rows, counts, &left_out),
            ChartKind::Points { x, y, .. } => {
                let below = ticks(x, &self.columns[0]);
                let below = below.into_iter().map(|tick| view! { <span>{tick}</span> });
                let below = view! { <div class="plot-x">{below.collect_view()}</div> };
                self.frame(y, 1, &[], below.into_any())
            }
            ChartKind::Strips {
                strips,
                y,
                is_swapped,
                ..
            } => {
                let below = strips.iter().map(strip_label);
                let below = view! { <div class="plot-x chart-names">{below.collect_view()}</div> };
                self.frame(y, usize::from(!is_swapped), strips, below.into_any())
            }
        };
        let about = format!(
            "{} by {}, {}.{left_out}",
            names[1],
            names[0].to_lowercase(),
            plural(self.chart.points().len(), "trajectory"),
        );
        view! {
            <p class="faint chart-about">{about}</p>
            {drawing}
            {self.table()}
        }
        .into_any()
    }

    /// The plot area with the axis on the left and the point under the cursor.
    fn frame(&self, y: &Axis, of_y: usize, strips: &[Strip], below: AnyView) -> AnyView {
        let at = RwSignal::new(None::<usize>);
        let count = self.chart.points().len();
        let mut left = ticks(y, &self.columns[of_y]);
        left.reverse();
        let left = left.into_iter().map(|tick| view! { <span>{tick}</span> });
        let shown = self.clone();
        let nearest = move |event: &MouseEvent| {
            let (x, y) = (element::click_place(event)?, element::click_height(event)?);
            shown.chart.nearest(x, 1.0 - y, STRETCH, NEAR)
        };
        let hovered = nearest.clone();
        let shown = self.clone();
        let opened = move |event: MouseEvent| {
            if let Some(place) = nearest(&event) {
                at.set(Some(place));
                shown.open(place);
            }
        };
        let shown = self.clone();
        let pressed = move |event: KeyboardEvent| {
            let now = at.get_untracked();
            let key = keys::plain_key(&event);
            let key = key.and_then(|key| point_key(&key, now, count, PointStart::First));
            let Some(key) = key else {
                return;
            };
            event.prevent_default();
            match key {
                PointKey::GoTo(place) => at.set(Some(place)),
                PointKey::Open(place) => shown.open(place),
            }
        };
        let shown = self.clone();
        let told = Memo::new(move |_| at.get().map(|place| shown.told(place)).unwrap_or_default());
        let shown = self.clone();
        let here = move || {
            let point = at
                .get()
                .and_then(|place| shown.chart.points().get(place).copied());
            point
                .map(|point| dots(std::iter::once(&point)))
                .unwrap_or_default()
        };
        let marks = dots(self.chart.points().iter());
        let lines = grid(y);
        let (means, ends) = means(strips);
        let name = format!(
            "{} by {}: arrow keys lead through the points, Enter opens one",
            heading(&self.columns[1]),
            heading(&self.columns[0]).to_lowercase()
        );
        view! {
            <div class="chart-frame">
                <div class="plot-y" aria-hidden="true">
                    {left.collect_view()}
                </div>
                <div
                    class="chart-area plot"
                    role="slider"
                    tabindex="0"
                    aria-label=name
                    aria-valuemin="1"
                    aria-valuemax=count.max(1).to_string()
                    aria-valuenow=move || at.get().map_or(1, |place| place + 1).to_string()
                    aria-valuetext=move || match told.get() {
                        text if text.is_empty() => "No point".to_owned(),
                        text => text,
                    }
                    on:keydown=pressed
                    on:click=opened
                    on:mousemove=move |event| {
                        if let Some(place) = hovered(&event) {
                            at.set(Some(place));
                        }
                    }
                >
                    <svg
                        viewBox=format!("0 0 {SIDE} {SIDE}")
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <path class="chart-grid" d=lines></path>
                        <path class="chart-dots" d=marks></path>
                        <path class="chart-ends" d=ends></path>
                        <path class="chart-means" d=means></path>
                        <path class="chart-here" d=here></path>
                    </svg>
                </div>
                <span></span>
                {below}
            </div>
            <p class="chart-told" dir="auto">
                {move || match told.get() {
                    text if text.is_empty() => inert("Point at a trajectory, or use the arrow keys."),
                    text => inert(&text),
                }}
            </p>
        }
        .into_any()
    }

    fn row(&self, place: usize) -> Option<&Arc<Row>> {
        let point = self.chart.points().get(place)?;
        self.rows.get(point.row)
    }

    fn open(&self, place: usize) {
        if let Some(row) = self.row(place) {
            location::go(&address(row));
        }
    }

    /// A text description of a point.
    fn told(&self, place: usize) -> String {
        let Some(row) = self.row(place) else {
            return String::new();
        };
        let values = self.columns.each_ref().map(|column| {
            let value = cell_text(row, column);
            format!("{} {value}", heading(column).to_lowercase())
        });
        format!("{}: {}", cell_text(row, &Column::Name), values.join(", "))
    }

    /// The chart's data as a table.
    fn table(&self) -> AnyView {
        let shown = self.clone();
        let is_open = RwSignal::new(false);
        let content = move || is_open.get().then(|| values_table(&shown));
        view! {
            <details
                class="chart-table"
                on:toggle=move |event| is_open.set(element::is_details_open(&event))
            >
                <summary>{"As a table"}</summary>
                {content}
            </details>
        }
        .into_any()
    }
}

fn strip_label(strip: &Strip) -> impl IntoView + use<> {
    view! {
        <span title=strip.name.clone() dir="auto">
            {inert(&strip.name)}
            <small>{format!("{} · n={}", rounded(strip.mean.mean), count_text(strip.mean.count))}</small>
        </span>
    }
}
