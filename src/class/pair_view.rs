//! Two trajectories that an address names, to be judged without knowing who acted.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Json;
use volary_trajectory::{Episode, native};

use super::blind_view::{Blind, BlindView, Entrant};
use crate::browser::{self, location};
use crate::components::AlertBox;
use crate::playground::state::{Playground, use_playground};
use crate::projection::notice::Notice;
use crate::route::{IN_PLAYGROUND, ReviewPlace, Route};
use crate::storage::episodes;

#[component]
pub(super) fn PairView(left: String, right: String) -> impl IntoView {
    let playground = use_playground();
    let blind = RwSignal::new(None);
    let problem = RwSignal::new(None);
    let comparison = Route::Review(ReviewPlace {
        episode: Some(left.clone()),
        beside: vec![right.clone()],
        ..ReviewPlace::default()
    });
    let comparison = comparison.to_hash();
    let on_end = Callback::new(move |()| location::go(&comparison));
    browser::spawn(async move {
        // The page may be left meanwhile.
        match load(playground, &left, &right).await {
            Ok(loaded) => drop(blind.try_set(Some(loaded))),
            Err(notice) => drop(problem.try_set(Some(notice))),
        }
    });
    view! {
        <section class="class-board" aria-label="Two trajectories">
            <AlertBox notice=problem/>
            {move || {
                let blind = blind.get()?;
                Some(view! { <BlindView blind on_end back="Back to the comparison"/> })
            }}
        </section>
    }
}

async fn load(playground: Playground, left: &str, right: &str) -> Result<Blind, Notice> {
    let mut entrants = Vec::new();
    let mut title = String::new();
    for id in [left, right] {
        let Some(episode) = episode(playground, id).await else {
            return Err(Notice::new(
                "The trajectories cannot be judged.",
                "One of them is not in this browser's library.",
                "Open the comparison again.",
            ));
        };
        if let Some(recipe) = &episode.recipe {
            let task = recipe.task.as_ref().map(|task| &task.id);
            title = task.unwrap_or(&recipe.environment).to_string();
        }
        entrants.push(Entrant {
            name: name_of(&episode),
            episode,
        });
    }
    Ok(Blind::of(title, entrants))
}

async fn episode(playground: Playground, id: &str) -> Option<Arc<Episode>> {
    if id == IN_PLAYGROUND {
        return Some(playground.episode.get_untracked());
    }
    let text = episodes::text(id).await.ok().flatten()?;
    let reading = native::read(&text.to_text()).ok()?;
    reading.episodes.into_iter().next().map(Arc::new)
}

/// Who acted: a pupil, a model, or the policy of the playground.
fn name_of(episode: &Episode) -> String {
    let pupil = episode.metadata.get("pupil").and_then(Json::as_text);
    match pupil.or(episode.model.as_ref()).or(episode.policy.as_ref()) {
        Some(name) if **name == *"manual" => "A person".to_owned(),
        Some(name) => name.to_string(),
        None => "A person".to_owned(),
    }
}
