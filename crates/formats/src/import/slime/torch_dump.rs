//! slime's rollout dumps: torch files `{rollout_id, samples: [sample]}`.
//!
//! A dump is parsed by `volary_torch`, which executes nothing, and each sample is converted to the JSON object that
//! slime writes to JSON Lines. Tensors are loaded from their zip members on demand.

mod parts;
mod sample_reader;
mod values;
mod whole;

use std::collections::BTreeMap;

use volary_core::json::Json;
use volary_torch::heap::Node;
use volary_torch::legacy::LegacyFile;
use volary_torch::{Heap, PickleError, Unpickled, Value};

use super::nested::{PickledSample, pickled, set_step_and_group};
use super::{interaction, train_dump};
use crate::import::describe::counted;
use crate::import::files::Files;
use crate::import::index::torch_dump::DumpKind;
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel};

pub(in crate::import) use parts::RolloutParts;
pub(in crate::import) use sample_reader::Storages;
pub(super) use sample_reader::{SampleReader, storages_of};
use sample_reader::{most_values, report_tensors};
pub(super) use values::Dump;
pub(in crate::import) use whole::WholeDump;

/// The number of samples by which a dump is recognised.
const LOOKED_AT: usize = 64;
/// The number of keys of an unknown file that are listed.
const NAMED: usize = 8;

/// The members that a file of an old version of torch would have if it were a zip file.
pub(in crate::import) fn legacy_members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let Some(file) = LegacyFile::of(bytes) else {
        return Vec::new();
    };
    let order: &[u8] = if file.is_big_endian {
        b"big"
    } else {
        b"little"
    };
    let head = [("data.pkl", file.pickle), ("byteorder", order)];
    let head = head.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    let storages = file.storages.into_iter();
    let storages = storages.map(|(key, bytes)| (format!("data/{key}"), bytes.to_vec()));
    head.into_iter().chain(storages).collect()
}

/// Reads a torch file of `size` bytes.
pub(in crate::import) fn read(
    mut files: Files<'_>,
    name: &str,
    size: usize,
    outcome: &mut ImportOutcome,
) {
    let is_pickle = |index: &usize| {
        let name = files.name(*index);
        name == "data.pkl" || name.ends_with("/data.pkl")
    };
    let Some(index) = files.open().into_iter().find(is_pickle) else {
        return;
    };
    let top = files
        .name(index)
        .strip_suffix("data.pkl")
        .unwrap_or_default();
    let top = top.to_owned();
    let bytes = match files.take_bytes(index) {
        Ok(bytes) => bytes.into_owned(),
        Err((error, bytes)) => {
            outcome.refuse(name, &error);
            bytes
        }
    };
    let pickle = volary_torch::read(&bytes);
    let is_big_endian = files
        .find(&format!("{top}byteorder"))
        .is_some_and(|index| files.start(index).starts_with(b"big"));
    let left = most_values(size.max(bytes.len()));
    let mut dump = Dump::new(&pickle.heap, &mut files, top, is_big_endian, left);
    let count = if let Some(columns) = train_dump::Columns::of(&pickle) {
        train_dump::read(&columns, &mut dump, name, step(&pickle), outcome)
    } else if let Some(samples) = samples(&pickle) {
        let count = samples.len();
        let step = step(&pickle);
        let mut sink = Sink::new(outcome, "slime", name).within(size.max(bytes.len()));
        read_rollouts(samples, step, &mut dump, &mut sink);
        count
    } else {
        return outcome.note(NoteLevel::Unreadable, name, unknown(&pickle));
    };
    let mut sink = Sink::new(outcome, "slime", name);
    report_tensors(dump.unread, dump.shapes, &mut sink);
    report_pickle(
        pickle.error.as_ref(),
        &pickle.placeholders,
        count,
        &mut sink,
    );
}

fn read_rollouts(
    samples: Vec<PickledSample>,
    step: Option<i64>,
    dump: &mut Dump<'_, '_>,
    sink: &mut Sink<'_>,
) {
    let mut count = 0;
    let step = step.map(Json::from);
    for (number, PickledSample { value, group }) in samples.into_iter().enumerate() {
        if sink.is_full() {
            sink.leave_out();
            continue;
        }
        let Some((mut sample, lists)) = dump.sample(value) else {
            sink.lost(format!("Sample {number} is not a dictionary."));
            continue;
        };
        set_step_and_group(&mut sample, step.as_ref(), group);
        let episode = interaction(sample, lists, &number.to_string(), sink);
        sink.episode(episode);
        count += 1;
    }
    sink.understood(format!(
        "slime rollout dump: {}.",
        counted(count, "episode")
    ));
}

