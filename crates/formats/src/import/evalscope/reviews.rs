//! Joins the reviews of a run with its predictions: `reviews/MODEL/DATASET.jsonl` and `predictions/MODEL/DATASET.jsonl` describe the
//! same samples, which would count twice.
//!
//! Invariant: only a prediction and a review with the same index and the same messages are joined.

use std::collections::{HashMap, HashSet};

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, ToolCall};
use volary_episode::episode::{Episode, Rewards};

use super::EVALSCOPE;
use crate::import::describe::counted;
use crate::import::{ImportOutcome, NoteLevel};

const PREDICTIONS: &str = "predictions";
const REVIEWS: &str = "reviews";

/// The maximum number of predictions with one index that are compared with a review. Runs that were merged have a few; a hostile
/// file has thousands.
const MOST_ALIKE: usize = 32;

/// A sample of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SampleKey {
    /// The path of the file without the folder of predictions or reviews; outside of such folders the path of its folder.
    path: String,
    index: Text,
}

/// Adds what reviews say to the episodes of their predictions, and removes those of the reviews.
pub(in crate::import) fn join(outcome: &mut ImportOutcome) {
    let mut predictions: HashMap<SampleKey, Vec<usize>> = HashMap::new();
    let mut reviews = Vec::new();
    for (number, episode) in outcome.episodes.iter().enumerate() {
        let Some((key, has_folder)) = key(episode) else {
            continue;
        };
        if is_review(episode) {
            reviews.push((number, key, has_folder));
        } else {
            predictions.entry(key).or_default().push(number);
        }
    }
    let mut joined: HashSet<usize> = HashSet::new();
    let mut different = 0;
    for (number, key, has_folder) in reviews {
        let Some(alike) = predictions.get_mut(&key) else {
            continue;
        };
        let episodes = &outcome.episodes;
        let is_same =
            |prediction: &usize| have_same_messages(&episodes[*prediction], &episodes[number]);
        let Some(index) = alike.iter().take(MOST_ALIKE).position(is_same) else {
            different += usize::from(has_folder && !alike.is_empty());
            continue;
        };
        let prediction = alike.remove(index);
        let review = std::mem::take(&mut outcome.episodes[number]);
        add(&mut outcome.episodes[prediction], review);
        joined.insert(number);
    }
    if !joined.is_empty() {
        let mut number = 0;
        outcome.episodes.retain(|_| {
            number += 1;
            !joined.contains(&(number - 1))
        });
        let samples = counted(joined.len(), "sample");
        let text = format!("Predictions joined with their reviews: {samples}.");
        outcome.note(NoteLevel::Read, "", text);
    }
    if different > 0 {
        let samples = counted(different, "sample");
        let text = format!(
            "The reviews of {samples} are separate episodes: their messages differ from those of the predictions \
             with the same index."
        );
        outcome.note(NoteLevel::KeptRaw, "", text);
    }
}

/// The sample of an episode of EvalScope, and whether the file is in a folder of predictions or reviews.
fn key(episode: &Episode) -> Option<(SampleKey, bool)> {
    let source = episode.source.as_ref()?;
    if *source.format != *EVALSCOPE.id {
        return None;
    }
    let index = episode.task()?.id.clone();
    let mut parts: Vec<&str> = source.file.split(['/', '\\']).collect();
    let name = parts.pop().unwrap_or_default();
    let kind = parts
        .iter()
        .rposition(|part| [PREDICTIONS, REVIEWS].contains(part));
    if let Some(kind) = kind {
        parts.remove(kind);
        parts.push(name);
    }
    let path = parts.join("/");
    Some((SampleKey { path, index }, kind.is_some()))
}

/// Whether an episode says how a sample was judged.
fn is_review(episode: &Episode) -> bool {
    episode.rewards != Rewards::Unknown
        || !episode.scores.is_empty()
        || episode.metadata.contains_key("sample")
}

fn have_same_messages(one: &Episode, other: &Episode) -> bool {
    fn said(message: &AnyMessage) -> (volary_core::Role, &str, &[ToolCall]) {
        let calls = match message {
            AnyMessage::Request(request) => request.tool_calls.as_slice(),
            _ => &[],
        };
        (message.role(), message.body().content_or_empty(), calls)
    }
    one.messages().map(said).eq(other.messages().map(said))
}

/// Adds a review to its prediction.
fn add(prediction: &mut Episode, review: Episode) {
    prediction.rewards = review.rewards;
    prediction.scores.extend(review.scores);
    prediction.model = prediction.model.take().or(review.model);
    prediction.errors.extend(review.errors);
    let beside = |known: &mut Object, added: Object| {
        let (same, new): (Vec<_>, Vec<_>) = added
            .into_iter()
            .partition(|(key, _)| known.contains_key(key));
        let differs = |(key, value): &(volary_core::json::Key, Json)| known.get(key) != Some(value);
        let other: Vec<_> = same.into_iter().filter(differs).collect();
        for (key, value) in new {
            known.insert(key, value);
        }
        if !other.is_empty() {
            known.insert("review", Object::from_pairs(other));
        }
    };
    beside(&mut prediction.metadata, review.metadata);
    beside(&mut prediction.raw, review.raw);
}
