//! Trajectories by group: number of attempts, mean reward, successes, and agreement.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::statistics::{HalfWidths, share};
use volary_trajectory::table::Column;
use volary_trajectory::table::cross::Cross;
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::groups::{
    Group, GroupBy, GroupOrder, Grouping, Passes, SUCCESS, passes,
};
use volary_trajectory::table::order::Direction;

use super::cross_table::CrossTable;
use super::gradually::{Work, gradually};
use super::selection::Look;
use crate::components::keyed::{key_of, keyed};
use crate::components::text::inert;
use crate::projection::summary::reward_text;
use crate::projection::text::{count_text, plural};

/// The maximum number of groups shown.
const MOST: usize = 500;
/// The number of rows grouped per slice.
const GROUPED: usize = 256;

/// The maximum number of models shown with pass^k.
const MOST_ACTORS: usize = 8;
/// The maximum k of pass^k.
const MOST_TRIES: usize = 8;

/// The columns of the table; the last one is shown only for tasks.
const COLUMNS: &[(&str, GroupOrder)] = &[
    ("Group", GroupOrder::Name),
    ("Trajectories", GroupOrder::Count),
    ("Mean reward", GroupOrder::Reward),
    ("Succeeded", GroupOrder::Success),
    ("Agreement", GroupOrder::Agreement),
];
/// The confidence level of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The grouping and its groups.
#[derive(Clone, Debug)]
pub struct Grouped {
    by: GroupBy,
    groups: Vec<Group>,
    /// The minimum and the maximum of the mean rewards, extended to include 0. The bars span this range.
    range: (f64, f64),
    /// The cross table, if the rows are grouped by two columns.
    pub cross: Option<Cross>,
}

impl Grouped {
    fn of(by: GroupBy, groups: Vec<Group>) -> Grouped {
        let means = groups.iter().filter_map(|group| group.mean_reward);
        let range = means.fold((0.0_f64, 0.0_f64), |(low, high), mean| {
            (low.min(mean), high.max(mean))
        });
        let cross = matches!(by, GroupBy::Pair(..)).then(|| Cross::of(&groups));
        Grouped {
            by,
            groups,
            range,
            cross,
        }
    }

    /// The minimum and the maximum of the mean rewards, extended to include 0.
    pub fn range(&self) -> (f64, f64) {
        self.range
    }
}

/// The groups; empty if grouping is off.
#[component]
pub(super) fn Groups(look: Look) -> impl IntoView {
    let found = gradually(None, move || -> Work<Option<Arc<Grouped>>> {
        let Some(by) = look.groups.with(|groups| GroupBy::columns(groups)) else {
            return Box::new(|| Some(None));
        };
        let (rows, mut seen) = (look.shown.get(), 0);
        let mut grouping = Some(Grouping::new(by.clone(), SUCCESS));
        Box::new(move || {
            let next = rows.iter().skip(seen).take(GROUPED);
            next.for_each(|row| grouping.iter_mut().for_each(|grouping| grouping.add(row)));
            seen += GROUPED;
            let done = grouping.take_if(|_| seen >= rows.len())?;
            Some(Some(Arc::new(Grouped::of(by.clone(), done.done()))))
        })
    });
    view! {
        <Show when=move || found.with(|found| found.as_ref().is_some_and(|found| found.cross.is_none()))>
            <GroupTable look found/>
        </Show>
        <Show when=move || found.with(|found| found.as_ref().is_some_and(|found| found.cross.is_some()))>
            <CrossTable look found/>
        </Show>
    }
}

