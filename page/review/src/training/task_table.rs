//! The tasks of a run over its steps: which were learned, forgotten, never or always solved. Computed when unfolded.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::training::tasks::{Course, TaskHistory, tasks, threshold};
use volary_core::quantity::count_text;
use volary_view::route::TrainingPlace;
use volary_view::training::spread_text;

use super::{ShownRun, Training};
use volary_browser::element;
use volary_ui::number_field::NumberField;
use volary_ui::text::inert;
use volary_view::review::training::texts::left_out;

/// The maximum number of tasks that are listed.
const MOST_LISTED: usize = 500;
/// What the look says if the table is unfolded.
const OPEN: &str = "open";

/// The table of a run, with the trend in a second one.
pub(super) fn task_table(
    training: Training,
    shown: &Arc<ShownRun>,
    beside: Option<&Arc<ShownRun>>,
) -> AnyView {
    let kept = training.kept;
    let is_open = Memo::new(move |_| kept.with(|kept| kept.tasks.as_deref() == Some(OPEN)));
    let toggled = move |event| {
        let tasks = element::is_details_open(&event).then(|| OPEN.to_owned());
        if kept.with_untracked(|kept| kept.tasks != tasks) {
            kept.update(|kept| kept.tasks = tasks);
        }
    };
    let (shown, beside) = (Arc::clone(shown), beside.cloned());
    let content = move || {
        let of_run = || content(training, Arc::clone(&shown), beside.clone());
        is_open.get().then(of_run)
    };
    view! {
        <details class="run-tasks" prop:open=is_open on:toggle=toggled>
            <summary>{"Tasks over steps: learned, forgotten, never or always solved"}</summary>
            {content}
        </details>
    }
    .into_any()
}

fn content(training: Training, shown: Arc<ShownRun>, beside: Option<Arc<ShownRun>>) -> AnyView {
    let usual = (threshold(&shown.run) * 1e3).round() / 1e3;
    let kept = training.kept;
    let limit = Memo::new(move |_| {
        let chosen = kept.with(|kept| kept.solved.as_ref()?.parse::<f64>().ok());
        chosen.filter(|limit| limit.is_finite()).unwrap_or(usual)
    });
    let choose = move |limit: f64| {
        let solved = (limit.to_bits() != usual.to_bits()).then(|| limit.to_string());
        kept.update(|kept| kept.solved = solved);
    };
    let rows = move || rows(training, &shown, beside.as_deref(), limit.get());
    view! {
        <p class="task-limit">
            <NumberField
                id="solved-from"
                label="Solved from a reward of"
                value=limit
                allows=f64::is_finite
                change=choose
            />
            <span class="faint">
                {"A task counts as solved at a step if at least half of its samples have this reward or more."}
            </span>
        </p>
        {rows}
    }
    .into_any()
}

fn rows(training: Training, shown: &ShownRun, beside: Option<&ShownRun>, limit: f64) -> AnyView {
    let histories = tasks(&shown.run, limit);
    if histories.is_empty() {
        return view! { <p class="faint">{"The samples name no tasks."}</p> }.into_any();
    }
    let others = beside.map(|beside| {
        let courses = tasks(&beside.run, limit).into_iter();
        let courses = courses.map(|history| (history.task, history.course));
        (&beside.title, courses.collect::<BTreeMap<_, _>>())
    });
    let counts = Course::ALL.iter().filter_map(|course| {
        let is_it = |history: &&TaskHistory| history.course == *course;
        let count = histories.iter().filter(is_it).count();
        (count > 0).then(|| format!("{} {}", count_text(count), course.label()))
    });
    let counts: Vec<String> = counts.collect();
    let here = training.here();
    let visits = |history: &TaskHistory| {
        let visits = history.visits.iter().map(|visit| {
            let target = TrainingPlace {
                step: Some(visit.step),
                group: Some(visit.group.to_string()),
                ..here.clone()
            };
            let (class, word) = match visit.is_solved {
                Some(true) => ("task-visit solved", "solved"),
                Some(false) => ("task-visit", "not solved"),
                None => ("task-visit unscored", "without a reward"),
            };
            let mean = spread_text(visit.mean_reward, None, false);
            let title = format!("Step {}: {word}, mean reward {mean}", visit.step);
            view! {
                <a class=class href=target.to_hash() aria-label=title.clone() title=title>
                    {visit.step.to_string()}
                </a>
            }
        });
        visits.collect_view()
    };
    let rows = histories.iter().take(MOST_LISTED).map(|history| {
        let other = others.as_ref().map(|(_, courses)| {
            let course = courses.get(&history.task);
            let words = course.map_or("not there", |course| course.label());
            view! { <td>{words}</td> }
        });
        view! {
            <tr>
                <th scope="row" dir="auto">
                    {inert(&history.task)}
                </th>
                <td>{history.course.label()}</td>
                {other}
                <td><div class="task-visits">{visits(history)}</div></td>
            </tr>
        }
    });
    let other = others.as_ref().map(|(title, _)| {
        view! {
            <th scope="col" class="text-column" dir="auto">
                {inert(&format!("Trend in {title}"))}
            </th>
        }
    });
    let hidden = histories.len().saturating_sub(MOST_LISTED);
    let more = left_out(hidden, "more tasks are not listed.");
    view! {
        <p class="faint">{format!("{}.", counts.join(", "))}</p>
        <div class="group-table">
            <table aria-label="Tasks over steps" class="task-table">
                <thead>
                    <tr>
                        <th scope="col">{"Task"}</th>
                        <th scope="col" class="text-column">{"Trend"}</th>
                        {other}
                        <th scope="col" class="text-column">{"Steps"}</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {more.map(|words| view! { <p class="faint">{words}</p> })}
    }
    .into_any()
}
