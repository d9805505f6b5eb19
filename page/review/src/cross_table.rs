//! Trajectories by two columns: a table with a row for each value of the first and a column for each value of the
//! second, and the comparison of two of these columns, row by row.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::statistics::HalfWidths;
use volary_analysis::table::cross::{Cross, CrossTotal};
use volary_analysis::table::groups::{Group, GroupOrder};
use volary_core::json::Text;
use volary_core::quantity::count_text;
use volary_view::library::heading;

use super::groups::{GroupHeading, bar};
use super::selection::Look;
use volary_ui::text::inert;
use volary_view::review::cross_cells::{
    CrossCellTexts, MoreRows, ShownPart, differing, filters, paired_text, signed, total_texts,
    value_name,
};
use volary_view::review::group_cells::{CONFIDENCE, Grouped, rounded};

/// The table and the comparison.
#[component]
pub(super) fn CrossTable(look: Look, found: RwSignal<Option<Arc<Grouped>>>) -> impl IntoView {
    let names = move || {
        look.groups.with(|groups| {
            let name = |place: usize| groups.get(place).map(heading).unwrap_or_default();
            (name(0), name(1))
        })
    };
    let is_whole = RwSignal::new(false);
    let table = move || {
        let found = found.get()?;
        let cross = found.cross.as_ref()?;
        let (first, second) = names();
        Some(view! {
            <p class="group-facts">
                {format!(
                    "{first}: {} · {second}: {}",
                    count_text(cross.rows.len()),
                    count_text(cross.columns.len()),
                )}
            </p>
            <div class="group-table">
                {cross_table(look, cross, &first, found.range, is_whole)}
            </div>
        })
    };
    view! {
        <div class="cross">
            {table}
            <PairedComparison look found/>
        </div>
    }
}