/// The groups as a table. Rows are keyed by group, so that they survive new groups before them.
#[component]
fn GroupTable(look: Look, found: RwSignal<Option<Arc<Grouped>>>) -> impl IntoView {
    let sorted = Memo::new(move |_| {
        let mut groups = found.with(|found| {
            let found = found.as_ref();
            found.map(|found| found.groups.clone()).unwrap_or_default()
        });
        if let Some((order, direction)) = look.group_sort.get() {
            order.sort(&mut groups, direction);
        }
        Arc::new(groups)
    });
    let widths = StoredValue::new(HalfWidths::new(CONFIDENCE));
    let facts = move || {
        let found = found.get()?;
        let passes = passes(&found.groups);
        let lines = passes.iter().take(MOST_ACTORS).map(pass_line);
        Some(view! {
            <p class="group-facts">{plural(found.groups.len(), "group")}</p>
            {lines.collect_view()}
        })
    };
    let of_tasks = Memo::new(move |_| {
        found.with(|found| {
            found
                .as_ref()
                .is_some_and(|found| found.by == GroupBy::Task)
        })
    });
    let head = move || {
        let count = match of_tasks.get() {
            true => COLUMNS.len(),
            false => COLUMNS.len() - 1,
        };
        let cells = COLUMNS.iter().take(count);
        cells
            .map(|(name, order)| view! { <GroupHeading look name order=*order/> })
            .collect_view()
    };
    let keys = Memo::new(move |_| {
        sorted.with(|groups| {
            let keys = groups.iter().take(MOST).map(|group| key_of(&group.key));
            keys.collect::<Vec<u64>>()
        })
    });
    // A memo, so that a group is rendered again only if it changed.
    let draw = move |key| {
        let group = Memo::new(move |_| {
            let place = keys.with(|keys| keys.iter().position(|other| *other == key));
            let group = sorted.with(|groups| groups.get(place?).cloned())?;
            found.with(|found| {
                let found = found.as_ref()?;
                Some((found.by.clone(), found.range, group))
            })
        });
        (move || {
            group.with(|group| {
                let (by, range, group) = group.as_ref()?;
                let half = group.standard_error.and_then(|error| {
                    widths.try_update_value(|widths| widths.of(error, group.tries))?
                });
                Some(row(look, by, group, *range, half))
            })
        })
        .into_any()
    };
    let more = move || {
        let count = sorted.with(|groups| groups.len());
        let more = count.checked_sub(MOST).filter(|more| *more > 0)?;
        let words = format!("{} more groups. Filter to see them.", count_text(more));
        Some(view! { <p class="faint">{words}</p> })
    };
    view! {
        {facts}
        <div class="group-table">
            <table aria-label="Groups">
                <thead>
                    <tr>{head}</tr>
                </thead>
                <tbody>{keyed(move || keys.get(), draw)}</tbody>
            </table>
        </div>
        {more}
    }
}

#[component]
fn GroupHeading(look: Look, name: &'static str, order: GroupOrder) -> impl IntoView {
    let now = Memo::new(move |_| {
        let sort = look.group_sort.get();
        sort.filter(|(by, _)| *by == order)
            .map(|(_, direction)| direction)
    });
    let sort = move |_| {
        look.group_sort.set(match now.get_untracked() {
            None => Some((order, Direction::Ascending)),
            Some(Direction::Ascending) => Some((order, Direction::Descending)),
            Some(Direction::Descending) => None,
        });
    };
    view! {
        <th
            scope="col"
            aria-sort=move || match now.get()? {
                Direction::Ascending => Some("ascending"),
                Direction::Descending => Some("descending"),
            }
        >
            <button type="button" class="quiet column-sort" on:click=sort>
                {name}
                <span aria-hidden="true">
                    {move || match now.get() {
                        None => "",
                        Some(Direction::Ascending) => " ↑",
                        Some(Direction::Descending) => " ↓",
                    }}
                </span>
            </button>
        </th>
    }
}

/// A mean with the half-width of its interval, if known.
pub fn mean_text(mean: f64, half: Option<f64>) -> String {
    match half {
        Some(half) => format!("{} ± {}", rounded(mean), short(half)),
        None => rounded(mean),
    }
}

/// Formats a mean with three decimals, which are enough to distinguish means.
pub fn rounded(mean: f64) -> String {
    match mean.abs() {
        tiny if tiny < 0.001 => reward_text(mean),
        _ => reward_text((mean * 1e3).round() / 1e3),
    }
}

/// Formats a half-width with two digits.
fn short(half: f64) -> String {
    match half.abs() {
        0.0 => "0".to_owned(),
        large if large >= 10.0 => format!("{half:.0}"),
        middle if middle >= 0.1 => format!("{half:.2}"),
        _ => format!("{half:.3}"),
    }
}

