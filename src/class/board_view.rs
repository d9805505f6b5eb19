//! The board: who has reached what, from a class server and from files.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use volary_app::class::download_name::download_name;
use volary_classroom::{Assignment, BoardRow, board as rows};
use volary_trajectory::table::Column;
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::view::View;

use super::blind_view::BlindView;
use super::board::Board;
use super::board_table::{BoardSignals, BoardTable, to_review};
use super::connection_panel::ConnectionPanel;
use crate::browser::files::{self, GivenFile};
use crate::browser::spawn;
use crate::components::AlertBox;
use crate::components::field::Field;
use crate::components::text::inert;

/// The files that the dialog accepts.
pub(super) const KINDS: &str = ".json,application/json";

#[component]
pub fn BoardView(
    board: Board,
    assignment: Option<Arc<Assignment>>,
    /// Takes files that were picked.
    take: Callback<Vec<GivenFile>>,
) -> impl IntoView {
    let given = StoredValue::new(assignment);
    let of_link = given.with_value(|given| given.as_ref().map(|given| given.id.clone()));
    let chosen = RwSignal::new(of_link);
    let all = board.rows;
    // Without a choice, the assignment of the first row.
    let shown_id = Memo::new(move |_| {
        let first = || all.with(|rows| rows.first().map(|row| row.assignment.clone()));
        chosen.get().or_else(first)
    });
    let rows = Memo::new(move |_| {
        let id = shown_id.get();
        let mut rows = all.get();
        rows.retain(|row| Some(&row.assignment) == id.as_ref());
        rows
    });
    let tasks = Memo::new(move |_| {
        let given = given.with_value(|given| {
            let given = given
                .as_ref()
                .filter(|given| Some(&given.id) == shown_id.get().as_ref());
            given.map(|given| {
                let tasks = given.tasks.iter().map(|task| task.title.to_string());
                tasks.collect::<Vec<_>>()
            })
        });
        given.unwrap_or_else(|| {
            rows.with(|rows| {
                let longest = rows.iter().max_by_key(|row| row.tasks.len());
                let tasks = longest.map(|row| row.tasks.iter().map(|task| task.title.to_string()));
                tasks.into_iter().flatten().collect()
            })
        })
    });
    let shown = BoardSignals {
        board,
        assignment: chosen,
        rows,
        tasks,
        are_hidden: RwSignal::new(false),
        blind: RwSignal::new(None),
    };
    let on_end = Callback::new(move |()| shown.blind.set(None));
    let table = move || match shown.blind.get() {
        Some(blind) => view! { <BlindView blind on_end back="Back to the board"/> }.into_any(),
        None => view! { <BoardTable shown/> }.into_any(),
    };
    let title = move || {
        let of_link = given.with_value(|given| {
            let given = given.as_ref();
            given.map(|given| given.title.to_string())
        });
        let title = shown.title();
        match (title.is_empty(), of_link) {
            (false, _) => title,
            (true, Some(title)) => title,
            (true, None) => "Board".to_owned(),
        }
    };
    let class = given.with_value(|given| given.as_ref().and_then(|given| given.class.clone()));
    let url = class.map_or_else(String::new, |class| class.url);
    view! {
        <section class="class-board" aria-label="Board">
            <header class="class-board-head">
                <div>
                    <p>
                        <a href="#/class">{"Assignments"}</a>
                    </p>
                    <h1 dir="auto">{move || inert(&title())}</h1>
                </div>
                <Actions shown take/>
            </header>
            <AssignmentChoice shown all shown_id/>
            <ConnectionPanel board url/>
            <AlertBox notice=board.problem/>
            {table}
        </section>
    }
}

/// A select for one of several assignments.
#[component]
fn AssignmentChoice(
    shown: BoardSignals,
    all: Memo<Vec<BoardRow>>,
    shown_id: Memo<Option<String>>,
) -> impl IntoView {
    let known = Memo::new(move |_| {
        all.with(|rows| {
            let titles = rows.iter();
            let titles = titles.map(|row| (row.assignment.clone(), row.title.to_string()));
            titles.collect::<BTreeMap<_, _>>()
        })
    });
    let options = move || {
        let known = known.get().into_iter();
        known
            .map(|(id, title)| view! { <option value=id>{title}</option> })
            .collect_view()
    };
    view! {
        <Show when=move || { known.with(|known| known.len() > 1) }>
            <Field id="class-assignment" label="Assignment">
                <select
                    id="class-assignment"
                    prop:value=move || shown_id.get().unwrap_or_default()
                    on:change=move |event| shown.assignment.set(Some(event_target_value(&event)))
                >
                    {options}
                </select>
            </Field>
        </Show>
    }
}

/// Buttons for all hand-ins.
#[component]
fn Actions(shown: BoardSignals, take: Callback<Vec<GivenFile>>) -> impl IntoView {
    let board = shown.board;
    let is_empty = move || shown.rows.with(Vec::is_empty);
    let open = move |_| {
        files::pick(KINDS, move |files| take.run(files));
    };
    let name = move || download_name(&["board", &untrack(|| shown.title())]);
    let csv = move |_| {
        let text = shown
            .rows
            .with_untracked(|all| rows::csv(all, shown.are_hidden.get_untracked()));
        files::download(&format!("{}.csv", name()), "text/csv", text.as_bytes());
    };
    let jsonl = move |_| {
        let name = name();
        spawn(async move {
            match board.lines(&shown.ids()).await {
                Ok(lines) => files::download(
                    &format!("{name}.jsonl"),
                    "application/jsonl",
                    lines.as_bytes(),
                ),
                Err(notice) => board.problem.set(Some(notice)),
            }
        });
    };
    let review = move |_| {
        let title = untrack(|| shown.title());
        let view = View {
            filters: vec![(metadata("assignment"), Filter::OneOf(vec![title]))],
            groups: vec![Column::Agent, metadata("task")],
            ..View::default()
        };
        to_review(board, shown.ids(), format!("#/review?{}", view.to_query()));
    };
    view! {
        <div class="button-row" role="group" aria-label="Hand-ins">
            <button
                type="button"
                aria-pressed=move || shown.are_hidden.get().to_string()
                on:click=move |_| shown.are_hidden.update(|hidden| *hidden = !*hidden)
            >
                {"Hide names"}
            </button>
            <button type="button" on:click=open>
                {"Open files"}
            </button>
            <Show when=move || !is_empty()>
                <button type="button" on:click=review>
                    {"Open all in Review"}
                </button>
                <button type="button" on:click=csv>
                    {"Export CSV"}
                </button>
                <button type="button" on:click=jsonl>
                    {"Export JSONL"}
                </button>
            </Show>
        </div>
    }
}

fn metadata(name: &str) -> Column {
    Column::Metadata(vec![name.into()])
}
