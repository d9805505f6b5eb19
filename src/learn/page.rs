//! The page of lessons: finds and loads the lesson that the address names, with consent if its file has another origin.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_lesson::{Lesson, Problem, catalog, parse};

use super::lesson_progress::LessonProgress;
use super::lesson_view::LessonView;
use super::list::LessonList;
use super::presentation::{self, Presentation, SequenceForm};
use crate::browser::http::{self, Request, Timeouts};
use crate::browser::{self, location, network};
use crate::components::FetchQuestion;
use crate::components::text::inert;
use crate::navigation::{Hooks, Keys, Page, use_pages};
use crate::route::{LearnPlace, Route};

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

#[derive(Clone)]
enum LearnContent {
    List,
    Loading,
    /// The lesson is in a file of another origin, which is fetched only with the reader's consent.
    Ask(Elsewhere),
    Lesson {
        key: String,
        lesson: Arc<Lesson>,
    },
    /// Shared links that are presented.
    Sequence(Vec<String>),
    /// The file is not a valid lesson.
    Broken(Vec<Problem>),
    /// The file could not be loaded.
    Failed(String),
}

/// The page: the list of lessons, or the lesson that the address names.
pub fn page() -> AnyView {
    let pages = use_pages();
    let progress = LessonProgress;
    let shown = RwSignal::new(LearnContent::List);
    let path = Memo::new(move |former: Option<&String>| match pages.route.get() {
        Route::Learn { path } => path,
        // Another page is shown; the lesson keeps its state.
        _ => former.cloned().unwrap_or_default(),
    });
    let place = Memo::new(move |_| LearnPlace::read(&path.get()));
    let presentation = Presentation::new(path);
    Effect::new(move |_| follow(shown, place, &place.get()));
    pages.hook(
        Page::Learn,
        Hooks {
            keys: KEYS,
            press: Box::new(move |press| presentation.press(press)),
            take_files: Box::new(move |files| {
                browser::spawn(async move {
                    let Some(file) = files.into_iter().next() else {
                        return;
                    };
                    let read = match file.size > volary_lesson::parse::LARGEST as f64 {
                        true => Err("The file is too large for a lesson.".to_owned()),
                        false => file
                            .read()
                            .await
                            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                    };
                    shown.set(match read {
                        Ok(text) => read_lesson(&text, file.name),
                        Err(reason) => LearnContent::Failed(reason),
                    });
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
        LearnContent::Ask(file) => question(file, shown, place),
        LearnContent::Broken(problems) => broken(&problems),
        LearnContent::Failed(reason) => failed(&reason),
    };
    view! { <div class="learn">{view}</div> }.into_any()
}

/// Loads and shows what the address names.
fn follow(shown: RwSignal<LearnContent>, place: Memo<LearnPlace>, now: &LearnPlace) {
    match now {
        LearnPlace::List => shown.set(LearnContent::List),
        LearnPlace::Sequence(links) => shown.set(LearnContent::Sequence(links.clone())),
        LearnPlace::Lesson(id) => match catalog::find(id) {
            Some(entry) => {
                let file = format!("lessons/{}.md", entry.id);
                let url = location::whole(&file).unwrap_or_default();
                fetch(shown, place, url, entry.id.to_owned());
            }
            None => shown.set(LearnContent::Failed(
                "There is no lesson with this name.".to_owned(),
            )),
        },
        LearnPlace::Linked(url) => {
            let whole = location::whole(url).unwrap_or_default();
            match LinkedFile::of(&whole, &network::page().origin) {
                LinkedFile::SameOrigin { url } => fetch(shown, place, url.clone(), url),
                LinkedFile::Elsewhere(file) => shown.set(LearnContent::Ask(file)),
                LinkedFile::Refused(why) => shown.set(LearnContent::Failed(why.to_string())),
            }
        }
    }
}

fn fetch(shown: RwSignal<LearnContent>, place: Memo<LearnPlace>, url: String, key: String) {
    shown.set(LearnContent::Loading);
    let wanted = place.get_untracked();
    browser::spawn(async move {
        let request = Request {
            method: "GET",
            url,
            ..Request::default()
        };
        let reply = http::fetch(
            &request,
            Timeouts::of(TIMEOUT),
            volary_lesson::parse::LARGEST,
        )
        .await;
        // The reader may have navigated elsewhere meanwhile.
        if place.get_untracked() != wanted {
            return;
        }
        shown.set(match reply {
            Ok(reply) if (200..300).contains(&reply.status) => read_lesson(&reply.body, key),
            Ok(reply) => {
                LearnContent::Failed(format!("The server responded with {}.", reply.status))
            }
            Err(error) => LearnContent::Failed(error.to_string()),
        });
    });
}

fn read_lesson(text: &str, key: String) -> LearnContent {
    match parse(text) {
        Ok(lesson) => LearnContent::Lesson {
            key,
            lesson: Arc::new(lesson),
        },
        Err(problems) => LearnContent::Broken(problems),
    }
}

/// Asks whether to fetch a file of another origin.
fn question(file: Elsewhere, shown: RwSignal<LearnContent>, place: Memo<LearnPlace>) -> AnyView {
    let url = file.url.clone();
    let agree = move |()| fetch(shown, place, url.clone(), url.clone());
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
