//! The bar that steps through the unsuccessful episodes of the evaluation in the address: previous, next, and back to
//! the evaluation.

use leptos::prelude::*;
use volary_agent::evaluation::episode_id;
use volary_app::evaluation::tasks::unsuccessful;
use volary_core::quantity::count_text;
use volary_view::route::{ReviewPlace, Route};

use volary_browser as browser;
use volary_storage::evaluations as kept;
use volary_ui::text::inert;

/// An evaluation with the ids of its unsuccessful episodes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Failures {
    name: String,
    episodes: Vec<String>,
}

impl Failures {
    /// The index of an episode and its neighbours.
    fn around(&self, episode: &str) -> Option<(usize, Option<&String>, Option<&String>)> {
        let place = self.episodes.iter().position(|known| known == episode)?;
        let before = place
            .checked_sub(1)
            .and_then(|place| self.episodes.get(place));
        Some((place, before, self.episodes.get(place + 1)))
    }
}

/// The bar; empty if the address names no evaluation.
#[component]
pub(super) fn EvaluationBar(
    /// The current place.
    place: Memo<ReviewPlace>,
) -> impl IntoView {
    let evaluation = Memo::new(move |_| place.with(|place| place.evaluation.clone()));
    let failures = RwSignal::new(Failures::default());
    Effect::new(move |_| {
        let wanted = evaluation.get();
        // Those of the former evaluation are not shown under the address of this one.
        failures.set(Failures::default());
        let Some(id) = wanted else {
            return;
        };
        browser::spawn(async move {
            // If it cannot be loaded there is nothing to step through; only the episode is shown.
            let (Ok(Some(loaded)), Ok(own)) =
                (kept::load(&id).await, kept::own_episodes(&id).await)
            else {
                return;
            };
            let cells = unsuccessful(&loaded.plan, &loaded.results).into_iter();
            let episodes = cells.map(|cell| episode_id(&id, cell).to_string());
            let found = Failures {
                name: loaded.head.name.to_string(),
                episodes: episodes.filter(|episode| own.contains(episode)).collect(),
            };
            if evaluation.try_get_untracked().flatten() == Some(id) {
                failures.set(found);
            }
        });
    });
    let around = Memo::new(move |_| {
        let episode = place.with(|place| place.episode.clone())?;
        failures.with(|failures| {
            let (at, before, after) = failures.around(&episode)?;
            Some((at, before.cloned(), after.cloned()))
        })
    });
    let name = move || failures.with(|failures| failures.name.clone());
    let back = move || {
        let route = Route::Evaluate {
            evaluation: evaluation.get(),
            beside: None,
        };
        route.to_hash()
    };
    let words = move || {
        let (at, ..) = around.get()?;
        let count = failures.with(|failures| failures.episodes.len());
        Some(format!(
            "Failure {} of {}",
            count_text(at + 1),
            count_text(count)
        ))
    };
    let before = Signal::derive(move || around.get().and_then(|(_, before, _)| before));
    let after = Signal::derive(move || around.get().and_then(|(_, _, after)| after));
    // Rendered once, so that the buttons keep the focus and one key moves from failure to failure.
    view! {
        <Show when=move || evaluation.with(Option::is_some)>
            <nav class="failure-bar" aria-label="Failures of the evaluation">
                <a href=back>
                    <span dir="auto">{move || inert(&name())}</span>
                </a>
                <span role="status" aria-label="Failure">
                    {words}
                </span>
                <StepButton words="Previous" evaluation episode=before/>
                <StepButton words="Next" evaluation episode=after/>
            </nav>
        </Show>
    }
}

/// A link to another episode at its last step, where it failed.
#[component]
fn StepButton(
    words: &'static str,
    evaluation: Memo<Option<String>>,
    /// The target episode; `None` at the end of the list.
    episode: Signal<Option<String>>,
) -> impl IntoView {
    let go = move |_| {
        if let Some(episode) = episode.get_untracked() {
            let route = Route::Review(ReviewPlace {
                episode: Some(episode),
                step: Some(usize::MAX),
                evaluation: evaluation.get_untracked(),
                ..ReviewPlace::default()
            });
            browser::location::go(&route.to_hash());
        }
    };
    view! {
        <button
            type="button"
            class="small"
            aria-label=format!("{words} failure of the evaluation")
            aria-disabled=move || episode.with(Option::is_none).to_string()
            on:click=go
        >
            {words}
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_neighbours() {
        let failures = Failures {
            name: String::new(),
            episodes: ["a", "b", "c"].map(str::to_owned).into(),
        };
        let around = |id| {
            let (place, before, after) = failures.around(id)?;
            Some((place, before.map(String::as_str), after.map(String::as_str)))
        };
        assert_eq!(around("a"), Some((0, None, Some("b"))));
        assert_eq!(around("b"), Some((1, Some("a"), Some("c"))));
        assert_eq!(around("c"), Some((2, Some("b"), None)));
        assert_eq!(around("d"), None);
    }
}
