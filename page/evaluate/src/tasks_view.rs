//! Results by task: one row per task, one cell per policy; each cell opens its episodes.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::table::TaskCell;
use volary_agent::evaluation::{CellResult, Status, episode_id};
use volary_app::evaluation::tasks::{TaskOrder, shown_tasks};
use volary_core::quantity::{count_text, plural};
use volary_view::summary::{reward_text, seconds_text};

use super::run::OpenRun;
use super::state::{Evaluations, review_address};
use volary_ui::Dialog;
use volary_ui::rows::{Rows, redrawn};
use volary_ui::text::inert;

/// The height of a row in pixels, as in the style sheet.
const ROW: f64 = 40.0;

/// The table of tasks. Rows are keyed by task wherever they are sorted to, so that new results update cells in place
/// and preserve the focus.
#[component]
pub(super) fn TasksTable(evaluations: Evaluations, run: Rc<OpenRun>) -> impl IntoView {
    let table = run.shown.table;
    let chosen = RwSignal::new(None::<(usize, usize)>);
    let order = RwSignal::new(TaskOrder::Plan);
    let only_failures = RwSignal::new(false);
    let total = run.plan.tasks.len();
    let shown = Memo::new(move |_| {
        table.with(|table| shown_tasks(&table.tasks, order.get(), only_failures.get()))
    });
    let edition = Memo::new(move |edition: Option<&u32>| {
        table.track();
        shown.track();
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
    let task_of = move |row: usize| shown.with(|shown| shown.get(row).copied());
    let draw = move |row: usize| {
        let place = untrack(|| task_of(row)).unwrap_or(usize::MAX);
        let title = titles.get(place).cloned().unwrap_or_default();
        let cells = table.with_untracked(|table| table.tasks.get(place).cloned());
        let cells = cells.unwrap_or_default();
        let cells = cells.iter().enumerate().map(|(policy, cell)| {
            let name = names.get(policy).cloned().unwrap_or_default();
            let label = format!("{title}, {name}: {}", cell_words(cell));
            let is_empty = cell.rewards.is_empty() && cell.failures == 0;
            let content = if is_empty {
                view! { <span class="faint">"–"</span> }.into_any()
            } else {
                view! {
                    <button
                        type="button"
                        class=cell_class(cell)
                        aria-label=label
                        on:click=move |_| chosen.set(Some((place, policy)))
                    >
                        {cell_text(cell)}
                    </button>
                }
                .into_any()
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
    };
    let body = Rows {
        count: Signal::derive(move || shown.with(Vec::len)),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "rowgroup",
        class: "task-rows",
        name: None,
    }
    .view_of(
        move |row| task_of(row).map_or(u64::MAX, |place| place as u64),
        redrawn(draw),
    );
    let counted = move || match shown.with(Vec::len) {
        shown if shown == total => plural(total, "task"),
        shown => format!("{} of {}", count_text(shown), plural(total, "task")),
    };
    let has_failures = move || {
        let cells = table.with(|table| shown_tasks(&table.tasks, TaskOrder::Plan, true));
        !cells.is_empty()
    };
    view! {
        <section class="card tasks" aria-label="By task">
            <h2>{"By task"}</h2>
            <p class="faint">
                {"Mean reward and number of successful trials. Select a cell to see its episodes."}
            </p>
            <div class="task-controls">
                <label>
                    <span>{"Sort"}</span>
                    <select
                        prop:value=move || order.get().name()
                        on:change=move |event| {
                            let name = event_target_value(&event);
                            let mut all = TaskOrder::ALL.into_iter();
                            order.set(all.find(|order| order.name() == name).unwrap_or_default());
                        }
                    >
                        {TaskOrder::ALL
                            .map(|order| {
                                view! { <option value=order.name()>{order.name()}</option> }
                            })
                            .into_iter()
                            .collect_view()}
                    </select>
                </label>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || only_failures.get()
                        on:change=move |event| only_failures.set(event_target_checked(&event))
                    />
                    <span>{"Only failures"}</span>
                </label>
                <span class="faint" role="status" aria-label="Tasks shown">
                    {counted}
                </span>
                <Show when=has_failures>
                    <button type="button" on:click=move |_| evaluations.read_failures()>
                        {"Read failures"}
                    </button>
                </Show>
            </div>
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
    let trials = cell.rewards.len();
    if trials > 1 {
        text.push_str(&format!(" · {}/{trials}", cell.successes));
    }
    if cell.failures > 0 && trials > 0 {
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
            plural(cell.rewards.len(), "trial")
        ),
        None => "no result".to_owned(),
    };
    if cell.failures > 0 {
        text.push_str(&format!(", {} failed", cell.failures));
    }
    text
}

/// Shades a cell by its success rate; the text states it too.
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
    /// The task and policy of the opened cell.
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
        let rows = (0..run.plan.trials).filter_map(|trial| {
            let cell = run.plan.number(task, policy, trial);
            Some(episode_row(
                evaluations,
                &run.id,
                trial,
                open,
                &run.result(cell)?,
            ))
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

/// The result of a trial, counted from 0.
fn episode_words(trial: usize, result: &CellResult) -> String {
    let steps = usize::try_from(result.spent.steps).unwrap_or(usize::MAX);
    match &result.status {
        Status::Finished { ending } => format!(
            "Trial {}: reward {}, {ending}, {}, {}",
            trial + 1,
            reward_text(result.reward),
            plural(steps, "step"),
            seconds_text(result.spent.seconds)
        ),
        Status::Failed(failure) => format!(
            "Trial {}: failed ({}). {}",
            trial + 1,
            failure.kind.as_str(),
            failure.message
        ),
    }
}

fn episode_row(
    evaluations: Evaluations,
    evaluation: &str,
    trial: usize,
    open: RwSignal<bool>,
    result: &CellResult,
) -> impl IntoView + use<> {
    let cell = result.cell;
    let words = episode_words(trial, result);
    let show = move |_| {
        open.set(false);
        evaluations.show_episode(cell);
    };
    let address = review_address(evaluation, &episode_id(evaluation, cell));
    view! {
        <li>
            <span dir="auto">{inert(&words)}</span>
            <a
                class="button"
                href=address
                aria-label=format!("Review trial {}", trial + 1)
                on:click=move |_| open.set(false)
            >
                {"Review"}
            </a>
            <button type="button" aria-label=format!("Open trial {}", trial + 1) on:click=show>
                {"Open"}
            </button>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::{Failure, FailureKind};
    use volary_agent::model::limits::Spent;

    use super::*;

    fn cell(rewards: &[f64], successes: usize, failures: usize) -> TaskCell {
        TaskCell {
            rewards: rewards.to_vec(),
            successes,
            failures,
        }
    }

    #[test]
    fn a_cell_shows_its_mean_its_successes_and_its_failures() {
        for (cell, text, words) in [
            (
                cell(&[1.0], 1, 0),
                "1.0",
                "mean reward 1.0, 1 of 1 trial succeeded",
            ),
            (
                cell(&[1.0, 0.0, 0.0], 1, 0),
                "0.333 · 1/3",
                "mean reward 0.333333, 1 of 3 trials succeeded",
            ),
            (
                cell(&[0.5], 0, 2),
                "0.5 !",
                "mean reward 0.5, 0 of 1 trial succeeded, 2 failed",
            ),
            (cell(&[], 0, 2), "failed", "no result, 2 failed"),
        ] {
            assert_eq!(cell_text(&cell), text);
            assert_eq!(cell_words(&cell), words);
        }
    }

    #[test]
    fn a_cell_is_shaded_by_its_share_of_successes() {
        for (cell, class) in [
            (cell(&[1.0, 1.0], 2, 0), "task-cell all"),
            (cell(&[1.0, 0.0], 1, 0), "task-cell most"),
            (cell(&[1.0, 0.0, 0.0], 1, 0), "task-cell some"),
            (cell(&[0.0], 0, 0), "task-cell none"),
            (cell(&[], 0, 1), "task-cell failed"),
        ] {
            assert_eq!(cell_class(&cell), class);
        }
    }

    #[test]
    fn a_trial_says_how_it_ended() {
        let spent = Spent {
            steps: 1,
            seconds: 1.5,
            ..Spent::default()
        };
        let failure = Failure {
            kind: FailureKind::Answer,
            message: "Step 1: No tool was called.".into(),
        };
        let failed = CellResult::failed(0, failure, 0.0, spent, 1);
        assert_eq!(
            episode_words(1, &failed),
            "Trial 2: failed (unusable answer). Step 1: No tool was called."
        );
        let finished = CellResult {
            status: Status::Finished {
                ending: "truncated".into(),
            },
            reward: -0.25,
            ..failed
        };
        assert_eq!(
            episode_words(0, &finished),
            "Trial 1: reward -0.25, truncated, 1 step, 1.5 s"
        );
    }
}
