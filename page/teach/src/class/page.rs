//! The page of a class: what the address names.

use std::sync::Arc;

use leptos::prelude::*;
use volary_classroom::{Assignment, AssignmentError};
use volary_view::route::{ClassPlace, Route};

use super::assign_view::AssignView;
use super::board::Board;
use super::board_view::BoardView;
use super::pair_view::PairView;
use super::work_view::WorkView;
use volary_browser::files::GivenFile;
use volary_browser::{self as browser, location};
use volary_ui::navigation::{Hooks, Page, use_pages};
use volary_ui::text::inert;

/// Larger files are no assignments and no hand-ins.
const LARGEST: f64 = 64e6;

pub fn page() -> AnyView {
    let pages = use_pages();
    let place = Memo::new(move |former: Option<&ClassPlace>| match pages.route.get() {
        Route::Class { path } => ClassPlace::read(&path),
        // Another page is shown; this one keeps its state.
        _ => former.cloned().unwrap_or_default(),
    });
    let board = Board::new();
    // An assignment that was opened as a file at a place, because it is too long for a link.
    let opened = RwSignal::new(None);
    let take = Callback::new(move |files| take_files(board, place, opened, files));
    pages.hook(
        Page::Class,
        Hooks {
            keys: &[],
            press: Box::new(|_| false),
            take_files: Box::new(move |files| take.run(files)),
            drop_words: "Drop hand-ins to see them on the board, or an assignment to work on it. They stay in your \
                         browser.",
        },
    );
    let view = move || match place.get() {
        here if opened.with(|opened| is_at(opened.as_ref(), &here)) => {
            let opened = opened.get_untracked();
            opened
                .map(|(_, assignment)| view! { <WorkView assignment/> })
                .into_any()
        }
        ClassPlace::Assign => view! { <AssignView take/> }.into_any(),
        ClassPlace::Pair { left, right } => view! { <PairView left right/> }.into_any(),
        ClassPlace::Work(text) => match Assignment::read_link(&text) {
            Ok(assignment) => {
                let assignment = Arc::new(assignment);
                view! { <WorkView assignment/> }.into_any()
            }
            Err(error) => broken(&error),
        },
        ClassPlace::Board(None) => view! { <BoardView board assignment=None take/> }.into_any(),
        ClassPlace::Board(Some(text)) => match Assignment::read_link(&text) {
            Ok(assignment) => {
                let assignment = Some(Arc::new(assignment));
                view! { <BoardView board assignment take/> }.into_any()
            }
            Err(error) => broken(&error),
        },
    };
    view! { <div class="learn">{view}</div> }.into_any()
}

/// An assignment of a file, and the place at which it is shown.
type Opened = (ClassPlace, Arc<Assignment>);

fn is_at(opened: Option<&Opened>, place: &ClassPlace) -> bool {
    opened.is_some_and(|(at, _)| at == place)
}

/// Shows hand-ins on the board, and an assignment as its pupils see it.
fn take_files(
    board: Board,
    place: Memo<ClassPlace>,
    opened: RwSignal<Option<Opened>>,
    files: Vec<GivenFile>,
) {
    browser::spawn(async move {
        for file in files {
            let read = if file.size > LARGEST {
                Err("it is too large".to_owned())
            } else {
                file.read().await
            };
            let text = read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            if let Ok(text) = &text
                && let Ok(assignment) = Assignment::read(text)
            {
                return match assignment.to_link() {
                    Ok(link) => location::go(&ClassPlace::Work(link).to_hash()),
                    Err(_) => opened.set(Some((place.get_untracked(), Arc::new(assignment)))),
                };
            }
            board.take(&file.name, text);
        }
        if !location::hash().starts_with("#/class/board") {
            location::go(&ClassPlace::Board(None).to_hash());
        }
    });
}

fn broken(error: &AssignmentError) -> AnyView {
    view! {
        <section class="lesson" aria-label="The assignment could not be opened">
            <h1>{"The assignment could not be opened"}</h1>
            <p role="alert">{inert(&error.to_string())}</p>
        </section>
    }
    .into_any()
}
