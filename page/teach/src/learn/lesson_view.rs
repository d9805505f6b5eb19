//! A lesson: its pieces in order, followed by a link to the next lesson.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;
use volary_lesson::{Lesson, Piece, catalog};

use super::check_view::{CheckView, QuestionView};
use super::lesson_progress::LessonProgress;
use super::player::{EpisodePlayer, Workbench};
use super::player_view::PlayView;
use super::school_view::{SchoolBlockView, element_id};
use volary_browser::{element, location, timers};
use volary_playground::state::use_playground;
use volary_ui::prose::prose_view;
use volary_ui::school_record::SchoolAchievements;
use volary_ui::text::inert;
use volary_ui::{DisclosureButton, UnsavedNotice};

/// The lesson that is being read.
#[derive(Clone, Copy)]
pub(super) struct Course {
    /// The key under which progress is stored: the id of a built-in lesson, or a URL.
    key: StoredValue<String>,
    progress: LessonProgress,
}

impl Course {
    /// A lesson of a reader; `key` names its progress.
    pub fn new(key: String, progress: LessonProgress) -> Course {
        Course {
            key: StoredValue::new(key),
            progress,
        }
    }

    /// The key under which progress is stored.
    pub fn key(self) -> String {
        self.key.get_value()
    }

    /// Returns whether a check is met.
    pub fn is_met(self, number: usize) -> bool {
        self.key.with_value(|key| self.progress.is_met(key, number))
    }

    /// Records that a check is met.
    pub fn meet(self, number: usize) {
        self.key.with_value(|key| self.progress.meet(key, number));
    }
}

/// The pieces of a lesson in order, and a link to the next lesson.
#[component]
pub(super) fn LessonView(
    lesson: Arc<Lesson>,
    key: String,
    progress: LessonProgress,
    /// Starts the presentation of the lesson.
    present: Callback<()>,
) -> impl IntoView {
    let course = Course::new(key.clone(), progress);
    let workbench = Workbench::new(use_playground());
    let players: HashMap<String, EpisodePlayer> = lesson
        .plays()
        .map(|play| (play.id.clone(), EpisodePlayer::new(workbench)))
        .collect();
    let pieces: Vec<AnyView> = lesson
        .pieces
        .iter()
        .map(|piece| draw(piece, &lesson, course, &players))
        .collect();
    let goals = lesson.goals();
    let standing = move || {
        let met = course.key.with_value(|key| progress.met(key)).min(goals);
        format!("{met} of {goals} done")
    };
    let place = catalog::LESSONS.iter().position(|entry| entry.id == key);
    let next = place.and_then(|place| catalog::LESSONS.get(place + 1));
    let next = next.map(|next| {
        view! {
            <a class="button primary" href=format!("#/learn/{}", next.id)>
                {format!("Next: {}", next.title)}
            </a>
        }
    });
    if let Some(block) = SchoolAchievements::of_browser().come_back(&key) {
        timers::next_frame(move || element::scroll_to_id(&element_id(&block)));
    }
    let reset = move |_| {
        course.key.with_value(|key| {
            SchoolAchievements::of_browser().reset(Some(key));
            progress.reset(Some(key));
        });
    };
    view! {
        <article class="lesson">
            <div class="button-row lesson-begin">
                <a href="#/learn">{"All lessons"}</a>
                <button type="button" class="quiet small" on:click=move |_| present.run(())>
                    {"Present"}
                </button>
            </div>
            <h1 dir="auto">{inert(&lesson.title)}</h1>
            <p class="help">
                {format!("About {} minutes · ", lesson.minutes)} <span>{standing}</span>
            </p>
            <UnsavedNotice what="your progress" unsaved=LessonProgress::unsaved()/>
            <p class="print-only">{location::address_with(&location::hash())}</p>
            {pieces}
            <div class="button-row lesson-end">
                {next} <a class="button" href="#/learn">
                    {"All lessons"}
                </a>
                <button type="button" class="quiet" on:click=reset>
                    {"Reset this lesson"}
                </button>
            </div>
        </article>
    }
}

fn draw(
    piece: &Piece,
    lesson: &Lesson,
    course: Course,
    players: &HashMap<String, EpisodePlayer>,
) -> AnyView {
    match piece {
        Piece::Heading { level: 2, text } => view! { <h2 dir="auto">{inert(text)}</h2> }.into_any(),
        Piece::Heading { text, .. } => view! { <h3 dir="auto">{inert(text)}</h3> }.into_any(),
        Piece::Prose(text) => prose(text),
        Piece::Play(play) => match players.get(&play.id) {
            Some(player) => {
                let (play, player) = (Arc::new((**play).clone()), *player);
                view! { <PlayView play player/> }.into_any()
            }
            None => ().into_any(),
        },
        Piece::Check(check) => {
            let player = players.get(&check.of).copied();
            view! { <CheckView course check=check.clone() player/> }.into_any()
        }
        Piece::Question(question) => {
            view! { <QuestionView course question=question.clone()/> }.into_any()
        }
        Piece::Hint(text) => hint(text.clone()),
        Piece::Tokens(tokens) => token_strip(tokens),
        Piece::School(block) => {
            let checks = lesson.checks().filter(|check| check.of == block.id);
            let (block, checks) = (block.clone(), checks.cloned().collect());
            view! { <SchoolBlockView course block checks/> }.into_any()
        }
    }
}

pub(super) fn prose(text: &str) -> AnyView {
    prose_view(text, 0)
}

fn hint(text: String) -> AnyView {
    let is_open = RwSignal::new(false);
    view! {
        <div class="lesson-hint">
            <DisclosureButton is_open name="Hint"/>
            // On paper every hint is shown.
            <div class="lesson-hint-text" class:closed=move || !is_open.get()>
                {prose(&text)}
            </div>
        </div>
    }
    .into_any()
}

pub(super) fn token_strip(tokens: &[(bool, String)]) -> AnyView {
    let boxes = tokens.iter().map(|(counts, text)| {
        let name = if *counts {
            "learned: "
        } else {
            "not learned: "
        };
        view! {
            <li class=if *counts { "learned" } else { "" }>
                <span class="visually-hidden">{name}</span>
                {inert(text)}
            </li>
        }
    });
    view! {
        <figure class="lesson-tokens">
            <ol role="list">{boxes.collect_view()}</ol>
            <figcaption class="help">
                {"Marked: tokens that the model wrote and that training learns from (mask 1). The others have mask 0."}
            </figcaption>
        </figure>
    }
    .into_any()
}
