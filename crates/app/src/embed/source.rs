//! What the embedded view is asked to show, as something that can be opened.

use volary_core::AnyMessage;
use volary_core::json::{Json, Text};
use volary_core::registry::Registry;
use volary_episode::{Recipe, share};

use super::message::{Load, TaskOfLoad};
use crate::playground::tasks::{self, TaskSource};

/// The maximum length of a recording, in bytes. All of it is held in memory several times.
pub const LARGEST: usize = 64 << 20;

/// Something that can be opened.
#[derive(Clone, Debug, PartialEq)]
pub enum EmbedSource {
    /// A recording, as the content of a file.
    File { name: String, text: Text },
    /// The part of a link after its `#`, for the page's router.
    Link { hash: String },
    /// An environment, and the actions that were taken.
    Replay {
        recipe: Recipe,
        actions: Vec<AnyMessage>,
    },
}

/// Why nothing can be shown. The texts are for the author of the surrounding page.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There is nothing to show, or more than one thing.
    #[error("A message \"load\" has exactly one of \"episode\", \"link\" and \"task\".")]
    NotOne,
    /// The link has no part after `#`.
    #[error("The link has no part after #. Copy it with Share in the playground.")]
    NoHash,
    /// The link leads to another part of Volary.
    #[error(
        "The link does not name an episode or a task. Links that Share makes do; of a recording, \
         send the file itself as \"episode\"."
    )]
    NotAnEpisode,
    /// The link is damaged.
    #[error(transparent)]
    Damaged(#[from] share::ShareError),
    /// The environment is not one of those that come with the page.
    #[error("There is no environment \"{name}\" that can be embedded. Available: {known}.")]
    NoEnvironment { name: Text, known: String },
    /// The environment has no such task.
    #[error("The environment {environment} has no task \"{id}\".")]
    NoTask { environment: Text, id: Text },
    /// A configuration is an object.
    #[error("\"configuration\" must be an object.")]
    NoConfiguration,
    /// The recording is too large.
    #[error("The episode has more than {} MB, which is too much for a frame.", LARGEST >> 20)]
    TooLarge,
}

impl EmbedSource {
    /// The source that a message names.
    pub fn of(
        load: &Load,
        registry: &Registry,
        sources: &[TaskSource],
    ) -> Result<EmbedSource, SourceError> {
        match load {
            Load {
                episode: Some(episode),
                link: None,
                task: None,
                name,
                ..
            } => file(name.as_deref(), episode),
            Load {
                episode: None,
                link: Some(link),
                task: None,
                ..
            } => match link.split_once('#') {
                Some((_, hash)) => Ok(EmbedSource::Link {
                    hash: format!("#{hash}"),
                }),
                None => Err(SourceError::NoHash),
            },
            Load {
                episode: None,
                link: None,
                task: Some(task),
                ..
            } => EmbedSource::of_task(task, registry, sources),
            _ => Err(SourceError::NotOne),
        }
    }

    /// A task from its start.
    pub fn of_task(
        task: &TaskOfLoad,
        registry: &Registry,
        sources: &[TaskSource],
    ) -> Result<EmbedSource, SourceError> {
        require(registry, &task.environment)?;
        let environment = Some(&*task.environment);
        let configuration = match &task.configuration {
            None => None,
            Some(Json::Object(configuration)) => Some(configuration.clone()),
            Some(_) => return Err(SourceError::NoConfiguration),
        };
        let place = match (&task.id, &configuration) {
            (Some(id), _) => {
                let found = tasks::find(sources, environment, id);
                Some(found.ok_or_else(|| SourceError::NoTask {
                    environment: task.environment.clone(),
                    id: id.clone(),
                })?)
            }
            (None, Some(_)) => None,
            (None, None) => tasks::first(sources, environment),
        };
        let named = place.and_then(|place| {
            let found = tasks::at(sources, place)?;
            Some(tasks::recipe(sources.get(place.source)?, found, task.seed))
        });
        Ok(EmbedSource::Replay {
            recipe: named.unwrap_or_else(|| Recipe {
                environment: task.environment.clone(),
                configuration: configuration.unwrap_or_default(),
                seed: task.seed,
                task: None,
            }),
            actions: Vec::new(),
        })
    }

    /// The episode that is packed in a link.
    pub fn of_packed(text: &str, registry: &Registry) -> Result<EmbedSource, SourceError> {
        let share::Shared { recipe, actions } = share::decode(text)?;
        require(registry, &recipe.environment)?;
        Ok(EmbedSource::Replay { recipe, actions })
    }
}

fn file(name: Option<&str>, episode: &Json) -> Result<EmbedSource, SourceError> {
    let text = match episode {
        Json::Text(text) => text.clone(),
        value => value.to_python_text().into(),
    };
    if text.len() > LARGEST {
        return Err(SourceError::TooLarge);
    }
    Ok(EmbedSource::File {
        name: name.unwrap_or("episode.json").to_owned(),
        text,
    })
}

/// Requires an environment that comes with the page: no server, no code of the user, no data that a browser stores.
fn require(registry: &Registry, name: &Text) -> Result<(), SourceError> {
    let mut environments = registry.environments.iter();
    if environments.any(|entry| *entry.name == **name) {
        return Ok(());
    }
    let known: Vec<&str> = registry.available().collect();
    Err(SourceError::NoEnvironment {
        name: name.clone(),
        known: known.join(", "),
    })
}
