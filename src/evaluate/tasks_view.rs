//! Results by task: one row per task, one cell per policy; each cell opens its episodes.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::table::TaskCell;
use volary_agent::evaluation::{CellResult, Status};

use super::run::Run;
use super::state::Evaluations;
use crate::components::dialog::dialog;
use crate::components::erased::{dynamic, watch};
use crate::components::markup::{El, button, el, nothing};
use crate::components::rows::Rows;
use crate::components::text::inert_in;
use crate::projection::summary::{reward_text, seconds_text};
use crate::projection::text::plural;

/// The height of a row, as the style sheet has it.
const ROW: f64 = 40.0;

/// The tasks. The plan fixes the row of each task, so new results change cells in place and keep the focus.
pub fn tasks_view(evaluations: Evaluations, run: &Rc<Run>) -> El {
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
    let heads: Vec<AnyView> = names
        .iter()
        .map(|name| {
            el("div")
                .attr("role", "columnheader")
                .child(inert_in("span", "", name))
                .view()
        })
        .collect();
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
                true => el("span").class("faint").child("–"),
                false => button(cell_class(cell))
                    .attr("aria-label", label)
                    .on_click(move || chosen.set(Some((place, policy))))
                    .child(cell_text(cell)),
            };
            el("div").attr("role", "cell").child(content).view()
        });
        el("div")
            .class("task-row")
            .attr("role", "row")
            .child(el("div").attr("role", "rowheader").child(inert_in(
                "span",
                "task-title",
                &title,
            )))
            .child(cells.collect::<Vec<_>>())
            .view()
    });
    let grid = el("div")
        .class("task-table")
        .attr("role", "table")
        .attr("aria-label", "Tasks")
        .child(
            el("div").class("task-head").attr("role", "rowgroup").child(
                el("div")
                    .class("task-row")
                    .attr("role", "row")
                    .child(el("div").attr("role", "columnheader").child("Task"))
                    .child(heads),
            ),
        )
        .child(body);
    el("section")
        .class("card tasks")
        .attr("aria-label", "By task")
        .child(el("h2").child("By task"))
        .child(el("p").class("faint").child(
            "Mean reward and number of successful tries. Select a cell to see its episodes.",
        ))
        .child(grid)
        .child(episodes_dialog(evaluations, chosen))
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

fn episodes_dialog(evaluations: Evaluations, chosen: RwSignal<Option<(usize, usize)>>) -> AnyView {
    let open = RwSignal::new(false);
    watch(move || {
        if chosen.with(Option::is_some) {
            open.set(true);
        }
    });
    watch(move || {
        if !open.get() && chosen.with_untracked(Option::is_some) {
            chosen.set(None);
        }
    });
    let content = dynamic(move || {
        let run = evaluations.open.get_untracked();
        let Some(((task, policy), run)) = chosen.get().zip(run) else {
            return nothing();
        };
        let names = run.plan.tasks.get(task).zip(run.plan.policies.get(policy));
        let title = names.map_or_else(String::new, |(task, policy)| {
            format!("{}, {}", task.title, policy.name)
        });
        let rows = (0..run.plan.repeats).filter_map(|repeat| {
            let cell = run.plan.number(task, policy, repeat);
            Some(episode_row(evaluations, repeat, open, &run.result(cell)?))
        });
        let list = rows.fold(el("ul").class("episode-list"), El::child);
        el("div")
            .child(inert_in("p", "faint", &title))
            .child(list)
            .view()
    });
    dialog(open, "Episodes".to_owned(), content)
}

fn episode_row(
    evaluations: Evaluations,
    repeat: usize,
    open: RwSignal<bool>,
    result: &CellResult,
) -> El {
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
    let show = button("")
        .attr("aria-label", format!("Open try {}", repeat + 1))
        .on_click(move || {
            open.set(false);
            evaluations.show_episode(cell);
        })
        .child("Open");
    el("li").child(inert_in("span", "", &words)).child(show)
}
