//! A task on the page of the school: what it is, and the way there.

use leptos::prelude::*;
use volary_app::school::{SchoolGoal, SchoolTask};
use volary_browser::location;
use volary_lesson::{Check, Goal, SchoolBlock};
use volary_ui::school_record::SchoolAchievements;
use volary_ui::text::inert;

use super::lesson_view::Course;

/// The id of the element of a block.
pub(super) fn element_id(block: &str) -> String {
    format!("lesson-school-{block}")
}

/// The button that opens the page of the school with the task's settings. What is achieved there is reported back.
#[component]
pub(super) fn SchoolBlockView(
    course: Course,
    block: SchoolBlock,
    /// The checks of this task.
    checks: Vec<Check>,
) -> impl IntoView {
    let block_id = block.id.clone();
    let address = block.address();
    let heading = block.heading().to_owned();
    let title = heading.clone();
    let open = move |_| {
        let goals = checks.iter().filter_map(|check| match &check.goal {
            Goal::School(facts) => Some(SchoolGoal {
                text: check.text.clone(),
                facts: facts.clone(),
            }),
            _ => None,
        });
        SchoolAchievements::of_browser().open(SchoolTask {
            lesson: course.key(),
            block: block.id.clone(),
            title: title.clone(),
            settings: block.settings.clone(),
            back: location::hash(),
            goals: goals.collect(),
        });
    };
    let printed = location::address_with(&address);
    view! {
        <section class="lesson-school" id=element_id(&block_id) aria-label=heading.clone()>
            <h3 dir="auto">{inert(&heading)}</h3>
            <p class="help">{"A small agent that is trained in this page. You come back to this place."}</p>
            <a class="button primary" href=address on:click=open>
                {"Open the school"}
            </a>
            <p class="print-only">{printed}</p>
        </section>
    }
}
