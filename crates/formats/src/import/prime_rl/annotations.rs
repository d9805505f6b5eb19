//! What the orchestrator and the trainer add to traces later, in files of their own: lines of `{trace_id, info, branches:
//! [{index, <stream>: [one value for each token]}]}`. They are joined with the branches of the traces when all files are
//! read: in order, the newest counts.
//!
//! A message takes the values of a stream if the stream covers it and has a number for each of its trained tokens. Nulls
//! are allowed in the streams of [`WITH_NULLS`]. Otherwise it keeps the values of older annotations.

use std::collections::HashMap;
use std::sync::Arc;

use volary_core::TokenStream;
use volary_core::json::{Json, Object, Text};
use volary_episode::token_record::{Alignment, TokenRecord};

use crate::import::describe::counted;
use crate::import::members::Members;
use crate::import::reader::{Confidence, Document, Grouping, Line, Reader, Sink};
use crate::import::token_lists::take_streams;
use crate::import::{ImportOutcome, Note, NoteLevel};

/// Streams in which single trained tokens may have no value.
const WITH_NULLS: [&str; 2] = ["is_masked", "mismatch_kl"];

/// The metadata with the rest of `info`. The trace has an `info` of its own.
const INFO: &str = "annotation_info";

/// An annotation of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) struct Annotation {
    trace: Text,
    info: Object,
    branches: Vec<(usize, Vec<(Text, TokenStream)>)>,
}

pub(in crate::import) struct Annotations;

impl Reader for Annotations {
    fn id(&self) -> &'static str {
        "prime-rl-annotations"
    }

    fn name(&self) -> &'static str {
        "prime-rl annotations of traces (one per line)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_annotation = |value: &Json| {
            value.get("trace_id").is_some()
                && value
                    .get("branches")
                    .is_some_and(|list| list.as_list().is_some())
        };
        if document.samples().any(is_annotation) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let mut count = 0;
        for Line { number, value } in document.into_records() {
            let Json::Object(mut line) = value else {
                sink.lost(format!("Line {number} is not an annotation."));
                continue;
            };
            let Some(trace) = line.take_id("trace_id") else {
                sink.lost(format!("Line {number} names no trace."));
                continue;
            };
            let branch = |branch| match branch {
                Json::Object(mut branch) => {
                    let index = branch.take("index")?.as_i64()?;
                    Some((usize::try_from(index).ok()?, take_streams(&mut branch)))
                }
                _ => None,
            };
            let branches = line.take_list("branches").unwrap_or_default();
            sink.annotate(Annotation {
                trace,
                info: line.take_object("info").unwrap_or_default(),
                branches: branches.into_iter().filter_map(branch).collect(),
            });
            count += 1;
        }
        sink.understood(format!("prime-rl: {}.", counted(count, "annotation")));
    }
}

/// The indexes and metrics next to the traces, which add nothing to them.
pub(in crate::import) struct MonitorIndex;

impl Reader for MonitorIndex {
    fn id(&self) -> &'static str {
        "prime-rl-index"
    }

    fn name(&self) -> &'static str {
        "prime-rl indexes"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let is_row = |value: &Json| {
            let has = |key: &str| value.get(key).is_some();
            has("offset") && (has("trace_id") || has("trace_ids"))
        };
        if document.samples().any(is_row) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::Whole
    }

    fn read(&self, _document: Document, sink: &mut Sink<'_>) {
        sink.understood(
            "An index of traces or annotations: not needed, the files that it lists are read.",
        );
    }
}

/// The number of annotations that are joined for each episode on average. Runs write a few for each trace; a hostile file has
/// thousands of traces with one id, and as many annotations for all of them.
const MOST_JOINED: usize = 64;

