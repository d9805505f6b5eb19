//! The board: who has reached what, from a class server and from files.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_classroom::{Assignment, BoardRow, TaskState, board as rows};
use volary_trajectory::table::Column;
use volary_trajectory::table::filter::Filter;
use volary_trajectory::table::view::View;

use super::blind_view::{Blind, BlindView};
use super::board::{Board, Connection};
use super::desk::file_name;
use super::server_fields::ServerFields;
use super::service;
use super::work_view::standing_words;
use crate::browser::files::{self, GivenFile};
use crate::browser::{self, location, timers};
use crate::components::alert_box::AlertWords;
use crate::components::field::Field;
use crate::components::text::inert;
use crate::components::{AlertBox, Glyph, Icon};
use crate::playground::rival;
use crate::playground::state::{Playground, use_playground};
use crate::projection::notice::Notice;
use crate::projection::summary::reward_text;
use crate::projection::text::plural;
use crate::secrets::{self, Origin};

/// The files that the dialog accepts.
pub(super) const KINDS: &str = ".json,application/json";

/// What the table shows of the hand-ins.
#[derive(Clone, Copy)]
struct BoardSignals {
    board: Board,
    /// The id of the shown assignment.
    assignment: RwSignal<Option<String>>,
    /// The hand-ins for it, sorted by name.
    rows: Memo<Vec<BoardRow>>,
    /// The titles of its tasks.
    tasks: Memo<Vec<String>>,
    /// Whether names are hidden, for a projector.
    are_hidden: RwSignal<bool>,
    /// The blind comparison that is shown in place of the table.
    blind: RwSignal<Option<Blind>>,
}

impl BoardSignals {
    fn ids(self) -> Vec<String> {
        self.rows
            .with_untracked(|rows| rows.iter().map(|row| row.id.clone()).collect())
    }

    fn title(self) -> String {
        self.rows.with(|rows| {
            let first = rows.first();
            first.map_or_else(String::new, |row| row.title.to_string())
        })
    }
}

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
    let all = Memo::new(move |_| board.rows());
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
        None => view! { <Table shown/> }.into_any(),
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

/// The form that connects to a class server, or the state of the connection.
#[component]
fn ConnectionPanel(board: Board, url: String) -> impl IntoView {
    let url = RwSignal::new(url);
    let key = RwSignal::new(String::new());
    let has_key = Memo::new(move |_| {
        url.with(|url| {
            service::address(url).is_ok_and(|url| secrets::has(service::OWNER, &Origin::of(&url)))
        })
    });
    let connect = move |event: SubmitEvent| {
        event.prevent_default();
        board.connect(&url.get_untracked(), &key.get_untracked());
        key.set(String::new());
    };
    let key_help = Signal::derive(move || match has_key.get() {
        true => "Leave it empty to use the key that you entered before.",
        false => {
            "The key that the server was started with. It is sent to this server only; Settings says where keys are stored."
        }
    });
    let form = move || {
        view! {
            <form class="class-connect" novalidate on:submit=connect aria-label="Connect to a class">
                <ServerFields url key help=key_help/>
                <div class="button-row">
                    <button type="submit" class="primary">
                        {"Connect"}
                    </button>
                </div>
            </form>
        }
    };
    let is_form_shown = Memo::new(move |_| match board.connection.get() {
        Connection::Off => true,
        Connection::Failed(_) => true,
        Connection::Connecting | Connection::Live { .. } => false,
    });
    let state = move || match board.connection.get() {
        Connection::Off => ().into_any(),
        Connection::Connecting => "Connecting…".into_any(),
        Connection::Live { class, at } => {
            let at = timers::local_time(at);
            let at = at.split_once(' ').map_or("", |(_, at)| at).to_owned();
            view! {
                <span class="badge good">{"Live"}</span>
                {format!(" {class}, updated {at} ")}
                <button type="button" class="quiet small" on:click=move |_| board.disconnect()>
                    {"Disconnect"}
                </button>
            }
            .into_any()
        }
        Connection::Failed(notice) => view! {
            <div class="alert inline" role="alert">
                <Icon glyph=Glyph::Warning/>
                <AlertWords what=notice.what why=notice.why advice=notice.advice/>
            </div>
        }
        .into_any(),
    };
    view! {
        <div class="class-connection">
            <div class="class-state" role="status">
                {state}
            </div>
            <Show when=move || is_form_shown.get()>{form()}</Show>
        </div>
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
    let name = move || file_name(&["board", &untrack(|| shown.title())]);
    let csv = move |_| {
        let text = shown
            .rows
            .with_untracked(|all| rows::csv(all, shown.are_hidden.get_untracked()));
        files::download(&format!("{}.csv", name()), "text/csv", text.as_bytes());
    };
    let jsonl = move |_| {
        let name = name();
        browser::spawn(async move {
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

/// Stores hand-ins in the library, and opens a place of Review.
fn to_review(board: Board, ids: Vec<String>, hash: String) {
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

/// A row for each pupil, a column for each task.
#[component]
fn Table(shown: BoardSignals) -> impl IntoView {
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
