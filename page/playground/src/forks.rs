//! The link from a forked episode to a comparison with its original.

use leptos::prelude::*;
use volary_episode::{Episode, Link, Relation};
use volary_view::route::{IN_PLAYGROUND, ReviewPlace, Route};

use super::state::use_playground;

/// Links to a comparison of the shown episode with the one that it was forked from: a trajectory in Review, or the
/// steps that were played here before.
#[component]
pub(super) fn CompareFork() -> impl IntoView {
    let playground = use_playground();
    let fork = Memo::new(move |_| {
        playground.edition().track();
        playground.episode().with(|episode| {
            if let Some(origin) = origin(episode) {
                return Some((origin.episode.clone(), "Compare with the original"));
            }
            // A fork without steps of its own is a prefix of the original, so there is no difference to show.
            let before = playground.with_untracked(|machine| machine.fork())?;
            let differs = before.step.is_none_or(|step| episode.steps.len() > step);
            differs.then_some((before.episode, "Compare with before"))
        })
    });
    move || {
        let (origin, name) = fork.get()?;
        let place = ReviewPlace {
            episode: Some(origin.to_string()),
            beside: vec![IN_PLAYGROUND.to_owned()],
            ..ReviewPlace::default()
        };
        Some(view! {
            <a class="button quiet" href=Route::Review(place).to_hash()>
                {name}
            </a>
        })
    }
}

fn origin(episode: &Episode) -> Option<&Link> {
    let mut links = episode.links.iter();
    links.find(|link| link.relation == Relation::Branch)
}
