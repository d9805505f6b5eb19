//! The steps of a run as a table, whose rows lead to them.

use leptos::prelude::*;
use volary_view::route::TrainingPlace;

use super::ShownRun;
use crate::groups::bar;
use volary_ui::text::inert;
use volary_view::review::training::step_rows::{StepRow, StepRows};
use volary_view::review::training::texts::left_out;

/// The table of a run at a place, with the steps of another one below its own.
pub(super) fn steps_table(
    shown: &ShownRun,
    beside: Option<&ShownRun>,
    here: &TrainingPlace,
) -> AnyView {
    let table = StepRows::of(shown, beside, here);
    let heads = table.columns.iter().map(|title| {
        view! {
            <th scope="col" dir="auto">
                {inert(title)}
            </th>
        }
    });
    let rows = table.rows.iter().map(|row| drawn(row, table.range));
    let more = left_out(table.left_out, "more steps: open them from the curves.");
    view! {
        <h2 class="run-section">{"Steps"}</h2>
        <div class="group-table">
            <table aria-label="Steps" class="step-table">
                <thead>
                    <tr>
                        <th scope="col">{"Step"}</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {more.map(|words| view! { <p class="faint">{words}</p> })}
    }
    .into_any()
}

fn drawn(row: &StepRow, range: (f64, f64)) -> AnyView {
    let cells = row.figures.iter().enumerate().map(|(at, text)| {
        let class = match &**text {
            "0" => "column-number faint",
            _ => "column-number",
        };
        let bar = row.mean_reward.filter(|_| at == 0);
        view! {
            <td class=class>
                {text.clone()}
                {bar.map(|mean| self::bar(mean, range))}
            </td>
        }
    });
    view! {
        <tr class:beside=row.is_beside>
            <th scope="row">
                <a href=row.href.clone() title=row.name.clone() dir="auto">
                    {inert(&row.name)}
                </a>
            </th>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}
