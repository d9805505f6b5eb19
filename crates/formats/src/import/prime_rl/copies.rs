//! Traces that prime-rl wrote twice, until August 2026: to `…/all/traces.jsonl`, and if they were trained on also to
//! `…/effective/traces.jsonl`, with advantages. Both become one episode, so that no sample is counted twice.
//!
//! A trace is in `all` of the step in which it arrived, and in `effective` of the step in which it was shipped to the trainer,
//! which may be a later one. The episode belongs to the latter.

use std::collections::HashMap;
use std::sync::Arc;

use volary_core::json::{Json, Text};
use volary_episode::episode::Episode;

use super::path::step_in;
use crate::import::describe::counted;
use crate::import::files::Files;
use crate::import::{ImportOutcome, NoteLevel};

/// The folder of all traces.
const ALL: &str = "all";
/// The folder of those that were trained on.
const EFFECTIVE: &str = "effective";

/// Leaves out the sealed copies of chunks that are also there as they were written (`00003.jsonl.zst` and `00003.jsonl`): a
/// writer that was stopped while it sealed a chunk leaves both, and only the latter is complete.
pub(in crate::import) fn drop_sealed_copies(files: &mut Files<'_>) {
    for index in files.open() {
        let name = files.name(index);
        let Some(plain) = name.strip_suffix(".zst") else {
            continue;
        };
        let chunk = plain.rsplit('/').next().unwrap_or(plain);
        let is_chunk = chunk.strip_suffix(".jsonl").is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
        });
        let plain = plain.to_owned();
        if is_chunk && files.find(&plain).is_some() {
            files.take(index);
        }
    }
}

/// A branch of a trace in one of the two folders of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Branch {
    id: Text,
    /// The path of its file without the folder and the step.
    path: String,
}

/// The branch of an episode whose file is in this folder, and the step of the file.
fn branch_of(episode: &Episode, folder: &str) -> Option<(Branch, Option<i64>)> {
    episode.metadata.get("trace").and_then(Json::as_text)?;
    let file = &episode.source.as_ref()?.file;
    let mut parts: Vec<&str> = file.split('/').collect();
    let own = parts.len().checked_sub(2)?;
    if parts[own] != folder {
        return None;
    }
    parts[own] = "";
    let step = parts.iter().rposition(|part| step_in(part).is_some());
    let step = step.and_then(|index| step_in(std::mem::take(&mut parts[index])));
    let branch = Branch {
        id: episode.id.clone(),
        path: parts.join("/"),
    };
    Some((branch, step))
}

/// The maximum number of traces of one id that are compared. A run that was started again has a few; a hostile file has
/// thousands.
const MOST_ALIKE: usize = 32;

/// Joins the copies of traces. Those whose tokens differ stay apart.
pub(in crate::import) fn join_copies(outcome: &mut ImportOutcome) {
    let mut known: HashMap<Branch, Vec<(Option<i64>, usize)>> = HashMap::new();
    for (number, episode) in outcome.episodes.iter().enumerate() {
        if let Some((branch, step)) = branch_of(episode, ALL) {
            known.entry(branch).or_default().push((step, number));
        }
    }
    if known.is_empty() {
        return;
    }
    let (mut joined, mut differ) = (0, 0);
    let mut is_copy = vec![false; outcome.episodes.len()];
    // Before any is joined, because an episode then has the file of its copy.
    let episodes = outcome.episodes.iter().enumerate();
    let copies =
        episodes.filter_map(|(number, episode)| Some((number, branch_of(episode, EFFECTIVE)?)));
    let copies: Vec<(usize, (Branch, Option<i64>))> = copies.collect();
    for (number, (branch, step)) in copies {
        let Some(wholes) = known.get(&branch) else {
            continue;
        };
        let mut wholes: Vec<(Option<i64>, usize)> =
            wholes.iter().take(MOST_ALIKE).copied().collect();
        // A run that was started again may have the trace in several steps.
        wholes.sort_by_key(|(own, _)| *own != step);
        let copy = outcome.episodes[number].clone();
        let mut wholes = wholes.into_iter();
        is_copy[number] = wholes.any(|(_, whole)| join(&mut outcome.episodes[whole], &copy, step));
        if is_copy[number] {
            joined += 1
        } else {
            differ += 1
        }
    }
    let mut is_copy = is_copy.into_iter();
    outcome
        .episodes
        .retain(|_| !is_copy.next().unwrap_or_default());
    if joined > 0 {
        let text = format!(
            "{} in `all` and in `effective`: listed once, with the streams of both.",
            counted(joined, "trace")
        );
        outcome.note(NoteLevel::Read, "", text);
    }
    if differ > 0 {
        let text = format!(
            "{} in `all` and in `effective` with other tokens: listed twice.",
            counted(differ, "trace")
        );
        outcome.note(NoteLevel::Unreadable, "", text);
    }
}

