//! The list of built-in lessons.

use leptos::prelude::*;
use volary_lesson::catalog::{Entry, LESSONS};

use super::lesson_progress::LessonProgress;
use volary_ui::UnsavedNotice;
use volary_ui::school_record::SchoolAchievements;

#[component]
pub(super) fn LessonList(progress: LessonProgress) -> impl IntoView {
    let reset = move |_| {
        SchoolAchievements::of_browser().reset(None);
        progress.reset(None);
    };
    let rows = LESSONS.iter().map(|entry| row(entry, progress));
    view! {
        <div class="lesson">
            <h1>{"Learn"}</h1>
            <p>
                {"Seven short lessons on language agents. You read recorded episodes, act as the agent yourself, and train one. No key \
                 is needed, and nothing that you do is sent anywhere."}
            </p>
            <UnsavedNotice what="your progress" unsaved=LessonProgress::unsaved()/>
            <ol class="lesson-list" role="list">
                {rows.collect_view()}
            </ol>
            <p class="help">
                {"You can write lessons of your own: "} <a href="docs/lessons.md" target="_blank">
                    {"how"}
                </a> {". Open one by its address: "} <code>{"#/learn?url=…"}</code>
            </p>
            <p>
                {"See it happen: "} <a href="#/learn/school">{"a small agent learns in the page"}</a>
                {", by trial, error and reward, in less than a minute."}
            </p>
            <p>
                {"Do you teach a class? "} <a href="#/class">{"Give an assignment"}</a>
                {" that your pupils play and hand in."}
            </p>
            <p class="help">
                {"For a talk: each lesson can be presented as slides, and so can "} <a href="#/learn/present">
                    {"a sequence of your own episodes and tasks"}
                </a>
            </p>
            <div class="button-row">
                <button type="button" class="quiet" on:click=reset>
                    {"Reset all progress"}
                </button>
            </div>
        </div>
    }
}

fn row(entry: &'static Entry, progress: LessonProgress) -> impl IntoView {
    let standing = move || match progress.met(entry.id) {
        0 => format!("{} min", entry.minutes),
        met => format!(
            "{} min · {} of {} done",
            entry.minutes,
            met.min(entry.goals),
            entry.goals
        ),
    };
    let is_done = move || progress.met(entry.id) >= entry.goals;
    view! {
        <li class:lesson-done=is_done>
            <a href=format!("#/learn/{}", entry.id)>{entry.title}</a>
            <p>{entry.summary}</p>
            <p class="help">{standing}</p>
        </li>
    }
}
