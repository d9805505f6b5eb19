//! The table of the board: a row for each pupil, a column for each task.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_classroom::BoardRow;
use volary_classroom::board::shown_names;
use volary_core::quantity::plural;

use super::blind_view::Blind;
use super::board::Board;
use super::board_rows::{BoardRows, CellTexts, times};
use volary_browser::{self as browser, location, timers};
use volary_playground::play_against;
use volary_playground::state::{Playground, use_playground};
use volary_ui::text::inert;
use volary_ui::{Glyph, Icon};

/// What the table shows of the hand-ins.
#[derive(Clone, Copy)]
pub(super) struct BoardSignals {
    pub board: Board,
    /// The id of the assignment that was chosen.
    pub chosen: RwSignal<Option<String>>,
    /// The hand-ins for the shown assignment, sorted by name.
    pub rows: Memo<BoardRows>,
    /// Whether names are hidden, for a projector.
    pub are_hidden: RwSignal<bool>,
    /// The blind comparison that is shown in place of the table.
    pub blind: RwSignal<Option<Blind>>,
}

impl BoardSignals {
    fn is_empty(self) -> bool {
        self.rows.with(|shown| shown.rows.is_empty())
    }
}

/// A row for each pupil, a column for each task.
#[component]
pub(super) fn BoardTable(shown: BoardSignals) -> impl IntoView {
    let tasks = Memo::new(move |_| shown.rows.with(|shown| shown.tasks.clone()));
    let heads = move || {
        let tasks = tasks.get().into_iter().enumerate();
        tasks
            .map(|(place, title)| {
                let solved = move || shown.rows.with(|rows| rows.solved(place));
                let compare = {
                    let title = title.clone();
                    move |_| compare_blind(shown, place, title.clone())
                };
                let label = format!("Compare task {} blind", place + 1);
                view! {
                    <th scope="col">
                        <span dir="auto">{format!("{}. ", place + 1)} {inert(&title)}</span>
                        <span class="help">{solved}</span>
                        <button type="button" class="quiet small" aria-label=label on:click=compare>
                            {"Compare blind"}
                        </button>
                    </th>
                }
            })
            .collect_view()
    };
    let body = move || {
        let BoardRows { rows, tasks, .. } = shown.rows.get();
        let names = shown_names(&rows, shown.are_hidden.get());
        let lines = rows.into_iter().zip(names);
        lines
            .map(|(row, name)| line(shown.board, &row, &name, tasks.len()))
            .collect_view()
    };
    let count = move || shown.rows.with(|shown| plural(shown.rows.len(), "hand-in"));
    view! {
        <Show
            when=move || !shown.is_empty()
            fallback=|| {
                view! {
                    <p class="class-empty">
                        {"The hand-ins of your pupils appear here. Connect to the class, or drop the files that your pupils saved."}
                    </p>
                }
            }
        >
            <div class="class-table" tabindex="0" role="region" aria-label="Who has reached what">
                <table>
                    <caption class="help">{count}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{"Pupil"}</th>
                            {heads}
                            <th scope="col">{"Handed in"}</th>
                        </tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
        </Show>
    }
}

/// Starts a blind comparison of the hand-ins of a task.
fn compare_blind(shown: BoardSignals, place: usize, title: String) {
    let BoardRows {
        assignment, rows, ..
    } = shown.rows.get_untracked();
    let names = shown_names(&rows, shown.are_hidden.get_untracked());
    let entrants = rows.into_iter().zip(names);
    let entrants = entrants.map(|(row, name)| (row.id, name)).collect();
    browser::spawn(async move {
        let loaded = Blind::load(shown.board, entrants, place, title).await;
        // The board may be gone, or show another assignment.
        let now = shown
            .rows
            .try_with_untracked(|shown| shown.assignment.clone());
        if now != Some(assignment) {
            return;
        }
        match loaded {
            Ok(blind) => shown.blind.set(Some(blind)),
            Err(notice) => shown.board.problem.set(Some(notice)),
        }
    });
}

fn line(board: Board, row: &BoardRow, name: &str, count: usize) -> impl IntoView + use<> {
    let cells = (0..count).map(|place| cell(board, row, name, place));
    let times = times(row);
    let at = timers::local_time(row.received);
    view! {
        <tr>
            <th scope="row" dir="auto">
                {inert(name)}
            </th>
            {cells.collect_view()}
            <td class="class-time">{at} {times}</td>
        </tr>
    }
}

/// What a pupil reached in a task, as a button that opens it in Review.
fn cell(board: Board, row: &BoardRow, name: &str, place: usize) -> AnyView {
    let Some(texts) = CellTexts::of(row, name, place) else {
        return view! {
            <td class="class-untouched">
                <span aria-hidden="true">{"–"}</span>
                <span class="visually-hidden">{"Not started"}</span>
            </td>
        }
        .into_any();
    };
    let glyph = texts
        .is_solved
        .then(|| view! { <Icon glyph=Glyph::Check/> });
    let id = row.id.clone();
    let open = move |_| {
        let hash = format!("#/review/class-{id}-{}", place + 1);
        to_review(board, vec![id.clone()], hash);
    };
    let class = if texts.is_solved {
        "class-cell solved"
    } else {
        "class-cell"
    };
    let id = row.id.clone();
    let playground = use_playground();
    let challenge = move |_| play_against(board, playground, id.clone(), place);
    view! {
        <td>
            <button type="button" class=class aria-label=texts.open on:click=open>
                <span class="class-reached">{glyph} {texts.reached}</span>
                <span class="help">{texts.steps}</span>
            </button>
            <button
                type="button"
                class="quiet small"
                title="A model plays the same task with the same seed"
                aria-label=texts.challenge
                on:click=challenge
            >
                {"Against a model"}
            </button>
        </td>
    }
    .into_any()
}

/// Stores hand-ins in the library, and opens a place of Review.
pub(super) fn to_review(board: Board, ids: Vec<String>, hash: String) {
    browser::spawn(async move {
        match board.store(&ids).await {
            Ok(()) => location::go(&hash),
            Err(Notice { why, advice, .. }) => {
                let notice = Notice::new("The hand-in could not be opened.", why, advice);
                board.problem.set(Some(notice));
            }
        }
    });
}

/// Stores a hand-in in the library, and lets a model play one of its tasks.
fn play_against(board: Board, playground: Playground, id: String, place: usize) {
    browser::spawn(async move {
        let stored = match board.store(std::slice::from_ref(&id)).await {
            Ok(()) => board.whole(&id).await,
            Err(notice) => Err(notice),
        };
        match stored.map(|hand_in| hand_in.into_episodes(&id).into_iter().nth(place)) {
            Ok(Some(Some(episode))) => play_against::play_from_elsewhere(playground, &episode),
            Ok(_) => {}
            Err(Notice { why, advice, .. }) => {
                let notice = Notice::new("The hand-in could not be opened.", why, advice);
                board.problem.set(Some(notice));
            }
        }
    });
}
