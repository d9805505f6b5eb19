//! Opens an episode or a task that is not part of a lesson: that of a link, of a message, or of a file.

use leptos::prelude::*;
use volary_app::embed::content::OpenedKind;
use volary_app::embed::message::{Load, TaskOfLoad};
use volary_app::embed::source::{EmbedSource, SourceError};
use volary_app::playground::tasks::TaskSource;
use volary_core::registry::Registry;
use volary_protocol::library::NamedFile;
use volary_view::route::{PlaygroundPlace, Route};

use super::player::EpisodePlayer;
use volary_playground::first_episode;
use volary_playground::state::Playground;

/// Opens what a message asks for. Resolves when it is shown, or with the reason why it cannot be. A file takes a while to
/// read: it is shown only if `is_wanted` then.
pub(crate) async fn open(
    playground: Playground,
    player: EpisodePlayer,
    load: &Load,
    is_wanted: impl Fn() -> bool,
) -> Result<OpenedKind, String> {
    let source = playground.registry().with_value(|registry| {
        let lists = playground.setup().sources;
        lists.with_untracked(|lists| source_of(load, registry, lists))
    });
    match source.map_err(|error| error.to_string())? {
        EmbedSource::File { name, text } => {
            let bytes = text.as_bytes().to_vec();
            let worker = first_episode::worker()?;
            let episode = first_episode::read(&worker, vec![NamedFile { name, bytes }])
                .await
                .map_err(|error| error.to_string())?
                .episode;
            if !is_wanted() {
                return Err("Something else was opened.".to_owned());
            }
            player.show(episode);
            Ok(OpenedKind::Recording)
        }
        EmbedSource::Replay { recipe, actions } => {
            let opened = if actions.is_empty() {
                OpenedKind::Task
            } else {
                OpenedKind::Replayed
            };
            let name = match &recipe.task {
                Some(task) => format!("{} · {}", recipe.environment, task.id),
                None => recipe.environment.to_string(),
            };
            player.open(recipe, actions, name.into()).await;
            match player.problem.try_get_untracked().flatten() {
                Some(problem) => Err(problem),
                None => Ok(opened),
            }
        }
        EmbedSource::Link { .. } => Err(SourceError::NotAnEpisode.to_string()),
    }
}

/// The source that a message names, with links resolved.
fn source_of(
    load: &Load,
    registry: &Registry,
    lists: &[TaskSource],
) -> Result<EmbedSource, SourceError> {
    let hash = match EmbedSource::of(load, registry, lists)? {
        EmbedSource::Link { hash } => hash,
        source => return Ok(source),
    };
    match linked(&hash) {
        Some(Linked::Packed(text)) => EmbedSource::of_packed(&text, registry),
        Some(Linked::Task(task)) => EmbedSource::of_task(&task, registry, lists),
        None => Err(SourceError::NotAnEpisode),
    }
}

/// The target of a shared link.
#[derive(Debug, PartialEq)]
enum Linked {
    Task(TaskOfLoad),
    /// An episode, encoded by `volary_episode::share`.
    Packed(String),
}

/// What a hash leads to; `None` if that is stored in a browser, code in a file, or another page.
fn linked(hash: &str) -> Option<Linked> {
    match Route::parse(hash) {
        Route::Playground(PlaygroundPlace {
            episode: Some(text),
            ..
        }) => Some(Linked::Packed(text)),
        Route::Playground(PlaygroundPlace {
            environment: Some(environment),
            stored: None,
            url: None,
            task,
            seed,
            ..
        }) => Some(Linked::Task(TaskOfLoad {
            environment: environment.into(),
            id: task.map(Into::into),
            configuration: None,
            seed: seed.unwrap_or_default(),
        })),
        _ => None,
    }
}

/// The step that a hash selects.
pub(crate) fn linked_step(hash: &str) -> Option<usize> {
    match Route::parse(hash) {
        Route::Playground(place) => place.step,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_episodes_and_tasks_of_the_page() {
        assert_eq!(
            linked("#/run/counter?step=2&e=1ab"),
            Some(Linked::Packed("1ab".into()))
        );
        assert_eq!(
            linked("#/run/calculator?task=easy-02&seed=7"),
            Some(Linked::Task(TaskOfLoad {
                environment: "calculator".into(),
                id: Some("easy-02".into()),
                configuration: None,
                seed: 7,
            }))
        );
        for elsewhere in [
            "#/",
            "#/run/counter?id=stored",
            "#/run/python?url=https%3A%2F%2Fa.example%2Fa.py",
            "#/review?url=a.json",
            "#/settings",
        ] {
            assert_eq!(linked(elsewhere), None, "{elsewhere}");
        }
        assert_eq!(linked_step("#/run/counter?step=2&e=1ab"), Some(2));
    }
}
