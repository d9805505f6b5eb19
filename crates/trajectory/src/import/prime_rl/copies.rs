//! Traces that prime-rl wrote twice, until August 2026: to `…/all/traces.jsonl`, and if they were trained on also to
//! `…/effective/traces.jsonl`, with advantages. Both become one episode, so that no sample is counted twice.

use std::collections::HashMap;
use std::sync::Arc;

use volary_core::json::{Json, Text};

use crate::episode::Episode;
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

/// The id of a trace's branch, with the path of its file if that is in one of the two folders.
fn place<'a>(episode: &'a Episode, folder: &str) -> Option<(&'a Text, String)> {
    episode.metadata.get("trace").and_then(Json::as_text)?;
    let file = &episode.source.as_ref()?.file;
    let mut parts: Vec<&str> = file.split('/').collect();
    let own = parts.len().checked_sub(2)?;
    if parts[own] != folder {
        return None;
    }
    // The rest of both paths is the same.
    parts[own] = "";
    Some((&episode.id, parts.join("/")))
}

/// Joins the copies of traces. Those whose tokens differ stay apart.
pub(in crate::import) fn join_copies(outcome: &mut ImportOutcome) {
    let mut known: HashMap<(Text, String), usize> = HashMap::new();
    for (number, episode) in outcome.episodes.iter().enumerate() {
        if let Some((id, path)) = place(episode, ALL) {
            known.insert((id.clone(), path), number);
        }
    }
    if known.is_empty() {
        return;
    }
    let (mut joined, mut differ) = (0, 0);
    let mut is_copy = vec![false; outcome.episodes.len()];
    for (number, is_copy) in is_copy.iter_mut().enumerate() {
        let Some((id, path)) = place(&outcome.episodes[number], EFFECTIVE) else {
            continue;
        };
        let Some(whole) = known.get(&(id.clone(), path)).copied() else {
            continue;
        };
        let copy = outcome.episodes[number].clone();
        match join(&mut outcome.episodes[whole], &copy) {
            true => {
                joined += 1;
                *is_copy = true;
            }
            false => differ += 1,
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

/// Adds what the effective copy has. Returns `false` if the tokens differ.
fn join(whole: &mut Episode, copy: &Episode) -> bool {
    let ids = |episode: &Episode| {
        let record = episode.tokens.as_ref();
        record.map(|record| record.strip.ids().to_vec())
    };
    if ids(whole) != ids(copy) {
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
    true
}

#[cfg(test)]
mod tests {
    use volary_core::TokenStream;

    use super::*;
    use crate::episode::Source;
    use crate::token_record::{Alignment, LossMask, TokenRecordBuilder};

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
}
