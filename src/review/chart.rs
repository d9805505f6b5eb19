//! The chart above the table: any column against any other, for the rows that pass the filters. Each point opens its
//! trajectory, by a click or by the arrow keys and Enter. A table below lists the same values.

use std::sync::Arc;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use volary_trajectory::table::chart::{Axis, Chart, ChartKind, Point, Strip};
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::view::{column_text, read_column};
use volary_trajectory::table::{Column, Row};

use super::groups::{mean_text, rounded};
use super::selection::Look;
use crate::browser::{element, location};
use crate::components::text::inert;
use crate::projection::library::{cell_text, heading};
use crate::projection::text::{count_text, plural};
use crate::route::{ReviewPlace, Route};

/// The side of the square view box in its own units; the browser stretches it to the size of the chart.
const SIDE: f64 = 1000.0;
/// The approximate ratio of the chart's width to its height.
const STRETCH: f64 = 3.0;
/// The maximum distance of a click from a point, as a fraction of the height.
const NEAR: f64 = 0.08;
/// The maximum number of points that the table lists.
const MOST_LISTED: usize = 200;

/// The chart, if it is shown.
#[component]
pub(super) fn Charts(look: Look) -> impl IntoView {
    let columns = Memo::new(move |_| look.chart.get());
    let drawing = move || {
        let (first, second) = columns.get()?;
        let rows = look.shown.get();
        let chart = Arc::new(Chart::of(&rows, &first, &second));
        let shown = DrawnChart {
            look,
            rows,
            chart,
            columns: [first, second],
        };
        Some(shown.draw())
    };
    view! {
        <Show when=move || columns.with(Option::is_some)>
            <section class="column-chart" aria-label="Chart">
                <ChartColumns look/>
                {drawing}
            </section>
        </Show>
    }
}

/// The choice of the two columns.
#[component]
fn ChartColumns(look: Look) -> impl IntoView {
    let columns = look.all_columns;
    let choice = move |name: &'static str, place: usize| {
        let of = move |chart: &(Column, Column)| match place {
            0 => column_text(&chart.0),
            _ => column_text(&chart.1),
        };
        let now = move || {
            look.chart
                .with(|chart| chart.as_ref().map(of))
                .unwrap_or_default()
        };
        let change = move |event| {
            let Some(column) = read_column(&event_target_value(&event)) else {
                return;
            };
            look.chart.update(|chart| {
                if let Some(chart) = chart {
                    match place {
                        0 => chart.0 = column,
                        _ => chart.1 = column,
                    }
                }
            });
        };
        let options = move || {
            let columns = columns.get();
            let options = columns.iter().map(|column| {
                let text = column_text(column);
                let value = text.clone();
                view! {
                    <option value=value prop:selected=move || now() == text>
                        {inert(&heading(column))}
                    </option>
                }
            });
            options.collect_view()
        };
        view! {
            <label class="group-choice">
                <span>{name}</span>
                <select prop:value=now on:change=change>
                    {options}
                </select>
            </label>
        }
    };
    let swap = move |_| {
        look.chart.update(|chart| {
            *chart = chart.take().map(|(first, second)| (second, first));
        });
    };
    view! {
        <div class="chart-columns">
            {choice("Across", 0)} {choice("Up", 1)}
            <button type="button" class="quiet small" on:click=swap>
                {"Swap"}
            </button>
            <button type="button" class="quiet small" on:click=move |_| look.chart.set(None)>
                {"Close chart"}
            </button>
        </div>
    }
}

/// A chart and the data that it shows.
#[derive(Clone)]
struct DrawnChart {
    look: Look,
    rows: Arc<Vec<Arc<Row>>>,
    chart: Arc<Chart>,
    columns: [Column; 2],
}

impl DrawnChart {
    fn draw(self) -> AnyView {
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
            } => return self.counts(columns, rows, counts, &left_out),
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
            let next = match &*event.key() {
                "ArrowRight" | "ArrowUp" => {
                    now.map_or(0, |now| (now + 1).min(count.saturating_sub(1)))
                }
                "ArrowLeft" | "ArrowDown" => now.unwrap_or(0).saturating_sub(1),
                "Home" => 0,
                "End" => count.saturating_sub(1),
                "Enter" => {
                    if let Some(now) = now {
                        shown.open(now);
                    }
                    return;
                }
                _ => return,
            };
            event.prevent_default();
            at.set(Some(next));
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
        let content = move || is_open.get().then(|| shown.listed());
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

    fn listed(&self) -> AnyView {
        if let ChartKind::Strips { strips, .. } = &self.chart.kind {
            let [first, second] = match &self.chart.kind {
                ChartKind::Strips {
                    is_swapped: true, ..
                } => [1, 0],
                _ => [0, 1],
            };
            let lines = strips.iter().map(|strip| {
                let half = strip.mean.high.map(|high| high - strip.mean.mean);
                view! {
                    <tr>
                        <th scope="row" dir="auto">
                            {inert(&strip.name)}
                        </th>
                        <td class="column-number">{mean_text(strip.mean.mean, half)}</td>
                        <td class="column-number">{count_text(strip.mean.count)}</td>
                    </tr>
                }
            });
            return view! {
                <table aria-label="Means">
                    <thead>
                        <tr>
                            <th scope="col">{heading(&self.columns[first])}</th>
                            <th scope="col">
                                {format!("Mean {}", heading(&self.columns[second]).to_lowercase())}
                            </th>
                            <th scope="col">{"Trajectories"}</th>
                        </tr>
                    </thead>
                    <tbody>{lines.collect_view()}</tbody>
                </table>
            }
            .into_any();
        }
        let points = self.chart.points().iter().take(MOST_LISTED);
        let lines = points.filter_map(|point| {
            let row = self.rows.get(point.row)?;
            let [first, second] = self.columns.each_ref().map(|column| cell_text(row, column));
            Some(view! {
                <tr>
                    <th scope="row">
                        <a href=address(row) dir="auto">
                            {inert(&cell_text(row, &Column::Name))}
                        </a>
                    </th>
                    <td class="column-number">{first}</td>
                    <td class="column-number">{second}</td>
                </tr>
            })
        });
        let more = self.chart.points().len().saturating_sub(MOST_LISTED);
        let more = (more > 0).then(|| {
            let words = format!("{} more. Filter to see them.", count_text(more));
            view! { <p class="faint">{words}</p> }
        });
        let heads = self.columns.each_ref().map(heading);
        let heads = heads.map(|name| view! { <th scope="col">{name}</th> });
        view! {
            <table aria-label="Points">
                <thead>
                    <tr>
                        <th scope="col">{"Name"}</th>
                        {heads.into_iter().collect_view()}
                    </tr>
                </thead>
                <tbody>{lines.collect_view()}</tbody>
            </table>
            {more}
        }
        .into_any()
    }

