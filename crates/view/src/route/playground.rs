//! Places of the playground: `#/run/…`.

use super::query::{decode, encode, parameters, with_query};

/// A place within the playground. Opening it restores the same episode, policy and selected step.
///
/// `episode`, `stored` and `task` are mutually exclusive; if a URL has several, the first of them wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaygroundPlace {
    /// The name of the environment; `None` is the first one that has tasks.
    pub environment: Option<String>,
    /// An episode to replay, encoded by `volary_episode::share`.
    pub episode: Option<String>,
    /// The id of an episode that is stored in this browser because it is too long for a URL.
    pub stored: Option<String>,
    /// The id of the environment's task to start; `None` is its first task.
    pub task: Option<String>,
    /// The URL of a file with Python code, for the environment `python`.
    pub url: Option<String>,
    /// The seed of the task.
    pub seed: Option<u64>,
    /// The policy in lower case; `None` is the user.
    pub policy: Option<String>,
    /// The selected step: 0 is the reset, `None` the last one.
    pub step: Option<usize>,
}

impl PlaygroundPlace {
    pub(super) fn read(environment: Option<&str>, query: &str) -> PlaygroundPlace {
        let mut place = PlaygroundPlace {
            environment: environment.map(decode),
            ..PlaygroundPlace::default()
        };
        for (key, value) in parameters(query) {
            match key {
                "e" => place.episode = Some(decode(value)),
                "id" => place.stored = Some(decode(value)),
                "task" => place.task = Some(decode(value)),
                "url" => place.url = Some(decode(value)),
                "seed" => place.seed = value.parse().ok(),
                "policy" => place.policy = Some(decode(value)),
                "step" => place.step = value.parse().ok(),
                _ => {}
            }
        }
        place
    }

    /// Returns whether the place is an environment in its default initial state.
    pub fn is_plain(&self) -> bool {
        self.episode.is_none()
            && self.stored.is_none()
            && self.task.is_none()
            && self.seed.is_none()
            && self.url.is_none()
    }

    /// Returns whether another place names the same episode, whatever its policy and selected step.
    pub fn has_episode_of(&self, other: &PlaygroundPlace) -> bool {
        let episode = |place: &PlaygroundPlace| PlaygroundPlace {
            policy: None,
            step: None,
            ..place.clone()
        };
        episode(self) == episode(other)
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        let path = match &self.environment {
            Some(environment) => format!("#/run/{}", encode(environment)),
            None => "#/".to_owned(),
        };
        let text = |key, text: &Option<String>| text.as_deref().map(|text| (key, encode(text)));
        let seed = self.seed.map(|seed| ("seed", seed.to_string()));
        let step = self.step.map(|step| ("step", step.to_string()));
        let policy = text("policy", &self.policy);
        let (task, stored) = (text("task", &self.task), text("id", &self.stored));
        with_query(
            path,
            [
                task,
                seed,
                stored,
                text("url", &self.url),
                policy,
                step,
                text("e", &self.episode),
            ],
        )
    }
}
