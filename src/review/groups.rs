//! Trajectories by group: how often each task was tried, how well, and how much the tries agree.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::table::Column;
use volary_trace::table::filter::Filter;
use volary_trace::table::groups::{Group, GroupBy, Grouping, SUCCESS, pass_all_over};

use super::gradually::{Work, gradually};
use super::selection::Look;
use crate::components::erased::dynamic;
use crate::components::markup::{El, all, button, el, nothing};
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
    dynamic(move || match found.get() {
        None => nothing(),
        Some(found) => drawn(look, &found.0, &found.1),
    })
}

fn drawn(look: Look, by: &GroupBy, groups: &[Group]) -> AnyView {
    let passes = pass_all_over(groups);
    let passes = passes.iter().take(8).enumerate().map(|(place, share)| {
        let k = place + 1;
        el("span")
            .class("figure")
            .child(format!("pass^{k} "))
            .child(el("strong").child(format!("{:.1} %", share * 100.0)))
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
    let rows = groups
        .iter()
        .take(MOST)
        .map(|group| row(look, by, group).view());
    let more = groups.len().checked_sub(MOST).filter(|more| *more > 0);
    all(vec![
        el("p")
            .class("group-facts")
            .child(plural(groups.len(), "group"))
            .child(passes.collect::<Vec<_>>())
            .view(),
        el("div")
            .class("group-table")
            .child(
                el("table")
                    .attr("aria-label", "Groups")
                    .child(el("thead").child(el("tr").child(head.collect::<Vec<_>>())))
                    .child(el("tbody").child(rows.collect::<Vec<_>>())),
            )
            .view(),
        match more {
            Some(more) => el("p")
                .class("faint")
                .child(format!(
                    "And {} more; a filter brings them up.",
                    count_text(more)
                ))
                .view(),
            None => nothing(),
        },
    ])
}

fn row(look: Look, by: &GroupBy, group: &Group) -> El {
    let name = match group.name.trim() {
        "" => "not known".to_owned(),
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
    let only = move || {
        look.group.set(None);
        look.filters
            .update(|filters| filters.push((column.clone(), filter.clone())));
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
                    .child(inert_in("span", "", &name)),
            ),
        )
        .child(cells.collect::<Vec<_>>())
}