/// Adds what the effective copy has, which was shipped in this step. Returns `false` if the tokens differ.
fn join(whole: &mut Episode, copy: &Episode, shipped: Option<i64>) -> bool {
    let [own, copied] = [&*whole, copy].map(|episode| {
        let record = episode.tokens.as_ref();
        record.map(|record| record.strip.ids())
    });
    if own != copied {
        return false;
    }
    if let (Some(record), Some(other)) = (&mut whole.tokens, &copy.tokens) {
        let record = Arc::make_mut(record);
        for (name, stream) in other.strip.streams() {
            if !record.strip.streams().contains_key(name) {
                // Both have the same tokens, so the length fits.
                let _ = record.strip.set_stream(name.clone(), stream.clone());
            }
        }
    }
    for (key, value) in copy.metadata.iter() {
        if whole.metadata.get(key).is_none() {
            whole.metadata.insert(key.clone(), value.clone());
        }
    }
    whole.metadata.insert(EFFECTIVE, true);
    whole.source.clone_from(&copy.source);
    if let Some(shipped) = shipped {
        let own = whole.metadata.insert("step", shipped);
        if let Some(own) = own.filter(|own| own.as_i64() != Some(shipped)) {
            whole.metadata.insert("dispatch_step", own);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use volary_core::TokenStream;
    use volary_episode::episode::Source;
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    fn episode(id: &str, file: &str, ids: Vec<u32>, stream: &str) -> Episode {
        let mut builder = TokenRecordBuilder::new(ids, LossMask::Whole(1)).unwrap();
        let values: TokenStream = [0.5].into_iter().collect();
        builder.stream(stream, &values, Alignment::Response);
        let mut episode = Episode {
            id: id.into(),
            source: Some(Source {
                file: file.into(),
                ..Source::default()
            }),
            tokens: Some(Arc::new(builder.with_parts(Vec::new()))),
            ..Episode::default()
        };
        episode.metadata.insert("trace", id);
        episode
    }

    #[test]
    fn a_trace_in_both_folders_is_one_episode() {
        let (all, effective) = (
            "step_1/train/all/traces.jsonl",
            "step_1/train/effective/traces.jsonl",
        );
        let mut outcome = ImportOutcome {
            episodes: vec![
                episode("a", effective, vec![1, 2], "advantages"),
                episode("a", all, vec![1, 2], "logprobs"),
                episode("b", all, vec![1, 2], "logprobs"),
                episode("b", effective, vec![1, 3], "advantages"),
                episode("a", "step_2/train/all/traces.jsonl", vec![1], "logprobs"),
            ],
            ..ImportOutcome::default()
        };
        join_copies(&mut outcome);
        let ids: Vec<&str> = outcome
            .episodes
            .iter()
            .map(|episode| &*episode.id)
            .collect();
        assert_eq!(ids, ["a", "b", "b", "a"]);
        let joined = &outcome.episodes[0];
        assert_eq!(joined.metadata.get("effective"), Some(&Json::Bool(true)));
        let names = joined.tokens.as_ref().unwrap().stream_names();
        assert_eq!(names.len(), 2);
        assert_eq!(outcome.notes.len(), 2);
    }

    #[test]
    fn a_trace_belongs_to_the_step_in_which_it_was_shipped() {
        let file = |step, folder| format!("run/rollouts/step_{step}/train/{folder}/traces.jsonl");
        let mut arrived = episode("a", &file(4, ALL), vec![1, 2], "logprobs");
        arrived.metadata.insert("step", 3);
        let shipped = file(5, EFFECTIVE);
        let mut outcome = ImportOutcome {
            episodes: vec![
                arrived,
                episode("b", &file(4, ALL), vec![1, 2], "logprobs"),
                episode("a", &shipped, vec![1, 2], "advantages"),
                episode(
                    "b",
                    "other/rollouts/step_5/train/effective/traces.jsonl",
                    vec![1, 2],
                    "advantages",
                ),
            ],
            ..ImportOutcome::default()
        };
        join_copies(&mut outcome);
        let [joined, _, other_run] = outcome.episodes.as_slice() else {
            panic!("{:?}", outcome.notes);
        };
        assert_eq!(joined.tokens.as_ref().unwrap().stream_names().len(), 2);
        assert_eq!(joined.metadata.get("step"), Some(&5.into()));
        assert_eq!(joined.metadata.get("dispatch_step"), Some(&3.into()));
        assert_eq!(*joined.source.as_ref().unwrap().file, *shipped);
        assert_eq!(*other_run.id, *"b");
        assert_eq!(other_run.metadata.get(EFFECTIVE), None);
    }
}
