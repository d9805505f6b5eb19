//! Components for the checks and questions of a lesson.

use leptos::prelude::*;
use volary_lesson::{Check, Goal, Question};

use super::lesson_view::Course;
use super::player::EpisodePlayer;
use volary_ui::prose::prose_view;
use volary_ui::school_record::SchoolAchievements;
use volary_ui::text::inert;
use volary_ui::{Glyph, Icon};

/// A check, which observes the episode. Once met, it stays met.
#[component]
pub(super) fn CheckView(
    course: Course,
    check: Check,
    player: Option<EpisodePlayer>,
) -> impl IntoView {
    let number = check.number;
    let named = RwSignal::new(None);
    let goal = StoredValue::new(check.goal.clone());
    let achievements = SchoolAchievements::of_browser();
    let of = check.of.clone();
    Effect::new(move |_| {
        let is_achieved = goal.with_value(|goal| match goal {
            Goal::School(facts) => achievements.has(&course.key(), &of, facts),
            _ => false,
        });
        if is_achieved {
            course.meet(number);
        }
        let Some(player) = player else { return };
        let is_met = player
            .episode
            .with(|episode| goal.with_value(|goal| goal.is_met(episode, named.get())));
        if is_met {
            course.meet(number);
        }
    });
    let choice = matches!(check.goal, Goal::Step(_))
        .then(|| player.map(|player| view! { <StepChoice course number player named/> }));
    let afterwards = check.afterwards;
    view! {
        <section class="lesson-check" aria-label=format!("Check {number}") data-met=move || course.is_met(number).then_some("")>
            <CheckStatus course number text=check.text/>
            {choice}
            <Afterwards course number text=afterwards/>
        </section>
    }
}

/// A select for a step of an episode.
#[component]
fn StepChoice(
    course: Course,
    number: usize,
    player: EpisodePlayer,
    named: RwSignal<Option<usize>>,
) -> impl IntoView {
    let last = Memo::new(move |_| player.episode.with(|episode| episode.steps.len()));
    let buttons = move || {
        let steps = 1..=last.get();
        steps
            .map(|step| {
                view! {
                    <button
                        type="button"
                        class="small"
                        aria-pressed=move || (named.get() == Some(step)).to_string()
                        on:click=move |_| {
                            named.set(Some(step));
                            player.selected.set(step);
                        }
                    >
                        {format!("It is step {step}")}
                    </button>
                }
            })
            .collect_view()
    };
    let answer = move || match named.get() {
        Some(step) if !course.is_met(number) => {
            format!("Not step {step}. Read it again, and compare it with what was known before.")
        }
        _ => String::new(),
    };
    view! {
        <div class="button-row" role="group" aria-label="Choose the step">
            {buttons}
        </div>
        <p class="help" role="status">
            {answer}
        </p>
    }
}

/// The answers of a question. Choosing the right one meets it.
#[component]
pub(super) fn QuestionView(course: Course, question: Question) -> impl IntoView {
    let number = question.number;
    let chosen = RwSignal::new(None);
    let right = question.answers.iter().position(|(right, _)| *right);
    let answers = question.answers.into_iter().enumerate();
    let answers = answers.map(|(place, (_, text))| {
        let choose = move |_| {
            chosen.set(Some(place));
            if Some(place) == right {
                course.meet(number);
            }
        };
        view! {
            <li>
                <button
                    type="button"
                    class="lesson-answer"
                    aria-pressed=move || (chosen.get() == Some(place)).to_string()
                    on:click=choose
                >
                    {inert(&text)}
                </button>
            </li>
        }
    });
    let answer = move || match chosen.get() {
        Some(place) if Some(place) != right => "Not quite. Try another answer.",
        _ => "",
    };
    view! {
        <section class="lesson-check" aria-label=format!("Question {number}") data-met=move || course.is_met(number).then_some("")>
            <CheckStatus course number text=question.text/>
            <ul class="lesson-answers" role="list">
                {answers.collect_view()}
            </ul>
            <p class="help" role="status">
                {answer}
            </p>
            <Afterwards course number text=question.afterwards/>
        </section>
    }
}

/// The task of a check, and whether it is met.
#[component]
fn CheckStatus(course: Course, number: usize, text: String) -> impl IntoView {
    view! {
        <p class="lesson-goal">
            <Show when=move || course.is_met(number)>
                <Icon glyph=Glyph::Check/>
            </Show>
            <span dir="auto">{inert(&text)}</span>
            <span class="lesson-standing" role="status">
                {move || if course.is_met(number) { "Done" } else { "To do" }}
            </span>
        </p>
    }
}

/// The text shown after a check is met.
#[component]
fn Afterwards(course: Course, number: usize, text: String) -> impl IntoView {
    let text = StoredValue::new(text);
    let is_told = move || course.is_met(number) && !text.with_value(String::is_empty);
    view! {
        <Show when=is_told>
            {text.with_value(|text| prose_view(text, 0))}
        </Show>
    }
}
