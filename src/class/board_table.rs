//! The table of the board: a row for each pupil, a column for each task.

use leptos::prelude::*;
use volary_classroom::{BoardRow, TaskState, board as rows};

use super::blind_view::Blind;
use super::board::Board;
use super::work_view::standing_words;
use crate::browser::{self, location, timers};
use crate::components::text::inert;
use crate::components::{Glyph, Icon};
use crate::playground::rival;
use crate::playground::state::{Playground, use_playground};
use crate::projection::notice::Notice;
use crate::projection::summary::reward_text;
use crate::projection::text::plural;

/// What the table shows of the hand-ins.
#[derive(Clone, Copy)]
pub(super) struct BoardSignals {
    pub board: Board,
    /// The id of the shown assignment.
    pub assignment: RwSignal<Option<String>>,
    /// The hand-ins for it, sorted by name.
    pub rows: Memo<Vec<BoardRow>>,
    /// The titles of its tasks.
    pub tasks: Memo<Vec<String>>,
    /// Whether names are hidden, for a projector.
    pub are_hidden: RwSignal<bool>,
    /// The blind comparison that is shown in place of the table.
    pub blind: RwSignal<Option<Blind>>,
}

impl BoardSignals {
    pub fn ids(self) -> Vec<String> {
        self.rows
            .with_untracked(|rows| rows.iter().map(|row| row.id.clone()).collect())
    }

    pub fn title(self) -> String {
        self.rows.with(|rows| {
            let first = rows.first();
            first.map_or_else(String::new, |row| row.title.to_string())
        })
    }
}

/// A row for each pupil, a column for each task.
#[component]
pub(super) fn BoardTable(shown: BoardSignals) -> impl IntoView {
    let heads = move || {
        let tasks = shown.tasks.get().into_iter().enumerate();
        tasks
            .map(|(place, title)| {
                let solved = move || {
                    shown.rows.with(|rows| {
                        let tasks = rows.iter().filter_map(|row| row.tasks.get(place));
                        let solved = tasks.filter(|task| task.is_solved()).count();
                        format!("{solved} of {} solved", rows.len())
                    })
                };
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
        let all = shown.rows.get();
        let names = rows::shown_names(&all, shown.are_hidden.get());
        let count = shown.tasks.with(Vec::len);
        let lines = all.into_iter().zip(names);
        lines
            .map(|(row, name)| line(shown.board, &row, &name, count))
            .collect_view()
    };
    let count = move || shown.rows.with(|rows| plural(rows.len(), "hand-in"));
    view! {
        <Show
            when=move || !shown.rows.with(Vec::is_empty)
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
    let rows = shown.rows.get_untracked();
    let names = rows::shown_names(&rows, shown.are_hidden.get_untracked());
    let entrants = rows
        .into_iter()
        .zip(names)
        .map(|(row, name)| (row.id, name));
    let entrants = entrants.collect();
    browser::spawn(async move {
        match Blind::load(shown.board, entrants, place, title).await {
            Ok(blind) => {
                // The board may be gone.
                shown.blind.try_set(Some(blind));
            }
            Err(notice) => shown.board.problem.set(Some(notice)),
        }
    });
}

fn line(board: Board, row: &BoardRow, name: &str, count: usize) -> impl IntoView + use<> {
    let cells = (0..count).map(|place| cell(board, row, name, place));
    let times = match row.times {
        1 => String::new(),
        times => format!(" · {times} times"),
    };
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
    let Some(task) = row
        .tasks
        .get(place)
        .filter(|task| task.state != TaskState::Untouched)
    else {
        return view! {
            <td class="class-untouched">
                <span aria-hidden="true">{"–"}</span>
                <span class="visually-hidden">{"Not started"}</span>
            </td>
        }
        .into_any();
    };
    let is_solved = task.is_solved();
    let label = format!(
        "{name}, task {}: {}. Open in Review",
        place + 1,
        standing_words(task)
    );
    let words = match (is_solved, task.reward) {
        (true, Some(reward)) => reward_text(reward),
        (_, Some(reward)) => format!("{} · {}", task.state.words(), reward_text(reward)),
        (_, None) => task.state.words().to_owned(),
    };
    let glyph = is_solved.then(|| view! { <Icon glyph=Glyph::Check/> });
    let steps = plural(task.steps, "step");
    let id = row.id.clone();
    let open = move |_| {
        let hash = format!("#/review/class-{id}-{}", place + 1);
        to_review(board, vec![id.clone()], hash);
    };
    let class = match is_solved {
        true => "class-cell solved",
        false => "class-cell",
    };
    let rival_label = format!("{name}, task {}: play against a model", place + 1);
    let id = row.id.clone();
    let playground = use_playground();
    let challenge = move |_| play_against(board, playground, id.clone(), place);
    view! {
        <td>
            <button type="button" class=class aria-label=label on:click=open>
                <span class="class-reached">{glyph} {words}</span>
                <span class="help">{steps}</span>
            </button>
            <button
                type="button"
                class="quiet small"
                title="A model plays the same task with the same seed"
                aria-label=rival_label
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
            Ok(Some(Some(episode))) => rival::play_from_elsewhere(playground, &episode),
            Ok(_) => {}
            Err(Notice { why, advice, .. }) => {
                let notice = Notice::new("The hand-in could not be opened.", why, advice);
                board.problem.set(Some(notice));
            }
        }
    });
}