/// The samples: `{samples: […]}`, or a bare list of dictionaries with `response`, or of groups of them.
fn samples(pickle: &Unpickled) -> Option<Vec<PickledSample>> {
    let heap = &pickle.heap;
    let samples = heap.get(pickle.root, "samples").unwrap_or(pickle.root);
    let samples = pickled(heap, samples)?;
    // Samples may be missing.
    let mut known = samples.iter().take(LOOKED_AT).map(|sample| sample.value);
    let first = known.find(|sample| *sample != Value::None)?;
    let first = state(heap, first);
    heap.get(first, "response").map(|_| samples)
}

/// What a dump is, and its step, by the first keys of its pickle.
pub(in crate::import) fn dump_kind(beginning: &[u8]) -> Option<(DumpKind, i64)> {
    let pickle = volary_torch::read(beginning);
    let has = |key| pickle.heap.get(pickle.root, key).is_some();
    let kind = if has("format_version") || has("rollout_data") {
        DumpKind::Training
    } else if has("samples") {
        DumpKind::Rollout
    } else {
        return None;
    };
    Some((kind, step(&pickle)?))
}

/// The step of a dump.
pub(super) fn step(pickle: &Unpickled) -> Option<i64> {
    match pickle.heap.get(pickle.root, "rollout_id")? {
        Value::Int(step) => Some(step),
        step => pickle.heap.text(step)?.parse().ok(),
    }
}

/// Replaces a pickled `Sample` object by the dictionary of its attributes. A subclass of `dict` has items of its own; a class
/// with `__slots__` has them in the second element of its state, a model of pydantic in `__dict__`.
fn state(heap: &Heap, value: Value) -> Value {
    let Some(Node::Object(object)) = heap.node(value) else {
        return value;
    };
    match heap.node(object.state) {
        _ if !object.items.is_empty() => value,
        Some(Node::Tuple(parts)) => match parts.as_slice() {
            [Value::None, slots] => *slots,
            [attributes, _] => *attributes,
            _ => object.state,
        },
        Some(Node::Dict(_)) => heap.get(object.state, "__dict__").unwrap_or(object.state),
        _ if object.state == Value::None => value,
        _ => object.state,
    }
}

fn unknown(pickle: &Unpickled) -> String {
    let heap = &pickle.heap;
    let samples = heap.get(pickle.root, "samples");
    let samples = samples.and_then(|samples| pickled(heap, samples));
    if pickle.error.is_none() && samples.is_some_and(|samples| samples.is_empty()) {
        return "This rollout dump has no samples.".to_owned();
    }
    if let (Some(_), Some(PickleError::Truncated { .. })) =
        (heap.get(pickle.root, "samples"), &pickle.error)
    {
        return "This rollout dump ends early, before its first sample is complete. Copy it again."
            .to_owned();
    }
    if heap.get(pickle.root, "samples").is_some() && pickle.error.is_none() {
        return "This rollout dump has `samples`, but they are not a list of dictionaries with a `response`."
            .to_owned();
    }
    let items = heap.items(pickle.root).unwrap_or_default();
    let keys = items.iter().filter_map(|(key, _)| heap.text(*key));
    let keys: Vec<String> = keys.take(NAMED).map(|key| format!("`{key}`")).collect();
    let contents = match (keys.is_empty(), &pickle.error) {
        (false, _) => format!("its keys are {}", keys.join(", ")),
        (true, Some(error)) => error.to_string(),
        (true, None) => "it is not a dictionary".to_owned(),
    };
    format!("This is a PyTorch file, but not a rollout dump with `samples`: {contents}.")
}

fn report_rollouts(count: usize, reader: &SampleReader, sink: &mut Sink<'_>) {
    sink.understood(format!(
        "slime rollout dump: {}.",
        counted(count, "episode")
    ));
    reader.report(sink);
}

/// Reports why a pickle ended early, and what was not understood of it. `count` samples were read.
pub(super) fn report_pickle(
    error: Option<&PickleError>,
    placeholders: &BTreeMap<String, usize>,
    count: usize,
    sink: &mut Sink<'_>,
) {
    let samples = counted(count, "sample");
    match error {
        Some(PickleError::Truncated { .. }) => sink.lost(format!(
            "The file ends early: {samples} could be read, the last of which may be incomplete. Copy it again."
        )),
        Some(error) => sink.lost(format!(
            "The file is damaged: {error}. {samples} before it could be read."
        )),
        None => {}
    }
    for (class, count) in placeholders {
        let objects = counted(*count, "object");
        sink.kept(format!(
            "{objects} of {class}: only the contents are shown."
        ));
    }
}
