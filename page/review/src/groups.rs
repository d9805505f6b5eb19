//! Trajectories by group: number of trials, mean reward, successes, and agreement.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::statistics::HalfWidths;
use volary_analysis::table::groups::{
    Group, GroupBy, GroupOrder, Grouping, Passes, SUCCESS, passes,
};
use volary_core::quantity::{count_text, plural};

use super::cross_table::CrossTable;
use super::gradually::{Work, gradually};
use super::selection::Look;
use volary_ui::keyed::{key_of, keyed};
use volary_ui::sort_button::{SortButton, aria_sort};
use volary_ui::text::inert;
use volary_ui::transient_memo::transient_memo;
use volary_view::review::group_cells::{
    CONFIDENCE, GroupCells, Grouped, PassTexts, bar_span, columns, next_order,
};
pub use volary_view::review::group_cells::{mean_text, rounded};

/// The maximum number of groups shown.
const MOST: usize = 500;
/// The number of rows grouped per slice.
const GROUPED: usize = 256;

/// The maximum number of models shown with pass^k.
const MOST_ACTORS: usize = 8;

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
    let by = Memo::new(move |_| found.with(|found| Some(found.as_ref()?.by.clone())));
    let head = move || {
        let cells = by.get().map(|by| columns(&by)).unwrap_or_default().iter();
        cells
            .map(|(name, order)| view! { <GroupHeading look name=*name order=*order/> })
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
                    widths.try_update_value(|widths| widths.of(error, group.trials))?
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

/// A heading that sorts the groups.
#[component]
pub(super) fn GroupHeading(
    look: Look,
    #[prop(into)] name: String,
    order: GroupOrder,
) -> impl IntoView {
    // Transient, because a cross table is drawn again whenever its groups change.
    let now = transient_memo(move |_| {
        let sort = look.group_sort.get();
        sort.filter(|(by, _)| *by == order)
            .map(|(_, direction)| direction)
    });
    let sort = Callback::new(move |()| {
        let sort = look.group_sort.get_untracked();
        look.group_sort.set(next_order(sort, order));
    });
    view! {
        <th scope="col" aria-sort=move || aria_sort(now.get())>
            <SortButton name direction=now.into() sort/>
        </th>
    }
}

/// A bar from 0 to a mean, within the range of all means.
pub fn bar(mean: f64, range: (f64, f64)) -> AnyView {
    let Some((start, width)) = bar_span(mean, range) else {
        return ().into_any();
    };
    let class = if mean < 0.0 {
        "mean-bar loss"
    } else {
        "mean-bar"
    };
    view! {
        <svg class=class viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect x=start.to_string() y={"0"} width=width.to_string() height="4"/>
        </svg>
    }
    .into_any()
}

/// pass^k of one model, with its name if known.
fn pass_line(of: &Passes) -> impl IntoView + use<> {
    let PassTexts { actor, figures } = PassTexts::of(of);
    let figures = figures.into_iter().map(|(name, share)| {
        view! {
            <span class="figure">
                {name}
                <strong>{share}</strong>
            </span>
        }
    });
    view! {
        <p class="group-facts">
            {actor.map(|name| view! { <span dir="auto">{inert(&name)}</span> })}
            {figures.collect_view()}
        </p>
    }
}

fn row(look: Look, by: &GroupBy, group: &Group, range: (f64, f64), half: Option<f64>) -> AnyView {
    let cells = GroupCells::of(by, group, half);
    let filters = cells.filters;
    let only = move |_| {
        look.groups.set(Vec::new());
        look.filters
            .update(|known| known.extend(filters.iter().cloned()));
    };
    let last = [Some(cells.success), cells.agreement].into_iter().flatten();
    let last = last.map(|text| view! { <td class="column-number">{text}</td> });
    let mean_bar = group.mean_reward.map(|mean| bar(mean, range));
    let aside = cells.aside.map(|aside| {
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
                    <span dir="auto">{inert(&cells.name)}</span>
                    {aside}
                </button>
            </th>
            <td class="column-number">{cells.count}</td>
            <td class="column-number">
                {cells.mean}
                {mean_bar}
            </td>
            {last.collect_view()}
        </tr>
    }
    .into_any()
}
