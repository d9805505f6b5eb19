//! A run: what changed, curves over its steps, a table of the steps, and how often each task was solved over the steps.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::training::series::{Change, change, changes};
use volary_trajectory::training::tasks::{Course, TaskHistory, tasks, threshold};
use volary_trajectory::training::{Measure, RewardChoice, Series};

use super::card::card;
use super::texts::{gaps_text, run_facts};
use super::{ShownRun, Training};
use crate::browser::element;
use crate::components::text::inert;
use crate::projection::summary::reward_text;
use crate::projection::text::count_text;
use crate::projection::training::{column_decimals, column_text, figure_text, spread_text};
use crate::review::groups::bar;
use crate::route::TrainingPlace;

/// The maximum number of steps and of tasks that the tables list.
const MOST_LISTED: usize = 500;
/// The maximum number of changes that are named.
const MOST_CHANGES: usize = 4;

pub(super) fn view(training: Training, shown: &Arc<ShownRun>) -> AnyView {
    let beside = training.beside.get();
    let series = Series::of(&shown.run).into_iter();
    let cards = series.filter_map(|series| card(training, shown, beside.as_ref(), series));
    let legend = beside.as_ref().map(|beside| {
        view! {
            <p class="run-legend">
                <span class="run-key">{inert(&shown.title)}</span>
                <span class="run-key other">{inert(&beside.title)}</span>
            </p>
        }
    });
    view! {
        {facts(shown)}
        {what_changed(shown)}
        {legend}
        <div class="run-cards">{cards.collect_view()}</div>
        {steps(training, shown)}
        {task_table(training, shown)}
    }
    .into_any()
}

fn facts(shown: &ShownRun) -> AnyView {
    let run = &shown.run;
    let gaps = gaps_text(run).map(|words| view! { <p class="run-notice">{words}</p> });
    let chosen = match &run.choice {
        RewardChoice::Part(name)
            if shown.chosen.is_none() && !run.has_whole_reward && run.parts.len() > 1 =>
        {
            let words = format!(
                "The files do not say which reward counts. “{name}” is shown; choose another one above."
            );
            Some(view! { <p class="run-notice" dir="auto">{words}</p> })
        }
        _ => None,
    };
    view! {
        <p class="run-facts">{run_facts(run)}</p>
        {gaps}
        {chosen}
    }
    .into_any()
}

/// What changed from the first to the last step, besides the reward.
fn what_changed(shown: &ShownRun) -> Option<AnyView> {
    let run = &shown.run;
    let reward = change(run, &Measure::Reward)?;
    let told = |change: &Change| {
        let is_share = change.measure.is_share();
        let text = |value| figure_text(value, is_share);
        let (first, last) = (text(change.first), text(change.last));
        // A change that the figures do not show has no direction.
        let mark = match change.last > change.first {
            _ if first == last => "",
            true => " ↑",
            false => " ↓",
        };
        let name = match &change.measure {
            Measure::Reward => shown.reward_name().to_owned(),
            measure => measure.title(),
        };
        view! {
            <li>
                <span dir="auto">{inert(&name)}</span>
                " "
                <strong>{format!("{first} → {last}")}</strong>
                <span aria-hidden="true">{mark}</span>
            </li>
        }
    };
    let found = changes(run);
    let others = found.iter().take(MOST_CHANGES).map(told);
    let ends = run.steps.first().zip(run.steps.last());
    let ends = ends.map(|(first, last)| format!("From step {} to {}:", first.step, last.step));
    Some(
        view! {
            <div class="run-changes">
                <span class="faint">{ends}</span>
                <ul aria-label="What changed most">{told(&reward)} {others.collect_view()}</ul>
            </div>
        }
        .into_any(),
    )
}

