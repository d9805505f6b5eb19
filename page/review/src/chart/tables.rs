//! The values of a chart as tables.

use leptos::prelude::*;
use volary_analysis::table::Column;
use volary_analysis::table::chart::{ChartKind, Strip};
use volary_analysis::table::filter::Filter;
use volary_core::quantity::{count_text, plural};
use volary_view::library::{cell_text, heading};

use super::address;
use super::drawn::DrawnChart;
use crate::groups::mean_text;
use volary_ui::text::inert;

/// The maximum number of points that the table lists.
const MOST_LISTED: usize = 200;

/// The values of a chart: the means of its categories, or its points.
pub(super) fn values_table(shown: &DrawnChart) -> AnyView {
    match &shown.chart.kind {
        ChartKind::Strips {
            strips, is_swapped, ..
        } => means_table(shown, strips, *is_swapped),
        ChartKind::Points { .. } | ChartKind::Counts { .. } => points_table(shown),
    }
}

fn means_table(shown: &DrawnChart, strips: &[Strip], is_swapped: bool) -> AnyView {
    let (of_category, of_mean) = if is_swapped { (1, 0) } else { (0, 1) };
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
    view! {
        <table aria-label="Means">
            <thead>
                <tr>
                    <th scope="col">{heading(&shown.columns[of_category])}</th>
                    <th scope="col">
                        {format!("Mean {}", heading(&shown.columns[of_mean]).to_lowercase())}
                    </th>
                    <th scope="col">{"Trajectories"}</th>
                </tr>
            </thead>
            <tbody>{lines.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

fn points_table(shown: &DrawnChart) -> AnyView {
    let points = shown.chart.points().iter().take(MOST_LISTED);
    let lines = points.filter_map(|point| {
        let row = shown.rows.get(point.row)?;
        let [first, second] = shown
            .columns
            .each_ref()
            .map(|column| cell_text(row, column));
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
    let more = shown.chart.points().len().saturating_sub(MOST_LISTED);
    let more = (more > 0).then(|| {
        let words = format!("{} more. Filter to see them.", count_text(more));
        view! { <p class="faint">{words}</p> }
    });
    let heads = shown.columns.each_ref().map(heading);
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
pub(super) fn counts_table(
    shown: &DrawnChart,
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
            let (look, of) = (shown.look, shown.columns.clone());
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
        heading(&shown.columns[1]),
        heading(&shown.columns[0])
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
