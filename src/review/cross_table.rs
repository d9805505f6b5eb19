//! Trajectories by two columns: a table with a row for each value of the first and a column for each value of the
//! second, and the comparison of two of these columns, row by row.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::statistics::{HalfWidths, Paired};
use volary_trajectory::table::Column;
use volary_trajectory::table::cross::{Cross, CrossTotal};
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::groups::{Group, GroupOrder};

use super::group_cells::{CONFIDENCE, Grouped, mean_text, rounded};
use super::groups::{GroupHeading, bar};
use super::selection::Look;
use crate::components::text::inert;
use crate::projection::library::heading;
use crate::projection::text::{count_text, plural};

/// The number of rows shown at first: rendering thousands of cells takes longer than the grouping.
const FIRST_ROWS: usize = 40;
/// The maximum number of rows shown.
const MOST_ROWS: usize = 500;
/// The maximum number of columns shown.
const MOST_COLUMNS: usize = 24;
/// The maximum number of differing rows listed.
const MOST_DIFFERING: usize = 50;

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

/// The display text of a value that may be unknown.
fn value_name(value: &str) -> &str {
    match value.trim() {
        "" => "unknown",
        name => name,
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
    let columns = cross.columns.iter().take(MOST_COLUMNS);
    let heads = columns.map(|name| {
        view! {
            <th scope="col">
                <span dir="auto">{inert(value_name(name))}</span>
            </th>
        }
    });
    let sort = look.group_sort.get();
    let order = match sort {
        Some((by, direction)) => cross.ordered(by, direction),
        None => (0..cross.rows.len()).collect(),
    };
    let shown = match is_whole.get() {
        true => MOST_ROWS,
        false => FIRST_ROWS,
    };
    let rows = order.iter().take(shown).map(|row| {
        let name = cross.rows[*row].clone();
        let cells = (0..cross.columns.len().min(MOST_COLUMNS)).map(|column| {
            let other = cross.columns[column].clone();
            let group = cross.cell(*row, column);
            cross_cell(look, &name, other, group, range, &mut widths)
        });
        let cells = cells.collect_view();
        view! {
            <tr>
                <th scope="row">
                    <span dir="auto">{inert(value_name(&name))}</span>
                </th>
                {cells}
                {total_cell(cross.row_total(*row), range)}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let sums = (0..cross.columns.len().min(MOST_COLUMNS)).map(|column| cross.column_total(column));
    let sums = sums.map(|total| total_cell(total, range)).collect_view();
    let more = cross.rows.len().checked_sub(shown).filter(|more| *more > 0);
    let more = more.map(|more| match is_whole.get() {
        true => {
            let words = format!("{} more rows. Filter to see them.", count_text(more));
            view! { <p class="faint">{words}</p> }.into_any()
        }
        false => {
            let words = format!(
                "Show {}",
                plural(more.min(MOST_ROWS - FIRST_ROWS), "more row")
            );
            view! {
                <button type="button" class="small" on:click=move |_| is_whole.set(true)>
                    {words}
                </button>
            }
            .into_any()
        }
    });
    let columns = cross
        .columns
        .len()
        .checked_sub(MOST_COLUMNS)
        .filter(|more| *more > 0);
    let columns = columns.map(|more| {
        let words = format!("{} more columns. Filter to see them.", count_text(more));
        view! { <p class="faint">{words}</p> }
    });
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
    let mean = total.mean.map_or_else(|| "–".to_owned(), rounded);
    view! {
        <td class="column-number cross-total">
            {mean}
            <span class="faint">{format!(" n={}", count_text(total.count))}</span>
            {total.mean.map(|mean| bar(mean, range))}
        </td>
    }
    .into_any()
}

fn cross_cell(
    look: Look,
    name: &Text,
    other: Text,
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
    let mean = match group.mean_reward {
        Some(mean) => mean_text(mean, half),
        None => "–".to_owned(),
    };
    let mean_bar = group.mean_reward.map(|mean| bar(mean, range));
    let count = group.rows.len();
    let label = format!(
        "Show {} of {}, {}",
        plural(count, "trajectory"),
        value_name(name),
        value_name(&other)
    );
    let name = name.clone();
    let only = move |_| show_only(look, &name, &other);
    view! {
        <td class="column-number">
            <button type="button" class="quiet cross-cell" title=label on:click=only>
                {mean}
                <span class="faint">{format!(" n={}", count_text(count))}</span>
            </button>
            {mean_bar}
        </td>
    }
    .into_any()
}

/// Filters the table to the trajectories that have both values.
fn show_only(look: Look, name: &Text, other: &Text) {
    let columns = look.groups.get_untracked();
    let exactly = |value: &Text| match value.is_empty() {
        true => Filter::Known(false),
        false => Filter::OneOf(vec![value.to_string()]),
    };
    let values = [exactly(name), exactly(other)];
    look.groups.set(Vec::new());
    look.filters
        .update(|filters| filters.extend(columns.into_iter().zip(values)));
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
        let differing = cross.differing(first, second);
        let more = differing
            .len()
            .checked_sub(MOST_DIFFERING)
            .filter(|more| *more > 0);
        let rows = differing.iter().take(MOST_DIFFERING).map(|pair| {
            let name = cross.rows[pair.row].clone();
            let both = [first, second].map(|place| cross.columns[place].to_string());
            let shown = value_name(&name).to_owned();
            let compare = move |_| show_both(look, &name, &both);
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
        let more = more.map(|more| {
            let words = format!("{} more rows differ.", count_text(more));
            view! { <p class="faint">{words}</p> }
        });
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

/// Filters the table to the trajectories of one row and both columns.
fn show_both(look: Look, name: &Text, both: &[String; 2]) {
    let columns = look.groups.get_untracked();
    let [first, second] = columns.as_slice() else {
        return;
    };
    let row = match name.is_empty() {
        true => Filter::Known(false),
        false => Filter::OneOf(vec![name.to_string()]),
    };
    let pair: [(Column, Filter); 2] = [
        (first.clone(), row),
        (second.clone(), Filter::OneOf(both.to_vec())),
    ];
    look.groups.set(Vec::new());
    look.filters.update(|filters| filters.extend(pair));
}

fn signed(difference: f64) -> String {
    match difference > 0.0 {
        true => format!("+{}", rounded(difference)),
        false => rounded(difference),
    }
}

/// Describes a comparison.
fn paired_text(paired: &Paired) -> String {
    let difference = paired.difference;
    let interval = match (difference.low, difference.high) {
        (Some(low), Some(high)) => format!(" (95%: {} to {})", signed(low), signed(high)),
        _ => String::new(),
    };
    let chance = match paired.p_value {
        small if small < 0.0001 => "p < 0.0001".to_owned(),
        chance => format!("p = {chance:.4}"),
    };
    format!(
        "{}, {}, {} · mean difference {}{interval} · sign test {chance}",
        plural(paired.wins, "win"),
        plural(paired.ties, "tie"),
        match paired.losses {
            1 => "1 loss".to_owned(),
            losses => format!("{} losses", count_text(losses)),
        },
        signed(difference.mean),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_described() {
        let paired = Paired::of(&[(1.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)], 0.95);
        let words = paired_text(&paired.unwrap());
        assert!(
            words.starts_with("2 wins, 1 tie, 1 loss · mean difference +0.25 (95%: -"),
            "{words}"
        );
        assert!(words.ends_with("sign test p = 1.0000"), "{words}");
    }
}
