//! Trajectories by group: number of tries, mean reward, successes, and agreement.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::table::Column;
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::groups::{Group, GroupBy, Grouping, Passes, SUCCESS, passes};

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

/// The columns; the last one only for tasks.
const COLUMNS: &[&str] = &[
    "Group",
    "Trajectories",
    "Mean reward",
    "Succeeded",
    "Agreement",
];

/// The grouping and its groups.
type Grouped = Arc<(GroupBy, Vec<Group>)>;

/// The groups, if grouping is on.
#[component]
pub(super) fn Groups(look: Look) -> impl IntoView {
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
    view! {
        <Show when=move || found.with(Option::is_some)>
            <GroupTable look found/>
        </Show>
    }
}

/// The groups as a table. Rows are keyed by group, so that they survive new groups before them.
#[component]
fn GroupTable(look: Look, found: RwSignal<Option<Grouped>>) -> impl IntoView {
    let facts = move || {
        let found = found.get()?;
        let passes = passes(&found.1);
        let lines = passes.iter().take(MOST_ACTORS).map(pass_line);
        Some(view! {
            <p class="group-facts">{plural(found.1.len(), "group")}</p>
            {lines.collect_view()}
        })
    };
    let of_tasks = Memo::new(move |_| {
        found.with(|found| matches!(found.as_deref(), Some((GroupBy::Task, _))))
    });
    let head = move || {
        let count = match of_tasks.get() {
            true => COLUMNS.len(),
            false => COLUMNS.len() - 1,
        };
        let cells = COLUMNS.iter().take(count);
        cells
            .map(|name| view! { <th scope="col">{*name}</th> })
            .collect_view()
    };
    let keys = Memo::new(move |_| {
        found.with(|found| {
            let groups = found.iter().flat_map(|found| &found.1);
            let keys = groups.take(MOST).map(|group| key_of(&group.key));
            keys.collect::<Vec<u64>>()
        })
    });
    // A memo, so that a group is rendered again only if it changed.
    let draw = move |key| {
        let group = Memo::new(move |_| {
            let place = keys.with(|keys| keys.iter().position(|other| *other == key));
            found.with(|found| {
                let found = found.as_ref()?;
                Some((found.0.clone(), found.1.get(place?)?.clone()))
            })
        });
        (move || group.with(|group| group.as_ref().map(|(by, group)| row(look, by, group))))
            .into_any()
    };
    let more = move || {
        let count = found.with(|found| found.as_ref().map_or(0, |found| found.1.len()));
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

/// The model and agent, if known.
fn actor(model: &str, agent: &str) -> Option<String> {
    let known: Vec<&str> = [model, agent]
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn row(look: Look, by: &GroupBy, group: &Group) -> AnyView {
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
        look.group.set(None);
        look.filters.update(|filters| {
            filters.push((column.clone(), filter.clone()));
            filters.extend(of_task.iter().cloned());
        });
    };
    let known = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let mut cells = vec![
        count_text(group.rows.len()),
        known(group.mean_reward.map(reward_text)),
        match group.tries {
            0 => "–".to_owned(),
            tries => format!("{} of {}", group.successes, tries),
        },
    ];
    if *by == GroupBy::Task {
        let agreement = group.agreement;
        cells.push(known(
            agreement.map(|share| format!("{:.0}%", share * 100.0)),
        ));
    }
    let cells = cells.into_iter();
    let cells = cells.map(|text| view! { <td class="column-number">{text}</td> });
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
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}
