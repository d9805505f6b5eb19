//! The task of the lesson that led here: its goals, and the way back.

use leptos::prelude::*;
use volary_ui::school_record::SchoolAchievements;
use volary_ui::text::inert;
use volary_ui::{Glyph, Icon};

#[component]
pub(super) fn TaskView() -> impl IntoView {
    let achievements = SchoolAchievements::of_browser();
    let task = Memo::new(move |_| achievements.task());
    move || {
        task.get().map(|task| {
            // The record is a text that anything of this origin may have written.
            let back = if task.back.starts_with('#') {
                task.back
            } else {
                "#/learn".to_owned()
            };
            let goals = task.goals.into_iter().map(|goal| {
                let text = goal.text.clone();
                let is_reached = Memo::new(move |_| achievements.is_reached(&goal));
                view! {
                    <li>
                        <span aria-hidden="true">
                            <Show when=move || is_reached.get() fallback=|| "○">
                                <Icon glyph=Glyph::Check/>
                            </Show>
                        </span>
                        <span dir="auto">{inert(&text)}</span>
                        <span class="lesson-standing" role="status">
                            {move || if is_reached.get() { "Done" } else { "To do" }}
                        </span>
                    </li>
                }
            });
            view! {
                <section class="school-task" aria-label="Task of the lesson">
                    <h2 dir="auto">{inert(&task.title)}</h2>
                    <ul role="list">{goals.collect_view()}</ul>
                    <div class="button-row">
                        <a class="button" href=back>
                            {"Back to the lesson"}
                        </a>
                        <button type="button" class="quiet" on:click=move |_| achievements.close()>
                            {"Hide the task"}
                        </button>
                    </div>
                </section>
            }
        })
    }
}
