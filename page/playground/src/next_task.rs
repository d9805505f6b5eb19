//! The next task of the list, after the end of an episode.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::tasks::{self, TaskPlace};

use super::state::use_playground;
use super::welcome;

/// Offers the next task. Renders nothing while the episode is in progress or after the last task.
#[component]
pub(super) fn NextTask() -> impl IntoView {
    let playground = use_playground();
    let is_over = Memo::new(move |_| playground.episode().with(|episode| episode.is_over()));
    let next = Memo::new(move |_| {
        let place = playground.setup().task.get().filter(|_| is_over.get())?;
        let next = TaskPlace {
            task: place.task + 1,
            ..place
        };
        let sources = playground.setup().sources.read();
        Some((next, tasks::at(&sources, next)?.title.to_string()))
    });
    let rank = move || {
        if welcome::leads(playground) {
            ""
        } else {
            "primary"
        }
    };
    move || {
        let (place, title) = next.get()?;
        Some(view! {
            <aside class="next-task" aria-label="Next task">
                <p dir="auto">{title}</p>
                <button
                    type="button"
                    class=rank
                    on:click=move |_| playground.update(Event::PickTask(Some(place)))
                >
                    {"Next task"}
                </button>
            </aside>
        })
    }
}