/// A bar from 0 to a mean, within the range of all means.
pub fn bar(mean: f64, (low, high): (f64, f64)) -> AnyView {
    let width = high - low;
    if width.is_nan() || width <= 0.0 {
        return ().into_any();
    }
    let place = |value: f64| (value - low) / width * 100.0;
    let (zero, end) = (place(0.0), place(mean));
    let class = if mean < 0.0 {
        "mean-bar loss"
    } else {
        "mean-bar"
    };
    view! {
        <svg class=class viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect
                x=zero.min(end).to_string()
                y={"0"}
                width=(end - zero).abs().to_string()
                height="4"
            />
        </svg>
    }
    .into_any()
}

/// pass^k of one model, with its name if known.
fn pass_line(of: &Passes) -> impl IntoView + use<> {
    let shares = of.all.iter().take(MOST_TRIES).enumerate();
    let shares = shares.map(|(place, share)| {
        view! {
            <span class="figure">
                {format!("pass^{} ", place + 1)}
                <strong>{format!("{:.1}%", share * 100.0)}</strong>
            </span>
        }
    });
    let name = actor(&of.model, &of.agent);
    view! {
        <p class="group-facts">
            {name.map(|name| view! { <span dir="auto">{inert(&name)}</span> })}
            {shares.collect_view()}
        </p>
    }
}

/// The model and the agent, if known.
fn actor(model: &str, agent: &str) -> Option<String> {
    let known: Vec<&str> = [model, agent]
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn row(look: Look, by: &GroupBy, group: &Group, range: (f64, f64), half: Option<f64>) -> AnyView {
    let name = match group.name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    };
    let column = match by {
        GroupBy::Task => Column::Task,
        GroupBy::Run => Column::Run,
        GroupBy::Column(column) | GroupBy::Pair(column, _) => column.clone(),
    };
    let filter = match group.name.trim() {
        "" => Filter::Known(false),
        _ => Filter::OneOf(vec![group.name.to_string()]),
    };
    // Restrict to the same task: others may have the same name or another environment.
    let of_task: Vec<(Column, Filter)> = group
        .tried
        .iter()
        .flat_map(|tried| {
            let exactly = |text: &str| match text {
                "" => Filter::Known(false),
                text => Filter::OneOf(vec![text.to_owned()]),
            };
            [
                (Column::Environment, exactly(&tried.environment)),
                (Column::Model, exactly(&tried.model)),
                (Column::Agent, exactly(&tried.agent)),
            ]
        })
        .collect();
    let aside = group.tried.as_ref().and_then(|tried| {
        let actor = actor(&tried.model, &tried.agent).unwrap_or_default();
        let parts = [&*tried.environment, &*actor];
        let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (!known.is_empty()).then(|| known.join(", "))
    });
    let only = move |_| {
        look.groups.set(Vec::new());
        look.filters.update(|filters| {
            filters.push((column.clone(), filter.clone()));
            filters.extend(of_task.iter().cloned());
        });
    };
    let known = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let mut cells = vec![
        count_text(group.rows.len()),
        match share(group.successes, group.tries, CONFIDENCE) {
            None => "–".to_owned(),
            Some(share) => {
                let percent = |share: Option<f64>| (share.unwrap_or_default() * 100.0).round();
                format!(
                    "{} of {} ({}–{}%)",
                    group.successes,
                    group.tries,
                    percent(share.low),
                    percent(share.high)
                )
            }
        },
    ];
    if *by == GroupBy::Task {
        let agreement = group.agreement;
        cells.push(known(
            agreement.map(|share| format!("{:.0}%", share * 100.0)),
        ));
    }
    let count = cells.remove(0);
    let cells = cells.into_iter();
    let cells = cells.map(|text| view! { <td class="column-number">{text}</td> });
    let mean = group.mean_reward.map(|mean| mean_text(mean, half));
    let mean_bar = group.mean_reward.map(|mean| bar(mean, range));
    let aside = aside.map(|aside| {
        view! {
            <span class="faint group-of" dir="auto">
                {inert(&aside)}
            </span>
        }
    });
    view! {
        <tr>
            <th scope="row">
                <button type="button" class="quiet group-name" on:click=only>
                    <span dir="auto">{inert(&name)}</span>
                    {aside}
                </button>
            </th>
            <td class="column-number">{count}</td>
            <td class="column-number">
                {known(mean)}
                {mean_bar}
            </td>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}
