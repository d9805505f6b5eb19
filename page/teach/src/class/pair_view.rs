//! Two trajectories that an address names, to be judged without knowing who acted.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_core::json::Json;
use volary_episode::{Episode, native};
use volary_view::route::{IN_PLAYGROUND, ReviewPlace, Route};

use super::blind_view::{Blind, BlindView, Entrant};
use volary_browser::{self as browser, location};
use volary_playground::state::{Playground, use_playground};
use volary_storage::episodes;
use volary_ui::AlertBox;

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
        if let Some(name) = task_of(&episode) {
            title = name;
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
        return Some(playground.episode().get_untracked());
    }
    let text = episodes::text(id).await.ok().flatten()?;
    let reading = native::read(&text.to_text()).ok()?;
    reading.episodes.into_iter().next().map(Arc::new)
}

/// The name of a task: its id, otherwise its environment.
fn task_of(episode: &Episode) -> Option<String> {
    let recipe = episode.recipe.as_ref()?;
    let task = recipe.task.as_ref().map(|task| &task.id);
    Some(task.unwrap_or(&recipe.environment).to_string())
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

#[cfg(test)]
mod tests {
    use volary_episode::{Recipe, TaskReference};

    use super::*;

    #[test]
    fn the_actor_is_a_pupil_a_model_or_a_policy() {
        let episode = |pupil: Option<&str>, model: Option<&str>, policy: Option<&str>| {
            let mut episode = Episode {
                model: model.map(Into::into),
                policy: policy.map(Into::into),
                ..Episode::default()
            };
            if let Some(pupil) = pupil {
                episode.metadata.insert("pupil", pupil);
            }
            episode
        };
        for (pupil, model, policy, name) in [
            (Some("Ada"), Some("large"), Some("manual"), "Ada"),
            (None, Some("large"), Some("mine"), "large"),
            (None, None, Some("random"), "random"),
            (None, None, Some("manual"), "A person"),
            (None, None, None, "A person"),
        ] {
            assert_eq!(name_of(&episode(pupil, model, policy)), name);
        }
    }

    #[test]
    fn a_pair_is_named_by_its_task() {
        let mut episode = Episode::default();
        assert_eq!(task_of(&episode), None);
        let recipe = |task| Recipe {
            environment: "calculator".into(),
            task,
            ..Recipe::default()
        };
        episode.recipe = Some(recipe(None));
        assert_eq!(task_of(&episode).as_deref(), Some("calculator"));
        episode.recipe = Some(recipe(Some(TaskReference {
            dataset: "sums".into(),
            id: "easy-02".into(),
        })));
        assert_eq!(task_of(&episode).as_deref(), Some("easy-02"));
    }
}