fn cross_table(
    look: Look,
    cross: &Cross,
    first: &str,
    range: (f64, f64),
    is_whole: RwSignal<bool>,
) -> AnyView {
    let mut widths = HalfWidths::new(CONFIDENCE);
    let part = ShownPart::of(cross, look.group_sort.get(), is_whole.get());
    let heads = cross.columns.iter().take(part.columns).map(|name| {
        view! {
            <th scope="col">
                <span dir="auto">{inert(value_name(name))}</span>
            </th>
        }
    });
    let rows = part.rows.iter().map(|row| {
        let name = &cross.rows[*row];
        let cells = (0..part.columns).map(|column| {
            let other = &cross.columns[column];
            let group = cross.cell(*row, column);
            cross_cell(look, name, other, group, range, &mut widths)
        });
        let cells = cells.collect_view();
        view! {
            <tr>
                <th scope="row">
                    <span dir="auto">{inert(value_name(name))}</span>
                </th>
                {cells}
                {total_cell(cross.row_total(*row), range)}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let sums = (0..part.columns).map(|column| cross.column_total(column));
    let sums = sums.map(|total| total_cell(total, range)).collect_view();
    let more = part.more_rows.map(|more| match more {
        MoreRows::TooMany(words) => view! { <p class="faint">{words}</p> }.into_any(),
        MoreRows::Offered(words) => view! {
            <button type="button" class="small" on:click=move |_| is_whole.set(true)>
                {words}
            </button>
        }
        .into_any(),
    });
    let columns = part
        .more_columns
        .map(|words| view! { <p class="faint">{words}</p> });
    view! {
        <table aria-label="Groups" class="cross-table">
            <thead>
                <tr>
                    <GroupHeading look name=first order=GroupOrder::Name/>
                    {heads.collect_view()}
                    <GroupHeading look name="All" order=GroupOrder::Reward/>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
            <tfoot>
                <tr>
                    <th scope="row">{"All"}</th>
                    {sums}
                    {total_cell(cross.total(), range)}
                </tr>
            </tfoot>
        </table>
        {columns}
        {more}
    }
    .into_any()
}

/// The cell that aggregates all trajectories of a row or a column.
fn total_cell(total: CrossTotal, range: (f64, f64)) -> AnyView {
    let (mean, count) = total_texts(total);
    view! {
        <td class="column-number cross-total">
            {mean}
            <span class="faint">{count}</span>
            {total.mean.map(|mean| bar(mean, range))}
        </td>
    }
    .into_any()
}

fn cross_cell(
    look: Look,
    name: &Text,
    other: &Text,
    group: Option<&Group>,
    range: (f64, f64),
    widths: &mut HalfWidths,
) -> AnyView {
    let Some(group) = group else {
        return view! { <td class="column-number faint">{"–"}</td> }.into_any();
    };
    let half = group
        .standard_error
        .and_then(|error| widths.of(error, group.trials));
    let CrossCellTexts { mean, count, label } = CrossCellTexts::of(group, name, other, half);
    let mean_bar = group.mean_reward.map(|mean| bar(mean, range));
    let (name, others) = (name.clone(), [other.to_string()]);
    let only = move |_| show_only(look, &name, &others);
    view! {
        <td class="column-number">
            <button type="button" class="quiet cross-cell" title=label on:click=only>
                {mean}
                <span class="faint">{count}</span>
            </button>
            {mean_bar}
        </td>
    }
    .into_any()
}

/// Filters the table to the trajectories of a row and of these columns.
fn show_only(look: Look, name: &Text, others: &[String]) {
    let columns = look.groups.get_untracked();
    let wanted = filters(&columns, name, others);
    look.groups.set(Vec::new());
    look.filters.update(|filters| filters.extend(wanted));
}

/// Compares two columns row by row and reports which is better.
#[component]
fn PairedComparison(look: Look, found: RwSignal<Option<Arc<Grouped>>>) -> impl IntoView {
    let columns = Memo::new(move |_| {
        found.with(|found| {
            let cross = found.as_ref().and_then(|found| found.cross.as_ref());
            cross.map(|cross| cross.columns.clone()).unwrap_or_default()
        })
    });
    let chosen = [RwSignal::new(0_usize), RwSignal::new(1_usize)];
    let choice = move |place: usize, label: &'static str| {
        let chosen = chosen[place];
        let options = move || {
            let columns = columns.get().into_iter().enumerate();
            let options = columns.map(|(at, name)| {
                view! {
                    <option value=at.to_string() prop:selected=move || chosen.get() == at>
                        {inert(value_name(&name))}
                    </option>
                }
            });
            options.collect_view()
        };
        view! {
            <select
                aria-label=label
                on:change=move |event| {
                    chosen.set(event_target_value(&event).parse().unwrap_or_default());
                }
            >
                {options}
            </select>
        }
    };
    let result = move || {
        let found = found.get()?;
        let cross = found.cross.as_ref()?;
        let (first, second) = (chosen[0].get(), chosen[1].get());
        let Some(paired) = cross.compare(first, second, CONFIDENCE) else {
            let words = "No row has a reward on both sides.";
            return Some(view! { <p class="faint">{words}</p> }.into_any());
        };
        let (differing, more) = differing(cross, first, second);
        let rows = differing.iter().map(|pair| {
            let name = cross.rows[pair.row].clone();
            let both = [first, second].map(|place| cross.columns[place].to_string());
            let shown = value_name(&name).to_owned();
            let compare = move |_| show_only(look, &name, &both);
            view! {
                <tr>
                    <th scope="row">
                        <button type="button" class="quiet group-name" on:click=compare>
                            <span dir="auto">{inert(&shown)}</span>
                        </button>
                    </th>
                    <td class="column-number">{rounded(pair.first)}</td>
                    <td class="column-number">{rounded(pair.second)}</td>
                    <td class="column-number">{signed(pair.first - pair.second)}</td>
                </tr>
            }
        });
        let rows = rows.collect_view();
        let head = |place: usize| {
            view! {
                <th scope="col">
                    <span dir="auto">{inert(value_name(&cross.columns[place]))}</span>
                </th>
            }
        };
        let table = (!differing.is_empty()).then(|| {
            view! {
                <div class="group-table">
                    <table aria-label="Where they differ">
                        <thead>
                            <tr>
                                <th scope="col">{"Where they differ"}</th>
                                {head(first)}
                                {head(second)}
                                <th scope="col">{"Difference"}</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            }
        });
        let more = more.map(|words| view! { <p class="faint">{words}</p> });
        Some(
            view! {
                <p class="group-facts" role="status" aria-label="Comparison">
                    {paired_text(&paired)}
                </p>
                {table}
                {more}
            }
            .into_any(),
        )
    };
    view! {
        <Show when=move || columns.with(|columns| columns.len() > 1)>
            <section class="paired" aria-label="Paired comparison">
                <p class="group-facts paired-choice">
                    <span>{"Compare"}</span>
                    {choice(0, "First side")}
                    <span>{"with"}</span>
                    {choice(1, "Second side")}
                </p>
                {result}
            </section>
        </Show>
    }
}
