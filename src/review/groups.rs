//! Trajectories by group: how often each task was tried, how well, and how much the tries agree.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::table::Column;
use volary_trace::table::filter::Filter;
use volary_trace::table::groups::{Group, GroupBy, Grouping, SUCCESS, pass_all_over};

use super::gradually::{Work, gradually};
use super::selection::Look;
use crate::components::erased::{dynamic, shown};
use crate::components::markup::{El, all, button, el, key_of, keyed, nothing};
use crate::components::text::inert_in;
use crate::projection::summary::reward_text;
use crate::projection::text::{count_text, plural};

/// So many groups are drawn; more are named.
const MOST: usize = 500;
/// So many rows are grouped between two looks at the clock.
const GROUPED: usize = 256;

/// What the rows were grouped by, and the groups.
type Grouped = Arc<(GroupBy, Vec<Group>)>;

/// The groups, if groups are wanted.
pub fn groups(look: Look) -> AnyView {
    let found = gradually(None, move || -> Work<Option<Grouped>> {
        let Some(by) = look.group.get() else {
            return Box::new(|| Some(None));
        };
        let (rows, mut seen) = (look.shown.get(), 0);
        let mut grouping = Some(Grouping::new(by.clone(), SUCCESS));
        Box::new(move || {
            let next = rows.iter().skip(seen).take(GROUPED);
            next.for_each(|row| grouping.iter_mut().for_each(|grouping| grouping.add(row)));
            seen += GROUPED;
            let done = grouping.take_if(|_| seen >= rows.len())?;
            Some(Some(Arc::new((by.clone(), done.done()))))
        })
    });
    shown(
        move || found.with(Option::is_some),
        move || drawn(look, found),
    )
}

/// The groups as a table. A row stays its group's though others come before it.
fn drawn(look: Look, found: RwSignal<Option<Grouped>>) -> AnyView {
    let facts = dynamic(move || {
        let Some(found) = found.get() else {
            return nothing();
        };
        let passes = pass_all_over(&found.1);
        let passes = passes.iter().take(8).enumerate().map(|(place, share)| {
            let k = place + 1;
            el("span")
                .class("figure")
                .child(format!("pass^{k} "))
                .child(el("strong").child(format!("{:.1} %", share * 100.0)))
                .view()
        });
        el("p")
            .class("group-facts")
            .child(plural(found.1.len(), "group"))
            .child(passes.collect::<Vec<_>>())
            .view()
    });
    let head = [
        "Group",
        "Trajectories",
        "Mean reward",
        "Succeeded",
        "Agreement",
    ];
    let head = head
        .iter()
        .map(|name| el("th").attr("scope", "col").child(*name).view());
    let keys = Memo::new(move |_| {
        found.with(|found| {
            let groups = found.iter().flat_map(|found| &found.1);
            let keys = groups.take(MOST).map(|group| key_of(&group.key));
            keys.collect::<Vec<u64>>()
        })
    });
    let rows = keyed(
        move || keys.get(),
        move |key| {
            dynamic(move || {
                let place = keys.with(|keys| keys.iter().position(|other| *other == key));
                found.with(|found| {
                    let group = || Some((found.as_ref()?, found.as_ref()?.1.get(place?)?));
                    group().map_or_else(nothing, |(found, group)| row(look, &found.0, group).view())
                })
            })
        },
    );
    let more = dynamic(move || {
        let count = found.with(|found| found.as_ref().map_or(0, |found| found.1.len()));
        let more = count.checked_sub(MOST);
        match more.filter(|more| *more > 0) {
            Some(more) => el("p")
                .class("faint")
                .child(format!(
                    "{} more groups. Filter to see them.",
                    count_text(more)
                ))
                .view(),
            None => nothing(),
        }
    });
    all(vec![
        facts,
        el("div")
            .class("group-table")
            .child(
                el("table")
                    .attr("aria-label", "Groups")
                    .child(el("thead").child(el("tr").child(head.collect::<Vec<_>>())))
                    .child(el("tbody").child(rows)),
            )
            .view(),
        more,
    ])
}

fn row(look: Look, by: &GroupBy, group: &Group) -> El {
    let name = match group.name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    };
    let column = match by {
        GroupBy::Task => Column::Task,
        GroupBy::Run => Column::Run,
        GroupBy::Column(column) => column.clone(),
    };
    let filter = match group.name.trim() {
        "" => Filter::Known(false),
        _ => Filter::OneOf(vec![group.name.to_string()]),
    };
    // A task is one of its environment: others may have some of the same name.
    let environment = match (by, group.key.first()) {
        (GroupBy::Task, Some(name)) if group.key.len() > 1 => Some(name.clone()),
        _ => None,
    };
    let of_environment = environment.clone().map(|name| match &*name {
        "" => Filter::Known(false),
        _ => Filter::OneOf(vec![name]),
    });
    let only = move || {
        look.group.set(None);
        look.filters.update(|filters| {
            filters.push((column.clone(), filter.clone()));
            let of_environment = of_environment.clone();
            filters.extend(of_environment.map(|filter| (Column::Environment, filter)));
        });
    };
    let known = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let cells = [
        count_text(group.rows.len()),
        known(group.mean_reward.map(reward_text)),
        match group.tries {
            0 => "–".to_owned(),
            tries => format!("{} of {}", group.successes, tries),
        },
        known(
            group
                .agreement
                .map(|share| format!("{:.0} %", share * 100.0)),
        ),
    ];
    let cells = cells
        .into_iter()
        .map(|text| el("td").class("column-number").child(text).view());
    el("tr")
        .child(
            el("th").attr("scope", "row").child(
                button("quiet group-name")
                    .on_click(only)
                    .child(inert_in("span", "", &name))
                    .child(environment.map(|name| inert_in("span", "faint group-of", &name))),
            ),
        )
        .child(cells.collect::<Vec<_>>())
}