    /// A chart of counts is drawn as a table; each cell links to its rows.
    fn counts(
        &self,
        columns: &[String],
        rows: &[String],
        counts: &[Vec<usize>],
        left_out: &str,
    ) -> AnyView {
        let heads = columns.iter().map(|name| {
            view! {
                <th scope="col" dir="auto">
                    {inert(name)}
                </th>
            }
        });
        let most = counts.iter().flatten().copied().max().unwrap_or(1).max(1);
        let lines = rows.iter().zip(counts).map(|(name, line)| {
            let cells = columns.iter().zip(line).map(|(column, count)| {
                let share = (*count as f64 / most as f64 * 4.0).ceil() as usize;
                let label = format!("Show {} of {column}, {name}", plural(*count, "trajectory"));
                let (look, of) = (self.look, self.columns.clone());
                let values = [column.clone(), name.clone()];
                let only = move |_| {
                    let filters = of.iter().cloned().zip(values.clone());
                    let filters = filters.map(|(column, value)| (column, Filter::OneOf(vec![value])));
                    look.filters.update(|known| known.extend(filters));
                };
                match count {
                    0 => view! { <td class="column-number faint">{"–"}</td> }.into_any(),
                    count => view! {
                        <td class=format!("column-number share-{share}")>
                            <button type="button" class="quiet cross-cell" title=label on:click=only>
                                {count_text(*count)}
                            </button>
                        </td>
                    }
                    .into_any(),
                }
            });
            let cells = cells.collect_view();
            view! {
                <tr>
                    <th scope="row" dir="auto">
                        {inert(name)}
                    </th>
                    {cells}
                </tr>
            }
        });
        let corner = format!(
            "{} / {}",
            heading(&self.columns[1]),
            heading(&self.columns[0])
        );
        view! {
            <p class="faint chart-about">{format!("Trajectories by both columns.{left_out}")}</p>
            <div class="group-table chart-counts">
                <table aria-label="Counts">
                    <thead>
                        <tr>
                            <th scope="col">{corner}</th>
                            {heads.collect_view()}
                        </tr>
                    </thead>
                    <tbody>{lines.collect_view()}</tbody>
                </table>
            </div>
        }
        .into_any()
    }
}

fn address(row: &Row) -> String {
    Route::Review(ReviewPlace {
        episode: Some(row.id.to_string()),
        ..ReviewPlace::default()
    })
    .to_hash()
}

fn strip_label(strip: &Strip) -> impl IntoView + use<> {
    view! {
        <span title=strip.name.clone() dir="auto">
            {inert(&strip.name)}
            <small>{format!("{} · n={}", rounded(strip.mean.mean), count_text(strip.mean.count))}</small>
        </span>
    }
}

/// Labels of an axis, formatted as the cells of its column.
fn ticks(axis: &Axis, column: &Column) -> Vec<String> {
    let times = matches!(column, Column::Started | Column::Added);
    let is_whole = axis.ticks.iter().all(|tick| tick.fract() == 0.0);
    let ticks = axis.ticks.iter();
    ticks
        .map(|tick| match (times, is_whole) {
            (true, _) => crate::projection::library::date_text(*tick),
            (false, true) => format!("{tick}"),
            (false, false) => rounded(*tick),
        })
        .collect()
}

/// Zero-length lines with round caps: they stay circular however the drawing is stretched.
fn dots<'a>(points: impl Iterator<Item = &'a Point>) -> String {
    points
        .map(|point| format!("M{:.1} {:.1}h0", point.x * SIDE, (1.0 - point.y) * SIDE))
        .collect()
}

fn grid(y: &Axis) -> String {
    let last = y.ticks.len().saturating_sub(1).max(1);
    let lines = (0..=last).map(|tick| {
        let height = tick as f64 / last as f64 * SIDE;
        format!("M0 {height:.1}h{SIDE}")
    });
    lines.collect()
}

/// Paths of the strips' means and of the ends of their intervals.
fn means(strips: &[Strip]) -> (String, String) {
    let width = SIDE / strips.len().max(1) as f64;
    let mut means = String::new();
    let mut ends = String::new();
    for (place, strip) in strips.iter().enumerate() {
        let middle = width * (place as f64 + 0.5);
        let (mean, interval) = strip.at;
        let (from, height) = (middle - width * 0.3, (1.0 - mean) * SIDE);
        means.push_str(&format!("M{from:.1} {height:.1}h{:.1}", width * 0.6));
        if let Some((low, high)) = interval {
            let (low, high) = ((1.0 - low) * SIDE, (1.0 - high) * SIDE);
            ends.push_str(&format!("M{middle:.1} {low:.1}V{high:.1}"));
        }
    }
    (means, ends)
}