/// The steps as a table, whose rows lead to them.
fn steps(training: Training, shown: &Arc<ShownRun>) -> AnyView {
    let run = &shown.run;
    let here = training.here();
    let range = run.range(&Measure::Reward).unwrap_or_default();
    let range = (range.0.min(0.0), range.1.max(0.0));
    let columns = run.measures.iter().skip(1).map(|measure| {
        let steps = 0..run.steps.len().min(MOST_LISTED);
        let means = steps.filter_map(|at| run.spread(at, measure)?.mean);
        (measure, column_decimals(means))
    });
    let columns: Vec<(&Measure, usize)> = columns.collect();
    let heads = columns.iter().map(|(measure, _)| {
        view! {
            <th scope="col" dir="auto">
                {inert(&measure.title())}
            </th>
        }
    });
    let rows = run
        .steps
        .iter()
        .enumerate()
        .take(MOST_LISTED)
        .map(|(at, step)| {
            let target = TrainingPlace {
                step: Some(step.step),
                ..here.clone()
            };
            let reward = run
                .spread(at, &Measure::Reward)
                .copied()
                .unwrap_or_default();
            let cells = columns.iter().map(|(measure, decimals)| {
                let spread = run.spread(at, measure).copied().unwrap_or_default();
                let text = match spread.mean {
                    Some(mean) if !measure.is_share() => column_text(mean, *decimals),
                    mean => spread_text(mean, None, measure.is_share()),
                };
                view! { <td class="column-number">{text}</td> }
            });
            let count = |count: usize| match count {
                0 => view! { <td class="column-number faint">{"0"}</td> }.into_any(),
                count => view! { <td class="column-number">{count_text(count)}</td> }.into_any(),
            };
            view! {
                <tr>
                    <th scope="row">
                        <a href=target.to_hash()>{format!("Step {}", step.step)}</a>
                    </th>
                    <td class="column-number">
                        {spread_text(reward.mean, reward.deviation, false)}
                        {reward.mean.map(|mean| bar(mean, range))}
                    </td>
                    {count(step.samples.len())}
                    {count(step.group_count())}
                    {count(step.uniform_groups())}
                    {count(step.truncated)}
                    {count(step.aborted)}
                    {cells.collect_view()}
                </tr>
            }
        });
    let more = left_out(run.steps.len(), "more steps: open them from the curves.");
    view! {
        <h2 class="run-section">{"Steps"}</h2>
        <div class="group-table">
            <table aria-label="Steps" class="step-table">
                <thead>
                    <tr>
                        <th scope="col">{"Step"}</th>
                        <th scope="col">{"Reward"}</th>
                        <th scope="col">{"Samples"}</th>
                        <th scope="col">{"Groups"}</th>
                        <th scope="col">{"No variance"}</th>
                        <th scope="col">{"Truncated"}</th>
                        <th scope="col">{"Aborted"}</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {more}
    }
    .into_any()
}

/// The tasks over the steps. They are computed when the table is opened.
fn task_table(training: Training, shown: &Arc<ShownRun>) -> AnyView {
    // A run that is being written is drawn again and again.
    let is_open = training.tasks_open;
    let shown = Arc::clone(shown);
    let content = move || is_open.get().then(|| task_rows(training, &shown));
    view! {
        <details class="run-tasks" open=is_open.get_untracked() on:toggle=move |event| is_open.set(element::is_details_open(&event))>
            <summary>{"Tasks over steps: learned, forgotten, never or always solved"}</summary>
            {content}
        </details>
    }
    .into_any()
}

fn task_rows(training: Training, shown: &Arc<ShownRun>) -> AnyView {
    let histories = tasks(&shown.run);
    if histories.is_empty() {
        return view! { <p class="faint">{"The samples name no tasks."}</p> }.into_any();
    }
    let counts = Course::ALL.iter().filter_map(|course| {
        let count = histories
            .iter()
            .filter(|history| history.course == *course)
            .count();
        (count > 0).then(|| format!("{} {}", count_text(count), course.words()))
    });
    let counts: Vec<String> = counts.collect();
    let threshold = threshold(&shown.run);
    let about = format!(
        "{}. A task counts as solved at a step if at least half of its samples have a reward of {} or more.",
        counts.join(", "),
        reward_text((threshold * 1e3).round() / 1e3)
    );
    let here = training.here();
    let visit = |history: &TaskHistory| {
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
        view! {
            <tr>
                <th scope="row" dir="auto">
                    {inert(&history.task)}
                </th>
                <td>{history.course.words()}</td>
                <td class="task-visits">{visit(history)}</td>
            </tr>
        }
    });
    let more = left_out(histories.len(), "more tasks are not listed.");
    view! {
        <p class="faint">{about}</p>
        <div class="group-table">
            <table aria-label="Tasks over steps" class="sample-table">
                <thead>
                    <tr>
                        <th scope="col">{"Task"}</th>
                        <th scope="col" class="text-column">{"Trend"}</th>
                        <th scope="col" class="text-column">{"Steps"}</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {more}
    }
    .into_any()
}

/// Says how many rows a table leaves out; `None` if it has all.
fn left_out(count: usize, words: &str) -> Option<AnyView> {
    let more = count.checked_sub(MOST_LISTED).filter(|more| *more > 0)?;
    let words = format!("{} {words}", count_text(more));
    Some(view! { <p class="faint">{words}</p> }.into_any())
}
