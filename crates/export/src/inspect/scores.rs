//! The scores of an episode as the scores of a sample.

use volary_core::json::{Json, Key, Object};
use volary_core::{json, object};
use volary_episode::episode::{Episode, Score};

use crate::parts::put;
use volary_analysis::scores::numeric;

/// The scores. Inspect shows the first one with a value. If that is not the reward of the episode, the reward is
/// inserted before it.
pub(super) fn scores(episode: &Episode) -> Object {
    let mut pairs: Vec<(Key, Json)> = Vec::new();
    for Score {
        name,
        value,
        explanation,
        extras,
    } in &episode.scores
    {
        let mut score = object!({"value": (score_value(value))});
        put(&mut score, "explanation", explanation.clone());
        put(
            &mut score,
            "answer",
            extras
                .get("answer")
                .filter(|answer| answer.as_text().is_some())
                .cloned(),
        );
        put(
            &mut score,
            "metadata",
            extras
                .get("metadata")
                .filter(|it| it.as_object().is_some())
                .cloned(),
        );
        pairs.push((name.to_string().into(), score.into()));
    }
    if let Some(reward) = episode.reward() {
        let first = episode
            .scores
            .iter()
            .find_map(|score| numeric(&score.value));
        if first != Some(reward) {
            // Another score may have that name already.
            let is_taken = |name: &str| pairs.iter().any(|(known, _)| known.as_ref() == name);
            let names = ["reward", "total_reward", "volary_reward"];
            let name = names.into_iter().find(|name| !is_taken(name));
            if let Some(name) = name {
                pairs.insert(0, (name.into(), json!({ "value": reward })));
            }
        }
    }
    Object::from_pairs(pairs)
}

/// Values are numbers, texts, booleans, and lists and objects of these; other values are converted to text.
fn score_value(value: &Json) -> Json {
    let simple = |value: &Json| match value {
        Json::Null => Some("".into()),
        Json::Float(number) if !number.is_finite() => Some(value.to_python_text().into()),
        Json::Text(_) | Json::Bool(_) | Json::Integer(_) | Json::Float(_) => Some(value.clone()),
        Json::List(_) | Json::Object(_) => None,
    };
    let several = |value: &Json| match value {
        Json::List(list) => list
            .iter()
            .map(simple)
            .collect::<Option<Vec<_>>>()
            .map(Json::List),
        Json::Object(object) => {
            let pairs = object
                .iter()
                .map(|(key, value)| Some((key.clone(), simple(value)?)));
            let pairs = pairs.collect::<Option<Vec<_>>>()?;
            Some(Object::from_distinct(pairs).into())
        }
        _ => None,
    };
    simple(value)
        .or_else(|| several(value))
        .unwrap_or_else(|| value.to_python_text().into())
}
