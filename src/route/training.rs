//! Places within a training run of Review: the parameters from `run` on.

use super::ReviewPlace;
use super::query::{decode, encode, parameters, push_parameter};

/// A place in a training run: the run, one of its steps, or a group of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainingPlace {
    /// The id of the run; empty for the first one.
    pub run: String,
    pub step: Option<i64>,
    /// The key of a group of that step.
    pub group: Option<String>,
    /// The name of the reward that counts; empty is the one that the file marks, `None` the default.
    pub reward: Option<String>,
    /// The id of a run to compare with.
    pub with: Option<String>,
    /// The part of the time of a step or a group that is shown, as its axis reads it.
    pub time: Option<String>,
}

impl TrainingPlace {
    /// Parses [`ReviewPlace::training`]; `None` if it names no run.
    pub fn read(query: &str) -> Option<TrainingPlace> {
        let mut place = TrainingPlace::default();
        for (key, value) in parameters(query) {
            match key {
                "run" => place.run = decode(value),
                "step" => place.step = value.parse().ok(),
                "group" => place.group = Some(decode(value)),
                "reward" => place.reward = Some(decode(value)),
                "with" => place.with = Some(decode(value)),
                "time" => place.time = Some(decode(value)),
                _ => {}
            }
        }
        (!query.is_empty()).then_some(place)
    }

    /// The text for [`ReviewPlace::training`].
    pub fn to_query(&self) -> String {
        let mut query = format!("run={}", encode(&self.run));
        let step = self.step.map(|step| step.to_string());
        let text = |text: &Option<String>| text.as_deref().map(encode);
        let pairs = [
            ("step", step),
            ("group", text(&self.group)),
            ("reward", text(&self.reward)),
            ("with", text(&self.with)),
            ("time", text(&self.time)),
        ];
        for (key, value) in pairs {
            if let Some(value) = value {
                push_parameter(&mut query, key, &value);
            }
        }
        query
    }

    /// The hash of this place, including its `#`.
    pub fn to_hash(&self) -> String {
        let place = ReviewPlace {
            training: self.to_query(),
            ..ReviewPlace::default()
        };
        place.to_hash()
    }

    /// The hash of an episode that is opened from here, beside others.
    pub fn episode_hash(&self, episode: &str, beside: &[&str]) -> String {
        let place = ReviewPlace {
            episode: Some(episode.to_owned()),
            beside: beside.iter().map(|id| (*id).to_owned()).collect(),
            training: self.to_query(),
            ..ReviewPlace::default()
        };
        place.to_hash()
    }
}
