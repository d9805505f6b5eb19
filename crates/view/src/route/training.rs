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
    /// How its pages are looked at.
    pub look: TrainingLook,
}

/// How the pages of a run are looked at: choices that stay while a reader goes from place to place. `None` is the default.
/// The pages know the values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainingLook {
    /// The order of the groups of a step.
    pub tiles: Option<String>,
    /// The order of samples on the axis of time.
    pub lanes: Option<String>,
    /// The kind of spans that is drawn.
    pub spans: Option<String>,
    /// The ending of the samples that are drawn.
    pub ending: Option<String>,
    /// The reward from which a sample counts as solved.
    pub solved: Option<String>,
    /// `open` if the table of tasks is unfolded.
    pub tasks: Option<String>,
}

impl TrainingLook {
    /// The parameters with their values.
    fn parameters(&mut self) -> [(&'static str, &mut Option<String>); 6] {
        [
            ("tiles", &mut self.tiles),
            ("lanes", &mut self.lanes),
            ("spans", &mut self.spans),
            ("ending", &mut self.ending),
            ("solved", &mut self.solved),
            ("tasks", &mut self.tasks),
        ]
    }

    /// These choices, with those of another look where there are none.
    pub fn or(mut self, mut other: TrainingLook) -> TrainingLook {
        for ((_, own), (_, other)) in self.parameters().into_iter().zip(other.parameters()) {
            *own = own.take().or(other.take());
        }
        self
    }
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
                _ => {
                    let known = place.look.parameters().into_iter();
                    if let Some((_, choice)) = { known }.find(|(name, _)| *name == key) {
                        *choice = Some(decode(value));
                    }
                }
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
        let mut look = self.look.clone();
        let choices = look.parameters();
        let choices = choices.map(|(key, choice)| (key, text(choice)));
        for (key, value) in pairs.into_iter().chain(choices) {
            if let Some(value) = value {
                push_parameter(&mut query, key, &value);
            }
        }
        query
    }

    /// The place alone: without how it is looked at, and without the part of its time, as other places have other times.
    pub fn without_look(self) -> TrainingPlace {
        TrainingPlace {
            time: None,
            look: TrainingLook::default(),
            ..self
        }
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
