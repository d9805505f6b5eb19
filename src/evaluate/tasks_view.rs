//! Results by task: one row per task, one cell per policy; each cell opens its episodes.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::table::TaskCell;
use volary_agent::evaluation::{CellResult, Status};

use super::run::Run;
use super::state::Evaluations;
use crate::components::Dialog;
use crate::components::rows::Rows;
use crate::components::text::inert;
use crate::projection::summary::{reward_text, seconds_text};
use crate::projection::text::plural;

/// The height of a row, as in the style sheet.
const ROW: f64 = 40.0;

/// The tasks. The plan fixes the row of each task, so new results change cells in place and keep the focus.
#[component]
pub(super) fn TasksTable(evaluations: Evaluations, run: Rc<Run>) -> impl IntoView {
    let table = run.shown.table;
    let chosen = RwSignal::new(None::<(usize, usize)>);
    let tasks = run.plan.tasks.len();
    let edition = Memo::new(move |edition: Option<&u32>| {
        table.track();
        edition.map_or(0, |edition| edition.wrapping_add(1))
    });
    let titles: Vec<String> = run
        .plan
        .tasks
        .iter()
        .map(|task| task.title.to_string())
        .collect();
    let names = run.policy_names();
    let heads = names.iter().map(|name| {
        view! {
            <div role="columnheader">
                <span dir="auto">{inert(name)}</span>
            </div>
        }
    });
    let heads = heads.collect_view();
    let body = Rows {
        count: Signal::stored(tasks),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "rowgroup",
        class: "task-rows",
        name: None,
    }
    .view(move |place| {
        let title = titles.get(place).cloned().unwrap_or_default();
        let cells = table.with_untracked(|table| table.tasks.get(place).cloned());
        let cells = cells.unwrap_or_default();
        let cells = cells.iter().enumerate().map(|(policy, cell)| {
            let name = names.get(policy).cloned().unwrap_or_default();
            let label = format!("{title}, {name}: {}", cell_words(cell));
            let is_empty = cell.rewards.is_empty() && cell.failures == 0;
            let content = match is_empty {
                true => view! { <span class="faint">"–"</span> }.into_any(),
                false => view! {
                    <button
                        type="button"
                        class=cell_class(cell)
                        aria-label=label
                        on:click=move |_| chosen.set(Some((place, policy)))
                    >
                        {cell_text(cell)}
                    </button>
                }
                .into_any(),
            };
            view! { <div role="cell">{content}</div> }
        });
        view! {
            <div class="task-row" role="row">
                <div role="rowheader">
                    <span class="task-title" dir="auto">
                        {inert(&title)}
                    </span>
                </div>
                {cells.collect_view()}
            </div>
        }
        .into_any()
    });
    view! {
        <section class="card tasks" aria-label="By task">
            <h2>{"By task"}</h2>
            <p class="faint">
                {"Mean reward and number of successful tries. Select a cell to see its episodes."}
            </p>
            <div class="task-table" role="table" aria-label="Tasks">
                <div class="task-head" role="rowgroup">
                    <div class="task-row" role="row">
                        <div role="columnheader">{"Task"}</div>
                        {heads}
                    </div>
                </div>
                {body}
            </div>
            <EpisodesDialog evaluations chosen/>
        </section>
    }
}

fn cell_text(cell: &TaskCell) -> String {
    let mut text = match cell.reward() {
        Some(reward) => reward_text((reward * 1e3).round() / 1e3),
        None => "failed".to_owned(),
    };
    let tries = cell.rewards.len();
    if tries > 1 {
        text.push_str(&format!(" · {}/{tries}", cell.successes));
    }
    if cell.failures > 0 && tries > 0 {
        text.push_str(" !");
    }
    text
}

fn cell_words(cell: &TaskCell) -> String {
    let mut text = match cell.reward() {
        Some(reward) => format!(
            "mean reward {}, {} of {} succeeded",
            reward_text(reward),
            cell.successes,
            plural(cell.rewards.len(), "try")
        ),
        None => "no result".to_owned(),
    };
    if cell.failures > 0 {
        text.push_str(&format!(", {} failed", cell.failures));
    }
    text
}

/// The share of successes as a shade; the text states it too.
fn cell_class(cell: &TaskCell) -> &'static str {
    if cell.rewards.is_empty() {
        return "task-cell failed";
    }
    let share = cell.successes as f64 / cell.rewards.len() as f64;
    match share {
        share if share >= 1.0 => "task-cell all",
        share if share >= 0.5 => "task-cell most",
        share if share > 0.0 => "task-cell some",
        _ => "task-cell none",
    }
}

#[component]
fn EpisodesDialog(
    evaluations: Evaluations,
    /// The cell: its task and policy.
    chosen: RwSignal<Option<(usize, usize)>>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if chosen.with(Option::is_some) {
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() && chosen.with_untracked(Option::is_some) {
            chosen.set(None);
        }
    });
    let content = move || {
        let run = evaluations.open.get_untracked();
        let ((task, policy), run) = chosen.get().zip(run)?;
        let names = run.plan.tasks.get(task).zip(run.plan.policies.get(policy));
        let title = names.map_or_else(String::new, |(task, policy)| {
            format!("{}, {}", task.title, policy.name)
        });
        let rows = (0..run.plan.repeats).filter_map(|repeat| {
            let cell = run.plan.number(task, policy, repeat);
            Some(episode_row(evaluations, repeat, open, &run.result(cell)?))
        });
        Some(view! {
            <div>
                <p class="faint" dir="auto">
                    {inert(&title)}
                </p>
                <ul class="episode-list">{rows.collect_view()}</ul>
            </div>
        })
    };
    view! { <Dialog open title="Episodes">{content}</Dialog> }
}

fn episode_row(
    evaluations: Evaluations,
    repeat: usize,
    open: RwSignal<bool>,
    result: &CellResult,
) -> impl IntoView + use<> {
    let cell = result.cell;
    let steps = usize::try_from(result.spent.steps).unwrap_or(usize::MAX);
    let words = match &result.status {
        Status::Finished { ending } => format!(
            "Try {}: reward {}, {ending}, {}, {}",
            repeat + 1,
            reward_text(result.reward),
            plural(steps, "step"),
            seconds_text(result.spent.seconds)
        ),
        Status::Failed(failure) => format!(
            "Try {}: failed ({}). {}",
            repeat + 1,
            failure.kind.word(),
            failure.message
        ),
    };
    let show = move |_| {
        open.set(false);
        evaluations.show_episode(cell);
    };
    view! {
        <li>
            <span dir="auto">{inert(&words)}</span>
            <button type="button" aria-label=format!("Open try {}", repeat + 1) on:click=show>
                {"Open"}
            </button>
        </li>
    }
}