/// Joins annotations with the branches of traces.
pub(in crate::import) fn fold(outcome: &mut ImportOutcome) {
    let annotations = std::mem::take(&mut outcome.annotations);
    if annotations.is_empty() {
        return;
    }
    // The episodes of each trace, by branch.
    let mut by_trace: HashMap<Text, Vec<usize>> = HashMap::new();
    for (index, episode) in outcome.episodes.iter().enumerate() {
        let trace = episode
            .metadata
            .get("trace")
            .and_then(Json::as_text)
            .cloned();
        if let Some(trace) = trace {
            by_trace.entry(trace).or_default().push(index);
        }
    }
    let (mut joined, mut unknown, mut without_tokens, mut surplus) = (0, 0, 0, 0);
    let mut left = MOST_JOINED * (1 + outcome.episodes.len());
    for annotation in annotations {
        let Some(episodes) = by_trace.get(&annotation.trace) else {
            unknown += 1;
            continue;
        };
        let Some(rest) = left.checked_sub(episodes.len()) else {
            surplus += 1;
            continue;
        };
        left = rest;
        joined += 1;
        for index in episodes {
            if let Some(episode) = outcome.episodes.get_mut(*index) {
                add_info(&mut episode.metadata, &annotation.info);
            }
        }
        for (branch, streams) in annotation.branches {
            let episode = episodes
                .get(branch)
                .and_then(|index| outcome.episodes.get_mut(*index));
            let Some(episode) = episode else {
                unknown += 1;
                continue;
            };
            let id = episode.id.clone();
            let Some(record) = &mut episode.tokens else {
                without_tokens += streams.len();
                continue;
            };
            let record = Arc::make_mut(record);
            for (name, values) in streams {
                let tokens = record.strip.len();
                if values.len() != tokens {
                    let text = format!(
                        "{id}: `{name}` has {} values for {tokens} tokens; the messages that it \
                         covers have them.",
                        values.len()
                    );
                    outcome.notes.push(lost(text));
                }
                let (values, has_gap) = by_message(record, &name, &values);
                if has_gap {
                    let text = format!(
                        "{id}: `{name}` has no values for some trained tokens of a message, so all values of the \
                         message are left out."
                    );
                    outcome.notes.push(lost(text));
                }
                record.add_stream(name, &values, Alignment::Full);
            }
        }
    }
    let text = format!(
        "Joined with their traces: {}.",
        counted(joined, "annotation")
    );
    outcome.note(NoteLevel::Read, "", text);
    if surplus > 0 {
        let text = format!(
            "Left out: {}, because traces of one id have too many. Import the files of one run at once.",
            counted(surplus, "annotation")
        );
        outcome.note(NoteLevel::Unreadable, "", text);
    }
    if without_tokens > 0 {
        let text = format!(
            "Left out: {} of branches without token ids.",
            counted(without_tokens, "annotated stream")
        );
        outcome.note(NoteLevel::Unreadable, "", text);
    }
    if unknown > 0 {
        let text = format!(
            "{} belong to traces or branches that are not among the files that were read with them.",
            counted(unknown, "annotation")
        );
        outcome.note(NoteLevel::Unreadable, "", text);
    }
}

/// Adds the `info` of an annotation: what the page uses has names of its own, the rest is merged into [`INFO`].
fn add_info(metadata: &mut Object, info: &Object) {
    let mut rest = info.clone();
    for key in ["advantage", "effective"] {
        if let Some(value) = rest.take(key) {
            metadata.insert(key, value);
        }
    }
    if let Some(mut ship) = rest.take_object("ship") {
        if let Some(step) = ship.take("step") {
            metadata.insert("ship_step", step);
        }
        if !ship.is_empty() {
            rest.insert("ship", ship);
        }
    }
    if !rest.is_empty() {
        let mut known = metadata.take_object(INFO).unwrap_or_default();
        merge(&mut known, rest);
        metadata.insert(INFO, known);
    }
}

/// Merges members into an object, at all depths. The newest counts.
fn merge(known: &mut Object, newer: Object) {
    for (key, value) in newer {
        let value = match (known.take_object(&key), value) {
            (Some(mut inside), Json::Object(value)) => {
                merge(&mut inside, value);
                inside.into()
            }
            (_, value) => value,
        };
        known.insert(key, value);
    }
}

/// A note about a stream, of no file: its values are of another one than its tokens.
fn lost(text: String) -> Note {
    Note {
        level: NoteLevel::Unreadable,
        file: "".into(),
        text: text.into(),
    }
}

/// Returns a stream after an annotation, and whether the annotation has gaps within a message. Messages that it covers
/// completely take its values; all others keep theirs.
fn by_message(record: &TokenRecord, name: &str, values: &TokenStream) -> (TokenStream, bool) {
    let known = record.strip.streams().get(name).cloned();
    let mut folded = known.unwrap_or_else(|| TokenStream::gaps(record.strip.len()));
    let may_be_null = WITH_NULLS.contains(&name);
    let mut has_gap = false;
    for part in &record.parts {
        let trained = || part.range.clone().filter(|token| record.is_trained(*token));
        let is_within = part.range.end <= values.len();
        let has_any = is_within && trained().any(|token| values.get(token).is_some());
        if has_any && (may_be_null || trained().all(|token| values.get(token).is_some())) {
            trained().for_each(|token| folded.set(token, values.get(token)));
        } else {
            has_gap |= has_any;
        }
    }
    (folded, has_gap)
}
