//! The way back from an episode to its group, step and run, and to its neighbours in the group. Empty unless the episode
//! was opened from a training run.

use leptos::prelude::*;
use volary_core::quantity::count_text;
use volary_view::route::ReviewPlace;

use super::{Training, opened};
use volary_ui::text::inert;

#[component]
pub(crate) fn Trail(
    training: Training,
    /// The current place.
    place: Memo<ReviewPlace>,
) -> impl IntoView {
    let trail = Memo::new(move |_| {
        let here = training.place.get()?;
        let shown = training.shown.get()?;
        place.with(|place| {
            let episode = place.episode.as_ref()?;
            Some(shown.trail(&here, &opened(episode, place)))
        })
    });
    let bar = move || {
        let trail = trail.get()?;
        let links = trail.links.into_iter().map(|(href, name)| {
            view! {
                <a href=href dir="auto">
                    {inert(&name)}
                </a>
                <span aria-hidden="true">{"›"}</span>
            }
        });
        let here = trail.here.map(|(name, at, count)| {
            view! {
                <span aria-current="page" dir="auto">
                    <strong>{inert(&name)}</strong>
                </span>
                <span class="faint">
                    {format!("{} of {}", count_text(at + 1), count_text(count))}
                </span>
            }
        });
        let step = |href: Option<String>, words: &'static str| {
            href.map(|href| {
                view! {
                    <a class="button quiet small" href=href>
                        {words}
                    </a>
                }
            })
        };
        Some(view! {
            <nav class="failure-bar training-trail" aria-label="Training run">
                {links.collect_view()}
                {here}
                {trail.reward.map(|reward| view! { <span dir="auto">{inert(&reward)}</span> })}
                {step(trail.before, "Previous sample")}
                {step(trail.after, "Next sample")}
            </nav>
        })
    };
    view! { {bar} }
}
