//! The page of lessons: finds and loads the lesson that the address names, with consent if its file has another origin.

use std::sync::Arc;
use std::time::Duration;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_lesson::Problem;
use volary_view::route::{LearnPlace, Route};

use super::lesson_page::{LearnContent, LessonFetch, LessonPage};
use super::lesson_progress::LessonProgress;
use super::lesson_view::LessonView;
use super::list::LessonList;
use super::presentation::{self, Presentation, SequenceForm};
use volary_browser::http::{self, Request, Timeouts};
use volary_browser::{self as browser, element, location, network};
use volary_ui::FetchQuestion;
use volary_ui::navigation::{Hooks, Keys, Page, use_pages};
use volary_ui::text::inert;

/// The address of the list, as its links have it.
const LIST: &str = "#/learn";

const TIMEOUT: Duration = Duration::from_secs(30);

/// Keyboard shortcuts.
const KEYS: Keys = &[
    (
        "Page Down, Right, Space",
        "Presentation: the next step or slide",
    ),
    ("Page Up, Left", "Presentation: the previous step or slide"),
    ("Home, End", "Presentation: the first or the last slide"),
    ("f", "Presentation: full screen"),
    ("Escape", "Leave the presentation"),
];

/// The page: the list of lessons, or the lesson that the address names.
pub fn page() -> AnyView {
    let pages = use_pages();
    let progress = LessonProgress::of_browser();
    let state = RwSignal::new(LessonPage::default());
    let shown = Memo::new(move |_| state.with(|state| state.content().clone()));
    let path = Memo::new(move |former: Option<&String>| match pages.route.get() {
        Route::Learn { path } => path,
        // Another page is shown; the lesson keeps its state.
        _ => former.cloned().unwrap_or_default(),
    });
    let place = Memo::new(move |_| LearnPlace::read(&path.get()));
    let presentation = Presentation::new(path);
    Effect::new(move |_| {
        fetch(
            state,
            state.try_update(|state| state.follow(place.get(), linked)),
        )
    });
    pages.hook(
        Page::Learn,
        Hooks {
            keys: KEYS,
            press: Box::new(move |press| presentation.press(press)),
            take_files: Box::new(move |files| {
                let Some(file) = files.into_iter().next() else {
                    return;
                };
                let request = state.try_update(|state| state.dropped(&file.name, file.size));
                let Some(request) = request.flatten() else {
                    return;
                };
                browser::spawn(async move {
                    let read = file.read().await;
                    let text = read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                    state.try_update(|state| state.arrived(request, text));
                });
            }),
            drop_words: "Drop a lesson (Markdown) to read it. It stays in your browser.",
        },
    );
    let view = move || match shown.get() {
        LearnContent::List => view! { <LessonList progress/> }.into_any(),
        LearnContent::Loading => view! {
            <p class="coming" role="status">
                {"Loading the lesson…"}
            </p>
        }
        .into_any(),
        LearnContent::Lesson { key, lesson } => {
            let title = lesson.title.clone();
            let read = {
                let (lesson, key) = (Arc::clone(&lesson), key.clone());
                move |present| {
                    let (lesson, key) = (Arc::clone(&lesson), key.clone());
                    view! { <LessonView lesson key progress present/> }.into_any()
                }
            };
            presentation.draw(title, read, move |at, leave| {
                presentation::of_lesson(&lesson, &key, progress, at, leave)
            })
        }
        LearnContent::Sequence(links) if links.is_empty() => view! { <SequenceForm/> }.into_any(),
        LearnContent::Sequence(links) => presentation.draw(
            "Episodes".to_owned(),
            |_| view! { <SequenceForm/> }.into_any(),
            move |at, leave| presentation::of_links(&links, at, leave),
        ),
        LearnContent::Ask(file) => question(file, state),
        LearnContent::Broken(problems) => broken(&problems),
        LearnContent::Failed(reason) => failed(&reason),
    };
    // A lesson that was dropped on the list has the list's address, so the link to it leads nowhere.
    let clicked = move |event: MouseEvent| {
        let opens_tab = event.ctrl_key() || event.meta_key() || event.shift_key();
        let link = element::attribute_around(&event, "href");
        if !opens_tab && link.as_deref() == Some(LIST) {
            state.try_update(|state| state.follow(LearnPlace::List, linked));
        }
    };
    view! {
        <div class="learn" on:click=clicked>
            {view}
        </div>
    }
    .into_any()
}

/// Decides about a file that the address names.
fn linked(url: &str) -> LinkedFile {
    let whole = location::whole(url).unwrap_or_default();
    LinkedFile::of(&whole, &network::page().origin)
}

fn fetch(state: RwSignal<LessonPage>, fetch: Option<Option<LessonFetch>>) {
    // The signal may be gone, or there may be nothing to fetch.
    let Some(LessonFetch { url, request }) = fetch.flatten() else {
        return;
    };
    browser::spawn(async move {
        let get = Request {
            method: "GET",
            url: location::whole(&url).unwrap_or_default(),
            ..Request::default()
        };
        let timeouts = Timeouts::of(TIMEOUT);
        let text = match http::fetch(&get, timeouts, volary_lesson::parse::LARGEST).await {
            Ok(reply) if (200..300).contains(&reply.status) => Ok(reply.body),
            Ok(reply) => Err(format!("The server responded with {}.", reply.status)),
            Err(error) => Err(error.to_string()),
        };
        state.try_update(|state| state.arrived(request, text));
    });
}

/// Asks whether to fetch a file of another origin.
fn question(file: Elsewhere, state: RwSignal<LessonPage>) -> AnyView {
    let agree = move |()| fetch(state, state.try_update(LessonPage::agree));
    let decline = |()| {
        location::go(
            &Route::Learn {
                path: String::new(),
            }
            .to_hash(),
        )
    };
    view! {
        <section class="lesson" aria-label="Fetch this lesson?">
            <h1>{"Fetch this lesson?"}</h1>
            <FetchQuestion
                file
                content="a lesson"
                then=" and shows it."
                fetch=agree
                decline
            />
        </section>
    }
    .into_any()
}

fn broken(problems: &[Problem]) -> AnyView {
    let problems = problems.iter().map(|problem| {
        view! { <li dir="auto">{inert(&problem.to_string())}</li> }
    });
    view! {
        <section class="lesson" aria-label="This file is not a lesson">
            <h1>{"This file is not a lesson"}</h1>
            <p>{"Correct these lines, then load it again:"}</p>
            <ul>{problems.collect_view()}</ul>
            <p>
                <a href="docs/lessons.md" target="_blank">
                    {"The format of lessons"}
                </a>
            </p>
        </section>
    }
    .into_any()
}

fn failed(reason: &str) -> AnyView {
    view! {
        <section class="lesson" aria-label="The lesson could not be opened">
            <h1>{"The lesson could not be opened"}</h1>
            <p role="alert">{inert(reason)}</p>
            <p>
                <a href="#/learn">{"All lessons"}</a>
            </p>
        </section>
    }
    .into_any()
}
