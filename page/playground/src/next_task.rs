//! The controls after the end of an episode: the next task of the list, and the second run of a Python episode.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::tasks::{self, TaskPlace};

use super::second_run::SecondRun;
use super::state::use_playground;
use volary_ui::later::LaterView;

/// Slot for [`NextTask`] and [`SecondRun`]. It is empty until the lazily loaded code is installed; no episode ends
/// before that.
pub(super) static NEXT_TASK: LaterView = LaterView::new();

pub(super) fn install() {
    NEXT_TASK.set(|| {
        view! {
            <NextTask/>
            <SecondRun/>
        }
        .into_any()
    });
}

/// Offers the next task. Renders nothing while the episode is in progress or after the last task.
#[component]
fn NextTask() -> impl IntoView {
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
    move || {
        let (place, title) = next.get()?;
        Some(view! {
            <aside class="next-task" aria-label="Next task">
                <p dir="auto">{title}</p>
                <button
                    type="button"
                    class="primary"
                    on:click=move |_| playground.update(Event::PickTask(Some(place)))
                >
                    {"Next task"}
                </button>
            </aside>
        })
    }
}
