//! The board: who has reached what, from a class server and from files.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::Column;
use volary_analysis::table::filter::Filter;
use volary_analysis::table::view::View;
use volary_app::class::download_name::download_name;
use volary_classroom::Assignment;
use volary_classroom::board::csv as csv_of;

use super::blind_view::BlindView;
use super::board::Board;
use super::board_rows::{BoardRows, assignments};
use super::board_table::{BoardSignals, BoardTable, to_review};
use super::connection_panel::ConnectionPanel;
use volary_browser::files::{self, GivenFile};
use volary_browser::spawn;
use volary_ui::AlertBox;
use volary_ui::field::Field;
use volary_ui::text::inert;

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
    let rows = Memo::new(move |_| {
        let chosen = chosen.get();
        given.with_value(|given| {
            board
                .rows
                .with(|all| BoardRows::of(all, chosen.as_deref(), given.as_deref()))
        })
    });
    let shown = BoardSignals {
        board,
        chosen,
        rows,
        are_hidden: RwSignal::new(false),
        blind: RwSignal::new(None),
    };
    let on_end = Callback::new(move |()| shown.blind.set(None));
    let table = move || match shown.blind.get() {
        Some(blind) => view! { <BlindView blind on_end back="Back to the board"/> }.into_any(),
        None => view! { <BoardTable shown/> }.into_any(),
    };
    let title = Memo::new(move |_| rows.with(|rows| rows.title.clone()));
    let class = given.with_value(|given| given.as_ref().and_then(|given| given.class.clone()));
    let url = class.map_or_else(String::new, |class| class.url);
    view! {
        <section class="class-board" aria-label="Board">
            <header class="class-board-head">
                <div>
                    <p>
                        <a href="#/class">{"Assignments"}</a>
                    </p>
                    <h1 dir="auto">{move || inert(&title.get())}</h1>
                </div>
                <Actions shown take/>
            </header>
            <AssignmentChoice shown/>
            <ConnectionPanel board url/>
            <AlertBox notice=board.problem/>
            {table}
        </section>
    }
}

/// A select for one of several assignments.
#[component]
fn AssignmentChoice(shown: BoardSignals) -> impl IntoView {
    let known = Memo::new(move |_| shown.board.rows.with(|all| assignments(all)));
    let shown_id = move || shown.rows.with(|rows| rows.assignment.clone());
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
                    prop:value=move || shown_id().unwrap_or_default()
                    on:change=move |event| shown.chosen.set(Some(event_target_value(&event)))
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
    let is_empty = move || shown.rows.with(|shown| shown.rows.is_empty());
    let open = move |_| {
        files::pick(KINDS, move |files| take.run(files));
    };
    let name = move || {
        shown
            .rows
            .with_untracked(|shown| download_name(&["board", &shown.title]))
    };
    let csv = move |_| {
        let text = shown
            .rows
            .with_untracked(|rows| csv_of(&rows.rows, shown.are_hidden.get_untracked()));
        files::download(&format!("{}.csv", name()), "text/csv", text.as_bytes());
    };
    let jsonl = move |_| {
        let are_hidden = shown.are_hidden.get_untracked();
        let rows = shown.rows.with_untracked(|rows| rows.exported(are_hidden));
        let name = name();
        spawn(async move {
            match board.lines(&rows).await {
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
        let BoardRows { title, .. } = shown.rows.get_untracked();
        let view = View {
            filters: vec![(metadata("assignment"), Filter::OneOf(vec![title]))],
            groups: vec![Column::Agent, metadata("task")],
            ..View::default()
        };
        let ids = shown.rows.with_untracked(BoardRows::ids);
        to_review(board, ids, format!("#/review?{}", view.to_query()));
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
