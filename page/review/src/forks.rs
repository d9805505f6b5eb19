//! The forks of the open episode: its original and the other continuations, with a link to a comparison with each.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_analysis::table::forks::{Kinship, Relative, family, origin};
use volary_core::quantity::plural;
use volary_view::route::{ReviewPlace, Route};
use volary_view::summary::reward_text;

use super::viewer::Viewer;
use volary_library_client::LibraryClient;
use volary_ui::text::inert;

/// The list; empty for an episode that has no original and no forks.
#[component]
pub(super) fn Forks(client: LibraryClient, viewer: Viewer) -> impl IntoView {
    let episode = viewer.shown.episode;
    let relatives = Memo::new(move |_| {
        episode.with(|episode| {
            let own = origin(episode);
            client
                .rows
                .with(|rows| Arc::new(family(rows, &episode.id, own.as_ref())))
        })
    });
    let count = move || relatives.with(|relatives| relatives.len());
    let list = move || {
        let id = episode.with(|episode| episode.id.to_string());
        relatives.with(|relatives| {
            let items = relatives.iter().map(|relative| item(&id, relative));
            items.collect_view()
        })
    };
    view! {
        <Show when=move || relatives.with(|relatives| !relatives.is_empty())>
            <details class="forks">
                <summary>{move || plural(count(), "fork")}</summary>
                <ul aria-label="Forks">{list}</ul>
            </details>
        </Show>
    }
}

fn item(id: &str, relative: &Relative) -> AnyView {
    let Relative { row, kinship } = relative;
    let address = |beside: Option<&str>| {
        let place = ReviewPlace {
            episode: Some(beside.map_or_else(|| row.id.to_string(), str::to_owned)),
            beside: beside.iter().map(|_| row.id.to_string()).collect(),
            ..ReviewPlace::default()
        };
        Route::Review(place).to_hash()
    };
    let name = match row.name.trim() {
        "" => &*row.id,
        name => name,
    };
    let facts = facts(row, *kinship);
    let label = format!("Compare with {name}");
    view! {
        <li>
            <a href=address(None) dir="auto">
                {inert(name)}
            </a>
            <span class="faint">{facts}</span>
            <a class="button small" href=address(Some(id)) aria-label=label>
                {"Compare"}
            </a>
        </li>
    }
    .into_any()
}

fn facts(row: &Row, kinship: Kinship) -> String {
    let reward = row
        .reward
        .map(|reward| format!(", reward {}", reward_text(reward)));
    format!(
        "{}, {}{}",
        kinship_words(kinship),
        plural(row.steps, "step"),
        reward.unwrap_or_default()
    )
}

fn kinship_words(kinship: Kinship) -> String {
    match kinship {
        Kinship::Origin(Some(step)) => format!("forked from it after step {step}"),
        Kinship::Origin(None) => "forked from it".to_owned(),
        Kinship::Fork(Some(step)) => format!("forked after step {step}"),
        Kinship::Fork(None) => "forked".to_owned(),
        Kinship::Sibling => "of the same origin".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_says_how_it_is_related() {
        let row = Row {
            steps: 1,
            reward: Some(0.5),
            ..Row::default()
        };
        for (kinship, expected) in [
            (
                Kinship::Origin(Some(3)),
                "forked from it after step 3, 1 step, reward 0.5",
            ),
            (Kinship::Origin(None), "forked from it, 1 step, reward 0.5"),
            (
                Kinship::Fork(Some(0)),
                "forked after step 0, 1 step, reward 0.5",
            ),
            (Kinship::Fork(None), "forked, 1 step, reward 0.5"),
            (Kinship::Sibling, "of the same origin, 1 step, reward 0.5"),
        ] {
            assert_eq!(facts(&row, kinship), expected);
        }
        let unknown = facts(&Row::default(), Kinship::Sibling);
        assert_eq!(unknown, "of the same origin, 0 steps");
    }
}
